// cuDNN on one device: the libraries opened, and one convolution with its memory.
#ifndef RHARNESS_PROBES_GPU_CUDNN_RUN_H_
#define RHARNESS_PROBES_GPU_CUDNN_RUN_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "harness/base/result.h"
#include "probes/gpu/convolution.h"
#include "probes/gpu/device.h"
#include "probes/library/cudnn.h"

namespace rharness {

// 9.8.0, the first that takes a device by its description.
inline constexpr std::uint64_t kCudnnWithDeviceProperties = 90800;

struct CudnnContext {
  std::shared_ptr<Device> device;
  std::shared_ptr<Cudnn> cudnn;

  // not_found without driver, device or cuDNN.
  static Result<CudnnContext> Open(const ProbeContext& context);
};

// The first configuration of each of the first `of_a_mode` engines of mode A, and of as many others
// of mode FALLBACK: a framework would run an engine's first configuration.
Result<std::vector<CudnnConfig>> FirstOfEachEngine(const CudnnGraph& graph, std::size_t of_a_mode);

// Device memory of a convolution's three tensors, filled and read as numbers of its type.
class ConvolutionMemory {
 public:
  static Result<ConvolutionMemory> Create(std::shared_ptr<Device> device,
                                          const ConvolutionShape& shape);

  const ConvolutionShape& shape() const { return shape_; }
  void* pointer(ConvolutionTensor tensor) const { return buffer(tensor).pointer(); }
  // The two inputs of a pass.
  Status Fill(ConvolutionPass pass, const ConvolutionData& data) const;
  // Sets the result to zero, lets `run` compute it, waits, reads it.
  using RunPass = std::function<Status()>;
  Result<std::vector<std::byte>> Compute(ConvolutionPass pass, const RunPass& run) const;

 private:
  const DeviceBuffer& buffer(ConvolutionTensor tensor) const;

  std::shared_ptr<Device> device_;
  ConvolutionShape shape_;
  DeviceBuffer x_, w_, y_;
};

// One engine's plan of a pass over such memory, with its workspace.
class EngineRun {
 public:
  // Errors: unsupported when the engine cannot do it despite its ranking.
  static Result<EngineRun> Create(const CudnnContext& context, const CudnnConfig& config);
  Result<std::vector<std::byte>> Run(const ConvolutionMemory& memory, ConvolutionPass pass) const;

 private:
  EngineRun(CudnnPlan plan, DeviceBuffer workspace)
      : plan_(std::move(plan)), workspace_(std::move(workspace)) {}

  CudnnPlan plan_;
  DeviceBuffer workspace_;
};

// The largest difference between the computed and the exact result; NaN counts as infinite.
double LargestError(NumberType type, const std::vector<std::byte>& computed,
                    const std::vector<double>& exact);

}  // namespace rharness

#endif  // RHARNESS_PROBES_GPU_CUDNN_RUN_H_
