// The network on the GPUs of this machine: a replica each, gradients summed across them.
#ifndef RHARNESS_SCENARIOS_DIGITS_CNN_CUDA_GPU_CUDA_CNN_H_
#define RHARNESS_SCENARIOS_DIGITS_CNN_CUDA_GPU_CUDA_CNN_H_

#include <cuda_runtime_api.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "scenarios/digits_cnn_cuda/digits_cnn.h"
#include "scenarios/digits_cnn_cuda/gpu/all_reduce.h"
#include "scenarios/digits_cnn_cuda/gpu/replica.h"

namespace rharness::scenarios {

class CudaCnn : public Network {
 public:
  // On the devices 0 to gpus - 1. `all_reduce` is null for one GPU. A call of CUDA that fails ends
  // the program, here and later.
  CudaCnn(const CnnSetup& setup, int gpus, std::unique_ptr<AllReduce> all_reduce);
  ~CudaCnn() override;

  double TrainBatch(const Batch& batch, const SgdStep& step) override;
  // On the first GPU, in pieces of its capacity.
  Score Evaluate(const Batch& batch) override;
  std::vector<Tensor> Export() const override;
  // Driver, CUDA, cuBLAS, cuDNN, NCCL, the GPUs, and the convolution algorithms taken.
  std::map<std::string, std::string> Software() const override;
  // Of the steps after the first kWarmUpSteps: how many, the median of their times between events
  // on the first GPU's stream, copies of images included; and the time that the memory's bandwidth
  // alone would take. Empty without such steps.
  std::map<std::string, double> Resources() const override;

 private:
  static constexpr std::size_t kWarmUpSteps = 20;

  void TimeStep();

  CnnShape shape_;
  std::size_t batch_;
  std::unique_ptr<AllReduce> all_reduce_;
  std::vector<std::unique_ptr<Replica>> replicas_;
  cudaEvent_t begin_ = nullptr;
  cudaEvent_t end_ = nullptr;
  std::size_t steps_ = 0;
  std::vector<double> step_seconds_;
};

// A CudaCnn on the GPUs that the switches ask for; sets CUBLAS_WORKSPACE_CONFIG for this process.
// Null and an error when there is no GPU, too few, or several but no NCCL.
std::unique_ptr<Network> MakeCudaCnn(const CnnSetup& setup, std::string* error);

}  // namespace rharness::scenarios

#endif  // RHARNESS_SCENARIOS_DIGITS_CNN_CUDA_GPU_CUDA_CNN_H_
