// Sums across the GPUs of a run. all_reduce_nccl.cc does it by NCCL; all_reduce_none.cc takes its
// place where NCCL is not installed.
#ifndef RHARNESS_SCENARIOS_DIGITS_CNN_CUDA_GPU_ALL_REDUCE_H_
#define RHARNESS_SCENARIOS_DIGITS_CNN_CUDA_GPU_ALL_REDUCE_H_

#include <cuda_runtime_api.h>

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace rharness::scenarios {

class AllReduce {
 public:
  virtual ~AllReduce() = default;
  // Every buffers[i], `count` floats on the i-th device, becomes the sum of all of them; the work
  // is queued on streams[i].
  virtual void Sum(const std::vector<float*>& buffers, std::size_t count,
                   const std::vector<cudaStream_t>& streams) = 0;
  // NCCL_VERSION_CODE's spelling, such as 22809.
  virtual int Version() const = 0;
};

// Null when the program was built without NCCL.
std::unique_ptr<AllReduce> MakeAllReduce(const std::vector<int>& devices);

}  // namespace rharness::scenarios

#endif  // RHARNESS_SCENARIOS_DIGITS_CNN_CUDA_GPU_ALL_REDUCE_H_
