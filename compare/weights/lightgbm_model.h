// Text models of LightGBM.
//
// Role: one reader of Checkpoint.
//
//   in the model               becomes
//   lists of the trees         one tensor a name over all trees: "trees/split_feature" (I32),
//                              "trees/threshold" (F64), "trees/leaf_value" and so on;
//                              "trees/num_leaves" says where each tree begins
//   head, parameters, all else the parts "(model)" and "(parameters)", which are loaded with the
//                              trees (PartKind::kModel)
//   what depends on the machine, such as data, num_threads; the importances of features, which
//                              follow from the trees: parts that decide nothing
// The format's version is metadata. Source: GBDT::SaveModelToString and Tree::ToString of
// github.com/microsoft/LightGBM.
#ifndef RHARNESS_COMPARE_WEIGHTS_LIGHTGBM_MODEL_H_
#define RHARNESS_COMPARE_WEIGHTS_LIGHTGBM_MODEL_H_

#include <memory>
#include <string_view>

#include "compare/weights/checkpoint.h"
#include "compare/weights/input_file.h"

namespace rharness {

// By a file's first bytes: "tree", and "version" on the next line.
bool LooksLikeLightgbm(std::string_view head);

// Errors: invalid_input with "FILE: line N" (no number where one is expected, a list of another
// length, a cut-off file), unsupported (a limit).
Result<std::unique_ptr<Checkpoint>> OpenLightgbm(InputFile file);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_WEIGHTS_LIGHTGBM_MODEL_H_
