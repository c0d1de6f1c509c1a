// Views of a checkpoint: under shorter names, or a part of it alone.
//
// Role: makes two checkpoints comparable that were saved through different wrappers. Copies only
// names and shapes. Not here: the role of a tensor (roles.h).
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

// Prefixes that wrappers add to the names of the wrapped model: DistributedDataParallel and
// DataParallel, torch.compile, and many a training program.
inline constexpr std::array<std::string_view, 3> kKnownPrefixes = {"module.", "_orig_mod.",
                                                                   "model."};

// `name` without the prefixes at its beginning, in any order and repetition; "_orig_mod.", if among
// them, also after any dot, since torch.compile wraps inner modules too. A name that would become
// empty stays.
std::string NameWithoutPrefixes(std::string_view name, const std::vector<std::string>& prefixes);

// The same tensors under the names from NameWithoutPrefixes. Errors: invalid_input when two names
// become one, with both.
Result<std::unique_ptr<Checkpoint>> WithoutPrefixes(std::unique_ptr<Checkpoint> checkpoint,
                                                    const std::vector<std::string>& prefixes);

// The tensors of some roles; metadata and unread parts are those of the whole. `checkpoint` must
// outlive the view.
std::unique_ptr<Checkpoint> OfRole(const Checkpoint& checkpoint, const std::set<TensorRole>& roles);

// The smallest subset of kKnownPrefixes whose removal on both sides gives the most common names.
// Empty when the names agree already, when no prefix helps, and if two names of one side would
// become one.
std::vector<std::string> SuggestPrefixes(const Checkpoint& a, const Checkpoint& b);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_WEIGHTS_VIEWS_H_
