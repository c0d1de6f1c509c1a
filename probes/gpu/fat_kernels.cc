// The machine code that a device runs among several, and whether its results equal the driver's.
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

void CompareDriverCode(ProbeResult* result) {
  const std::string driver = "driver code ";
  const auto find = [&](const std::string& name) -> const std::string* {
    const auto at = result->bits.find(name);
    return at == result->bits.end() ? nullptr : &at->second;
  };
  for (const auto& [name, bits] : result->bits) {
    if (!name.starts_with(driver)) continue;
    const std::string kernel = name.substr(driver.size());
    const std::string* forced = find("forced " + kernel);
    if (forced != nullptr && *forced != bits) {
      result->notes.push_back(kernel + ": CUDA_FORCE_PTX_JIT did not make the driver's code run");
    }
    const std::string* machine = find("machine code " + kernel);
    if (machine == nullptr) continue;
    result->choices[kernel] =
        Json::MakeObject().Set("driver_code", *machine == bits ? "same" : "differs");
  }
}

}  // namespace rharness
