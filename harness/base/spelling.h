// Suggests the name that a mistyped one may mean.
#ifndef RHARNESS_HARNESS_BASE_SPELLING_H_
#define RHARNESS_HARNESS_BASE_SPELLING_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace rharness {

// Levenshtein's distance: letters to insert, remove or replace. Cost: the product of the lengths.
std::size_t EditDistance(std::string_view a, std::string_view b);

// The known name that `typed` most likely means: at most a third of its letters away, one at least
// and three at most, where two swapped neighbours count as one letter; else the only name that
// begins with it, if it has three letters or more. Of names equally near, the first. Empty: none is
// near, `typed` is known, or longer than 64 bytes.
std::string NearestName(std::string_view typed, const std::vector<std::string>& known);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_BASE_SPELLING_H_
