// The switches of the convolutional trainer: where it runs, and one for each source of
// non-determinism that a GPU program has.
#ifndef RHARNESS_SCENARIOS_DIGITS_CNN_CUDA_SWITCHES_H_
#define RHARNESS_SCENARIOS_DIGITS_CNN_CUDA_SWITCHES_H_

#include <cstddef>
#include <string>
#include <vector>

#include "scenarios/common/options.h"

namespace rharness::scenarios {

enum class CnnDevice {
  kCuda,
  kCpu,
  kBoth,  // CUDA, and the first step held to the CPU's
};

// Where nothing is said: what frameworks do for speed. README.md says what each one does to the
// bits.
struct CnnSwitches {
  CnnDevice device = CnnDevice::kCuda;
  std::size_t channels = 16;
  std::size_t gpus = 0;                     // 0: all that are visible
  bool deterministic_convolutions = false;  // cuDNN's deterministic algorithms
  bool autotune = false;                    // measures cuDNN's algorithms, takes the fastest
  bool tree_reduction = false;              // sums in a fixed order, not by atomicAdd
  bool tf32 = true;
  std::string cublas_workspace;  // CUBLAS_WORKSPACE_CONFIG; empty: cuBLAS decides
  bool two_streams = false;      // weight gradients of the linear layers on a stream of their own
};

// Every switch at the setting under which equal runs give equal bits.
void MakeDeterministic(CnnSwitches* switches);

// The flags that set `switches`, which must outlive them. --deterministic is a switch; flags after
// it win over it.
std::vector<ExtraFlag> FlagsOf(CnnSwitches* switches);

}  // namespace rharness::scenarios

#endif  // RHARNESS_SCENARIOS_DIGITS_CNN_CUDA_SWITCHES_H_
