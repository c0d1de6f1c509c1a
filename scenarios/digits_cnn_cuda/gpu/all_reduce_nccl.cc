// One process, one communicator a GPU, all calls from one thread.
#include <nccl.h>

#include "scenarios/digits_cnn_cuda/gpu/all_reduce.h"
#include "scenarios/digits_cnn_cuda/gpu/cuda_call.h"

namespace rharness::scenarios {
namespace {

std::string Failure(ncclResult_t status) {
  return status == ncclSuccess ? "" : ncclGetErrorString(status);
}

void Run(const char* call, ncclResult_t status) { EndOnFailure(call, Failure(status)); }

class NcclAllReduce : public AllReduce {
 public:
  explicit NcclAllReduce(const std::vector<int>& devices) : communicators_(devices.size()) {
    Run("ncclCommInitAll",
        ncclCommInitAll(communicators_.data(), static_cast<int>(devices.size()), devices.data()));
  }
  ~NcclAllReduce() override {
    for (ncclComm_t communicator : communicators_) ncclCommDestroy(communicator);
  }

  void Sum(const std::vector<float*>& buffers, std::size_t count,
           const std::vector<cudaStream_t>& streams) override {
    // One thread must queue the part of every GPU before it may wait for any.
    Run("ncclGroupStart", ncclGroupStart());
    for (std::size_t i = 0; i < buffers.size(); ++i) {
      Run("ncclAllReduce", ncclAllReduce(buffers[i], buffers[i], count, ncclFloat, ncclSum,
                                         communicators_[i], streams[i]));
    }
    Run("ncclGroupEnd", ncclGroupEnd());
  }

  int Version() const override {
    int version = 0;
    Run("ncclGetVersion", ncclGetVersion(&version));
    return version;
  }

 private:
  std::vector<ncclComm_t> communicators_;
};

}  // namespace

std::unique_ptr<AllReduce> MakeAllReduce(const std::vector<int>& devices) {
  return std::make_unique<NcclAllReduce>(devices);
}

}  // namespace rharness::scenarios
