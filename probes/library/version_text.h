// What libraries say of themselves, as text: version numbers that vendors pack into one integer,
// and the names of their errors.
#ifndef RHARNESS_PROBES_LIBRARY_VERSION_TEXT_H_
#define RHARNESS_PROBES_LIBRARY_VERSION_TEXT_H_

#include <fmt/format.h>

#include <cstdint>
#include <string>

namespace rharness {

// "13.0" of 13000: the CUDA driver and runtime.
inline std::string CudaVersionText(int version) {
  return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

// "13.1.0" of 130100, and "11.8.1" of 110801: cuBLAS and cuBLASLt.
inline std::string CublasVersionText(std::uint64_t version) {
  return fmt::format("{}.{}.{}", version / 10000, version % 10000 / 100, version % 100);
}

// "2.28.9" of 22809, and "2.7.8" of 2708: NCCL's numbers had one digit less up to 2.8.
inline std::string NcclVersionText(int version) {
  const int major = version < 10000 ? 1000 : 10000;
  return fmt::format("{}.{}.{}", version / major, version % major / 100, version % 100);
}

// A library's text of a status that it does not know may be null.
inline const char* OrUnknown(const char* text) {
  return text != nullptr ? text : "an unknown error";
}

}  // namespace rharness

#endif  // RHARNESS_PROBES_LIBRARY_VERSION_TEXT_H_
