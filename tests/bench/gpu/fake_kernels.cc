// What a driver of host memory (tests/gpu/fake_gpus.cc) lacks to run the benchmark: our kernels, by
// their names, thread by thread; events, copies and page-locked memory. FAKE_WRONG_KERNEL names one
// kernel whose results are off by one.
#include <cuda.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>

#include "tests/bench/gpu/host_grid.h"

// The benchmark asks for the name that every driver has.
#undef cuEventElapsedTime

namespace {

using namespace rharness::bench;
using Clock = std::chrono::steady_clock;

constexpr const char* kNames[] = {"compare_bits_32", "compare_bits_16", "measure_fp32",
                                  "measure_bf16",    "merge_bits",      "merge_pairs"};

template <class T>
T Parameter(void** parameters, int index) {
  T value;
  std::memcpy(&value, parameters[index], sizeof(value));
  return value;
}

template <class Block, class Elements>
void Compare(unsigned int blocks, void** parameters) {
  RunCompare<Block, Elements>(Parameter<const Words*>(parameters, 0),
                              Parameter<const Words*>(parameters, 1),
                              Parameter<std::uint32_t>(parameters, 2), blocks, ThreadOrder::kRising,
                              Parameter<typename Block::Result*>(parameters, 3));
}

template <class Block>
void Merge(void** parameters) {
  RunMerge<Block>(Parameter<const typename Block::Result*>(parameters, 0),
                  Parameter<std::uint32_t>(parameters, 1), ThreadOrder::kRising,
                  Parameter<typename Block::Result*>(parameters, 2));
}

void Spoil(const std::string& name, void** parameters) {
  const char* wrong = std::getenv("FAKE_WRONG_KERNEL");
  if (wrong == nullptr || name != wrong) return;
  // Statistics begin a result of bits; a result of pairs ends with its histogram.
  if (name.starts_with("compare_bits")) {
    ++Parameter<BitResult*>(parameters, 3)->statistics.differing;
  } else {
    ++Parameter<PairResult*>(parameters, 3)->histogram[0];
  }
}

void Run(const std::string& name, unsigned int blocks, void** parameters) {
  if (name == "compare_bits_32") Compare<BitBlock, Fp32Elements>(blocks, parameters);
  if (name == "compare_bits_16") Compare<BitBlock, Bf16Elements>(blocks, parameters);
  if (name == "measure_fp32") Compare<PairBlock, Fp32Elements>(blocks, parameters);
  if (name == "measure_bf16") Compare<PairBlock, Bf16Elements>(blocks, parameters);
  if (name == "merge_bits") Merge<BitBlock>(parameters);
  if (name == "merge_pairs") Merge<PairBlock>(parameters);
  Spoil(name, parameters);
}

}  // namespace

extern "C" {
CUresult cuModuleLoadDataEx(CUmodule* module, const void* image, unsigned int, CUjit_option*,
                            void**) {
  *module = static_cast<CUmodule>(const_cast<void*>(image));
  return CUDA_SUCCESS;
}
CUresult cuModuleGetFunction(CUfunction* function, CUmodule, const char* name) {
  for (const char* const& one : kNames) {
    if (std::strcmp(one, name) != 0) continue;
    *function = reinterpret_cast<CUfunction>(const_cast<char**>(&one));
    return CUDA_SUCCESS;
  }
  return CUDA_ERROR_NOT_FOUND;
}
CUresult cuLaunchKernel(CUfunction function, unsigned int blocks, unsigned int, unsigned int,
                        unsigned int threads, unsigned int, unsigned int, unsigned int, CUstream,
                        void** parameters, void**) {
  if (threads != kBlockThreads || blocks == 0) return CUDA_ERROR_INVALID_VALUE;
  Run(*reinterpret_cast<const char* const*>(function), blocks, parameters);
  return CUDA_SUCCESS;
}
CUresult cuEventCreate(CUevent* event, unsigned int) {
  *event = reinterpret_cast<CUevent>(new Clock::time_point());
  return CUDA_SUCCESS;
}
CUresult cuEventDestroy(CUevent event) {
  delete reinterpret_cast<Clock::time_point*>(event);
  return CUDA_SUCCESS;
}
CUresult cuEventRecord(CUevent event, CUstream) {
  *reinterpret_cast<Clock::time_point*>(event) = Clock::now();
  return CUDA_SUCCESS;
}
CUresult cuEventSynchronize(CUevent) { return CUDA_SUCCESS; }
CUresult cuEventElapsedTime(float* milliseconds, CUevent start, CUevent stop) {
  const auto taken =
      *reinterpret_cast<Clock::time_point*>(stop) - *reinterpret_cast<Clock::time_point*>(start);
  *milliseconds = std::chrono::duration<float, std::milli>(taken).count();
  return CUDA_SUCCESS;
}
CUresult cuMemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUstream) {
  std::memcpy(reinterpret_cast<void*>(to), reinterpret_cast<const void*>(from), bytes);
  return CUDA_SUCCESS;
}
CUresult cuMemcpyDtoHAsync(void* to, CUdeviceptr from, std::size_t bytes, CUstream) {
  return cuMemcpyDtoH(to, from, bytes);
}
CUresult cuMemHostAlloc(void** at, std::size_t bytes, unsigned int) {
  *at = std::malloc(bytes);
  return CUDA_SUCCESS;
}
CUresult cuMemFreeHost(void* at) {
  std::free(at);
  return CUDA_SUCCESS;
}
CUresult cuMemGetInfo(std::size_t* free, std::size_t* total) {
  *free = std::size_t{8} << 20;
  *total = std::size_t{16} << 20;
  return CUDA_SUCCESS;
}
}
