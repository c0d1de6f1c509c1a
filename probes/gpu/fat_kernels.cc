// Which machine code of several a device runs.
#include "probes/gpu/fat_kernels.h"

#include <charconv>

namespace rharness {

int MachineCodeFor(std::string_view architectures, int compute) {
  int found = 0;
  const char* at = architectures.data();
  const char* end = at + architectures.size();
  while (at < end) {
    int one = 0;
    const auto parsed = std::from_chars(at, end, one);
    if (parsed.ptr == at) break;
    if (one / 10 == compute / 10 && one <= compute && one > found) found = one;
    at = parsed.ptr == end ? end : parsed.ptr + 1;
  }
  return found;
}

std::string FatImage(const FatKernels& kernels) {
  return {reinterpret_cast<const char*>(kernels.fatbin.data()), kernels.fatbin.size()};
}

}  // namespace rharness
