// The false libraries that tests of cuDNN load, by kind.
#ifndef RHARNESS_TESTS_GPU_CUDNN_FAKES_H_
#define RHARNESS_TESTS_GPU_CUDNN_FAKES_H_

#include <string>

#include "probes/gpu/cudnn_run.h"

namespace rharness {

inline std::string FakeCudnnDir(const std::string& kind) {
  return std::string(FAKE_CUDA_DIR) + "/cudnn_" + kind;
}

// With a driver whose device is the host's memory.
inline ProbeContext FakeContext(const std::string& kind, int repeats = 3) {
  ProbeContext context{.device = "cuda:0", .repeats = repeats};
  context.library_paths = {std::string(FAKE_CUDA_DIR) + "/host_memory", FakeCudnnDir(kind)};
  return context;
}

}  // namespace rharness

#endif  // RHARNESS_TESTS_GPU_CUDNN_FAKES_H_
