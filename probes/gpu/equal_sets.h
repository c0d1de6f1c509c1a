// The sets of equal results as a short text that can be compared between stacks.
#ifndef RHARNESS_PROBES_GPU_EQUAL_SETS_H_
#define RHARNESS_PROBES_GPU_EQUAL_SETS_H_

#include <cstdint>
#include <string>
#include <vector>

namespace rharness {

struct EqualSets {
  std::uint64_t count = 0;
  // The indices of each set in rising order, runs as "0-3", sets in the order of their first:
  // "0-3 6 | 4-5". Empty for no values.
  std::string text;
};
EqualSets GroupEqual(const std::vector<std::string>& values);

}  // namespace rharness

#endif  // RHARNESS_PROBES_GPU_EQUAL_SETS_H_
