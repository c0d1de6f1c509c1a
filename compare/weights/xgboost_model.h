// Models of XGBoost: .json and .ubj, one digest for both.
//
// Role: one reader of Checkpoint.
//
//   in the model                becomes
//   arrays of the trees         one tensor a name over all trees: "trees/split_indices" (I32),
//                               "trees/split_conditions" (F32: thresholds, and the values of
//                               leaves), "trees/left_children" and so on; "trees/num_nodes" says
//                               where each tree begins
//   weights of a linear model   "weights"
//   weights of DART             "weight_drop"
//   learner_model_param's base_score, a text such as "5E-1" or "[5E-1]"
//                               "base_score" (F32)
//   all else                    "model.json", which is loaded with the trees (PartKind::kModel):
//                               objective, parameters, names and types of features
// A model of another structure has other shapes or other numbers in left_children. XGBoost's
// version is metadata. Source: doc/model.schema of github.com/dmlc/xgboost.
#ifndef RHARNESS_COMPARE_WEIGHTS_XGBOOST_MODEL_H_
#define RHARNESS_COMPARE_WEIGHTS_XGBOOST_MODEL_H_

#include <memory>
#include <string_view>

#include "compare/weights/checkpoint.h"
#include "compare/weights/input_file.h"

namespace rharness {

// By a file's first bytes: an object whose first member is "learner", or "version", which no list
// of shards has.
bool LooksLikeXgboost(std::string_view head);

// Errors: those of ParseJson and ParseUbjson; invalid_input (no trees, arrays that contradict each
// other), unsupported (a limit).
Result<std::unique_ptr<Checkpoint>> OpenXgboost(InputFile file);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_WEIGHTS_XGBOOST_MODEL_H_
