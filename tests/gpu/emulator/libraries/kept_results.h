// Results of these libraries that were computed before, by all that they depend on.
//
// Role: probes repeat what they ask, and the failure loop repeats probes. Kept in memory, up to
// 128 MiB, and, if EMULATED_RESULTS names a folder, in a file each, for other processes.
#ifndef RHARNESS_TESTS_GPU_EMULATOR_LIBRARIES_KEPT_RESULTS_H_
#define RHARNESS_TESTS_GPU_EMULATOR_LIBRARIES_KEPT_RESULTS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace rharness {

// Multiplications below which computing is cheaper.
inline constexpr std::uint64_t kWorthKeeping = std::uint64_t{1} << 23;

// A digest of 128 bits; not against an adversary.
class ResultKey {
 public:
  void Add(const void* bytes, std::size_t size);
  std::string Text() const;  // hex

 private:
  std::uint64_t low_ = 0x9e3779b97f4a7c15U, high_ = 0xc2b2ae3d27d4eb4fU;
};

std::optional<std::vector<double>> KeptResult(const ResultKey& key);
void KeepResult(const ResultKey& key, const std::vector<double>& values);

}  // namespace rharness

#endif  // RHARNESS_TESTS_GPU_EMULATOR_LIBRARIES_KEPT_RESULTS_H_
