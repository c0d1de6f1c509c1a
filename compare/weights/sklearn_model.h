// Models of scikit-learn and other objects with numpy arrays, in pickles and joblib's dumps.
//
// Role: one reader of Checkpoint. Executes nothing: a class is a name.
//
//   in the pickle                becomes
//   an array of numbers          a tensor: "steps/lr/coef_", "estimators_/0/tree_/values"
//   a structured array           a tensor a field: "tree_/nodes/threshold"
//   a masked array               "NAME/data", "NAME/mask" and "NAME/fill_value"
//   a number of numpy            a tensor without dimensions
//   an array of objects          its items, as those of a list
//   another value                a line of the part "(parameters)", which is loaded with the
//                                arrays (PartKind::kModel); arrays of texts or dates by a digest
// A name is the path of attributes, keys and positions. A list of (text, object), such as the steps
// of a pipeline, names its items by the texts. An object that occurs again is a line that says
// where it stood. Versions ("_sklearn_version") are metadata. A file that is one array calls it
// "array". Not here: what attributes mean.
#ifndef RHARNESS_COMPARE_WEIGHTS_SKLEARN_MODEL_H_
#define RHARNESS_COMPARE_WEIGHTS_SKLEARN_MODEL_H_

#include <memory>

#include "compare/weights/checkpoint.h"
#include "compare/weights/input_file.h"

namespace rharness {

// Limits of this reader.
inline constexpr int kMaxModelDepth = 100;
inline constexpr std::size_t kMaxModelValues = std::size_t{1} << 22;      // that are walked over
inline constexpr std::size_t kMaxModelTextBytes = std::size_t{64} << 20;  // of all lines
inline constexpr std::uint64_t kMaxGatheredBytes = std::uint64_t{256} << 20;  // of unaligned fields

// A file that LooksLikeDump (joblib.h). Errors: those of ReadDump and MakeViewCheckpoint;
// unsupported (no array of numbers at all, objects outside the pickle, a limit above).
Result<std::unique_ptr<Checkpoint>> OpenPickledModel(InputFile file);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_WEIGHTS_SKLEARN_MODEL_H_
