// A checkpoint seen otherwise: under shorter names, or a part of it alone.
//
// Role: makes two checkpoints comparable that were saved through different wrappers. Nothing is
// copied but names and shapes. Not here: what a tensor is for (roles.h).
#ifndef RHARNESS_COMPARE_WEIGHTS_VIEWS_H_
#define RHARNESS_COMPARE_WEIGHTS_VIEWS_H_

#include <array>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "compare/weights/checkpoint.h"
#include "compare/weights/roles.h"

namespace rharness {

// What wrappers put before the names of the model that they wrap: DistributedDataParallel and
// DataParallel, torch.compile, and many a training program.
inline constexpr std::array<std::string_view, 3> kKnownPrefixes = {"module.", "_orig_mod.",
                                                                   "model."};

// `name` without the prefixes that it begins with, in any order and as often as they come;
// "_orig_mod.", if among them, also behind any dot, since torch.compile wraps inner modules too.
// What would leave nothing stays.
std::string NameWithoutPrefixes(std::string_view name, const std::vector<std::string>& prefixes);

// The same tensors under the names that NameWithoutPrefixes makes. Errors: invalid_input when two
// names become one, with both.
Result<std::unique_ptr<Checkpoint>> WithoutPrefixes(std::unique_ptr<Checkpoint> checkpoint,
                                                    const std::vector<std::string>& prefixes);

// The tensors of some roles; metadata and parts that are not read are those of the whole.
// `checkpoint` must outlive the view.
std::unique_ptr<Checkpoint> OfRole(const Checkpoint& checkpoint, const std::set<TensorRole>& roles);

// The fewest of kKnownPrefixes without which, on both sides, the most names are on both sides.
// Empty when the names agree already, when no prefix gains any, and where two names of one side
// would become one.
std::vector<std::string> SuggestPrefixes(const Checkpoint& a, const Checkpoint& b);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_WEIGHTS_VIEWS_H_
