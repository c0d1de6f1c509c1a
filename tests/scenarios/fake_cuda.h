// A false CUDA for tests of digits_cnn_cuda: the runtime, cuBLAS, cuDNN and NCCL as host code, with
// two devices, memory that knows its owner and its size, and streams that run late and in an
// awkward order.
#ifndef RHARNESS_TESTS_SCENARIOS_FAKE_CUDA_H_
#define RHARNESS_TESTS_SCENARIOS_FAKE_CUDA_H_

#include <cuda_runtime_api.h>

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace rharness::scenarios {

struct FakeCuda {
  int devices = 2;
  bool last_stream_first = false;       // which stream runs first where the order is free
  std::vector<std::string> math_modes;  // of cuBLAS handles and convolutions, as they were set
  std::vector<std::string> algorithms;  // of convolutions, as they ran
  std::vector<std::string> mistakes;    // memory out of bounds or of another device, and the like
};

// Everything a test sets or reads; Reset() between tests.
FakeCuda& Fake();
void ResetFake();

// Queues work on a stream of the current device.
void Enqueue(cudaStream_t stream, std::function<void()> work);
// Queues work that runs once each of `streams` has come to it.
void EnqueueTogether(const std::vector<cudaStream_t>& streams, std::function<void()> work);

// The allocations of the stream's device.
std::vector<std::span<std::byte>> MemoryOf(cudaStream_t stream);

// Notes a mistake unless `count` values from `data` lie in one allocation of the stream's device.
void CheckRange(const char* what, const void* data, std::size_t bytes, cudaStream_t stream);

}  // namespace rharness::scenarios

#endif  // RHARNESS_TESTS_SCENARIOS_FAKE_CUDA_H_
