// A step across replicas, its time, and what the run ran on.
#include "scenarios/digits_cnn_cuda/gpu/cuda_cnn.h"

#include <fmt/format.h>
#include <stdlib.h>

#include <algorithm>
#include <fstream>
#include <numeric>
#include <sstream>
#include <utility>

#include "scenarios/digits_cnn_cuda/versions.h"

namespace rharness::scenarios {
namespace {

std::string ReadDriverVersion() {
  std::ifstream file("/proc/driver/nvidia/version");
  std::ostringstream text;
  text << file.rdbuf();
  return DriverVersion(text.str());
}

// Peak bytes a second of a device's memory; 0 when the driver does not say.
double MemoryBandwidth(int device) {
  int kilohertz = 0;
  int bits = 0;
  if (cudaDeviceGetAttribute(&kilohertz, cudaDevAttrMemoryClockRate, device) != cudaSuccess ||
      cudaDeviceGetAttribute(&bits, cudaDevAttrGlobalMemoryBusWidth, device) != cudaSuccess) {
    return 0;
  }
  // Two transfers a cycle.
  return 2 * 1e3 * static_cast<double>(kilohertz) * (static_cast<double>(bits) / 8);
}

std::string DeviceNames(int gpus) {
  std::string names;
  for (int device = 0; device < gpus; ++device) {
    cudaDeviceProp properties;
    RHARNESS_CUDA_CALL(cudaGetDeviceProperties(&properties, device));
    names += fmt::format("{}{} sm_{}{}", names.empty() ? "" : ", ", properties.name,
                         properties.major, properties.minor);
  }
  return names;
}

double Median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace

CudaCnn::CudaCnn(const CnnSetup& setup, int gpus, std::unique_ptr<AllReduce> all_reduce)
    : shape_(setup.shape), batch_(setup.batch), all_reduce_(std::move(all_reduce)) {
  const std::size_t parts = static_cast<std::size_t>(gpus);
  const std::size_t capacity = (setup.batch + parts - 1) / parts;
  for (int device = 0; device < gpus; ++device) {
    replicas_.push_back(std::make_unique<Replica>(device, setup, capacity));
  }
  RHARNESS_CUDA_CALL(cudaSetDevice(0));
  RHARNESS_CUDA_CALL(cudaEventCreate(&begin_));
  RHARNESS_CUDA_CALL(cudaEventCreate(&end_));
}

CudaCnn::~CudaCnn() {
  // NCCL lets go of the replicas' streams before they end.
  all_reduce_.reset();
  cudaSetDevice(0);
  cudaEventDestroy(begin_);
  cudaEventDestroy(end_);
}

double CudaCnn::TrainBatch(const Batch& batch, const SgdStep& step) {
  RHARNESS_CUDA_CALL(cudaSetDevice(0));
  RHARNESS_CUDA_CALL(cudaEventRecord(begin_, replicas_[0]->stream()));
  std::vector<float*> gradients;
  std::vector<cudaStream_t> streams;
  for (std::size_t i = 0; i < replicas_.size(); ++i) {
    replicas_[i]->Differentiate(PartOf(batch, replicas_.size(), i), batch.size());
    gradients.push_back(replicas_[i]->gradient());
    streams.push_back(replicas_[i]->stream());
  }
  if (all_reduce_ != nullptr) all_reduce_->Sum(gradients, LayoutOf(shape_).total, streams);
  for (const auto& replica : replicas_) replica->Step(step);
  RHARNESS_CUDA_CALL(cudaSetDevice(0));
  RHARNESS_CUDA_CALL(cudaEventRecord(end_, replicas_[0]->stream()));
  double loss_sum = 0;
  for (const auto& replica : replicas_) loss_sum += replica->Wait().loss_sum;
  TimeStep();
  return loss_sum;
}

void CudaCnn::TimeStep() {
  if (++steps_ <= kWarmUpSteps) return;
  float milliseconds = 0;
  RHARNESS_CUDA_CALL(cudaSetDevice(0));
  RHARNESS_CUDA_CALL(cudaEventSynchronize(end_));
  RHARNESS_CUDA_CALL(cudaEventElapsedTime(&milliseconds, begin_, end_));
  step_seconds_.push_back(static_cast<double>(milliseconds) * 1e-3);
}

Score CudaCnn::Evaluate(const Batch& batch) {
  Replica& replica = *replicas_[0];
  Score total;
  for (std::size_t begin = 0; begin < batch.size(); begin += replica.capacity()) {
    const std::size_t count = std::min(replica.capacity(), batch.size() - begin);
    replica.Infer(Batch{batch.pixels.subspan(begin * kPixels, count * kPixels),
                        batch.labels.subspan(begin, count)});
    const Score score = replica.Wait();
    total.loss_sum += score.loss_sum;
    total.correct += score.correct;
  }
  return total;
}

std::vector<Tensor> CudaCnn::Export() const {
  return TensorsOf(LayoutOf(shape_), replicas_[0]->Parameters());
}

std::map<std::string, std::string> CudaCnn::Software() const {
  std::map<std::string, std::string> software = replicas_[0]->Software();
  int driver = 0;
  int runtime = 0;
  RHARNESS_CUDA_CALL(cudaDriverGetVersion(&driver));
  RHARNESS_CUDA_CALL(cudaRuntimeGetVersion(&runtime));
  software["cuda_driver"] = CudaVersion(driver);
  software["cuda_runtime"] = CudaVersion(runtime);
  software["gpus"] = DeviceNames(static_cast<int>(replicas_.size()));
  const std::string nvidia = ReadDriverVersion();
  if (!nvidia.empty()) software["nvidia_driver"] = nvidia;
  if (all_reduce_ != nullptr) software["nccl"] = LibraryVersion(all_reduce_->Version());
  return software;
}

std::map<std::string, double> CudaCnn::Resources() const {
  if (step_seconds_.empty()) return {};
  const std::size_t part = (batch_ + replicas_.size() - 1) / replicas_.size();
  std::map<std::string, double> resources = {
      {"step_seconds_median", Median(step_seconds_)},
      {"step_seconds_min", *std::min_element(step_seconds_.begin(), step_seconds_.end())},
      {"steps_timed", static_cast<double>(step_seconds_.size())},
      {"step_bytes_floor", StepBytesFloor(shape_, part)},
  };
  const double bandwidth = MemoryBandwidth(0);
  if (bandwidth > 0) {
    resources["memory_bytes_per_second"] = bandwidth;
    resources["step_seconds_floor"] = StepBytesFloor(shape_, part) / bandwidth;
  }
  return resources;
}

std::unique_ptr<Network> MakeCudaCnn(const CnnSetup& setup, std::string* error) {
  int present = 0;
  const cudaError_t status = cudaGetDeviceCount(&present);
  if (status != cudaSuccess || present == 0) {
    *error = fmt::format("no GPU to train on: {}",
                         status == cudaSuccess ? "none is visible" : Failure(status));
    return nullptr;
  }
  const std::string& workspace = setup.switches.cublas_workspace;
  // cuBLAS reads it as the first handle is made.
  if (!workspace.empty()) setenv("CUBLAS_WORKSPACE_CONFIG", workspace.c_str(), 1);
  const int gpus = setup.switches.gpus == 0 ? present : static_cast<int>(setup.switches.gpus);
  if (gpus > present) {
    *error = fmt::format("--gpus: {} GPUs are visible, {} are asked for", present, gpus);
    return nullptr;
  }
  std::unique_ptr<AllReduce> all_reduce;
  if (gpus > 1) {
    std::vector<int> devices(static_cast<std::size_t>(gpus));
    std::iota(devices.begin(), devices.end(), 0);
    all_reduce = MakeAllReduce(devices);
    if (all_reduce == nullptr) {
      *error = "--gpus: this program was built without NCCL; it takes 1";
      return nullptr;
    }
  }
  return std::make_unique<CudaCnn>(setup, gpus, std::move(all_reduce));
}

}  // namespace rharness::scenarios
