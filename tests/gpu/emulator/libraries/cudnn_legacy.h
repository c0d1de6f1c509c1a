// Descriptors of cuDNN's older functions, as the emulated library keeps them.
#ifndef RHARNESS_TESTS_GPU_EMULATOR_LIBRARIES_CUDNN_LEGACY_H_
#define RHARNESS_TESTS_GPU_EMULATOR_LIBRARIES_CUDNN_LEGACY_H_

#include <cudnn.h>

#include <array>
#include <cstdint>
#include <vector>

#include "tests/gpu/emulator/libraries/elements.h"

struct cudnnTensorStruct {
  rharness::Element element = rharness::Element::kF32;
  std::vector<std::int64_t> dims, strides;  // empty before they are set
};
struct cudnnFilterStruct {
  rharness::Element element = rharness::Element::kF32;
  std::array<std::int64_t, 4> dims{}, strides{};
};
struct cudnnConvolutionStruct {
  std::int64_t padding = -1;  // before it is set
  cudnnMathType_t math = CUDNN_DEFAULT_MATH;
};
struct cudnnPoolingStruct {
  cudnnPoolingMode_t mode = CUDNN_POOLING_MAX;
  int window = 0, padding = 0, stride = 0;
};
struct cudnnCTCLossStruct {
  bool set = false;
};

namespace rharness {

// Whether a descriptor of any of these kinds lives.
bool IsLiving(const void* descriptor);
// Of a dense tensor, in bytes.
std::uint64_t BytesOfTensor(const cudnnTensorStruct& tensor);

}  // namespace rharness

#endif  // RHARNESS_TESTS_GPU_EMULATOR_LIBRARIES_CUDNN_LEGACY_H_
