// Several sets of weights in one folder: the one that a loader takes, and whether two are equal.
//
// Role: private to this folder; under checkpoint_folder. A folder may have been saved to twice: an
// index with its shards and a newer single file, two formats, two precisions, an average.
#ifndef RHARNESS_COMPARE_WEIGHTS_WEIGHT_SETS_H_
#define RHARNESS_COMPARE_WEIGHTS_WEIGHT_SETS_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compare/weights/checkpoint.h"
#include "harness/base/result.h"

namespace rharness {

// The first of a folder's file names that from_pretrained of transformers (and then of peft and
// diffusers) takes; empty: none of its names is there. Source: _get_resolved_checkpoint_files of
// transformers/modeling_utils.py.
std::optional<std::string> FirstForLoaders(const std::vector<std::string>& names);

// Whether a name is one of weights for another loader, whatever its tensors are called: Mistral's
// and Llama's consolidated.safetensors and consolidated.00.pth.
bool IsForOtherLoader(std::string_view name);

enum class SetRelation {
  kApart,    // no common name, or equal common ones and further ones
  kRepeats,  // every tensor of it is one of the first, with the same bits
  kOther,    // a tensor of the same name is different
};
struct SetComparison {
  SetRelation relation = SetRelation::kApart;
  std::string words;  // of kOther: "4 of 4 tensors differ, first fc.weight"
};
// Compares a second set with the first. Reads tensors of equal names until their first difference.
// Errors: those of Checkpoint::Read.
Result<SetComparison> CompareSets(const Checkpoint& first, const Checkpoint& second);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_WEIGHTS_WEIGHT_SETS_H_
