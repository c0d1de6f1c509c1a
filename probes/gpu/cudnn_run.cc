// Memory and plans of convolutions on a device.
#include "probes/gpu/cudnn_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace rharness {
namespace {

// An engine that needs more is skipped: it would test the card's memory rather than bits.
constexpr std::int64_t kMostWorkspace = std::int64_t{2} << 30;

// Configurations looked at to find different engines.
constexpr std::int64_t kRanked = 32;

}  // namespace

Result<CudnnContext> CudnnContext::Open(const ProbeContext& context) {
  CudnnContext made;
  ASSIGN_OR_RETURN(made.device, Device::Open(context));
  // Some engines call cuBLASLt or NVRTC, and must find them in the given folders.
  for (const auto& sonames : {std::vector<std::string>{"libcublasLt.so.13", "libcublasLt.so.12"},
                              {"libnvrtc.so.13", "libnvrtc.so.12"}}) {
    // That there is none is for the engine to say.
    if (!context.library_paths.empty()) (void)Library::Open(sonames, context.library_paths);
  }
  ASSIGN_OR_RETURN(made.cudnn, Cudnn::Open(context.library_paths));
  return made;
}

Result<std::vector<CudnnConfig>> FirstOfEachEngine(const CudnnGraph& graph, std::size_t of_a_mode) {
  std::vector<CudnnConfig> chosen;
  for (const auto mode : {CUDNN_HEUR_MODE_A, CUDNN_HEUR_MODE_FALLBACK}) {
    auto ranked = graph.Rank(mode, kRanked);
    if (!ranked.ok() && ranked.error().code == ErrorCode::kUnsupported) continue;
    if (!ranked.ok()) return ranked.error();
    std::size_t taken = 0;
    for (CudnnConfig& config : *ranked) {
      const bool known = std::ranges::any_of(
          chosen, [&](const CudnnConfig& one) { return one.engine == config.engine; });
      if (known || taken == of_a_mode) continue;
      ++taken;
      chosen.push_back(std::move(config));
    }
  }
  return chosen;
}

Result<ConvolutionMemory> ConvolutionMemory::Create(std::shared_ptr<Device> device,
                                                    const ConvolutionShape& shape) {
  ConvolutionMemory memory;
  memory.device_ = std::move(device);
  memory.shape_ = shape;
  const auto allocate = [&](ConvolutionTensor tensor) {
    return memory.device_->Allocate(ElementsOf(shape, tensor) * BytesOf(shape.type));
  };
  ASSIGN_OR_RETURN(memory.x_, allocate(ConvolutionTensor::kX));
  ASSIGN_OR_RETURN(memory.w_, allocate(ConvolutionTensor::kW));
  ASSIGN_OR_RETURN(memory.y_, allocate(ConvolutionTensor::kY));
  return memory;
}

const DeviceBuffer& ConvolutionMemory::buffer(ConvolutionTensor tensor) const {
  if (tensor == ConvolutionTensor::kX) return x_;
  return tensor == ConvolutionTensor::kW ? w_ : y_;
}

Status ConvolutionMemory::Fill(ConvolutionPass pass, const ConvolutionData& data) const {
  for (const auto tensor : {ConvolutionTensor::kX, ConvolutionTensor::kW, ConvolutionTensor::kY}) {
    if (tensor == ResultOf(pass)) continue;
    RETURN_IF_ERROR(device_->Write(buffer(tensor), EncodeAll(shape_.type, data.at(tensor))));
  }
  return {};
}

Result<std::vector<std::byte>> ConvolutionMemory::Compute(ConvolutionPass pass,
                                                          const RunPass& run) const {
  const DeviceBuffer& result = buffer(ResultOf(pass));
  RETURN_IF_ERROR(device_->Zero(result));
  RETURN_IF_ERROR(run());
  RETURN_IF_ERROR(device_->Synchronize());
  return device_->Read(result, ElementsOf(shape_, ResultOf(pass)) * BytesOf(shape_.type));
}

Result<EngineRun> EngineRun::Create(const CudnnContext& context, const CudnnConfig& config) {
  ASSIGN_OR_RETURN(CudnnPlan plan, CudnnPlan::Create(context.cudnn, config));
  if (plan.workspace_bytes() > kMostWorkspace || plan.workspace_bytes() < 0) {
    return Unsupported(fmt::format("engine {} wants {} bytes of workspace; at most {} are given",
                                   config.engine, plan.workspace_bytes(), kMostWorkspace));
  }
  ASSIGN_OR_RETURN(DeviceBuffer workspace,
                   context.device->Allocate(static_cast<std::size_t>(plan.workspace_bytes())));
  return EngineRun(std::move(plan), std::move(workspace));
}

Result<std::vector<std::byte>> EngineRun::Run(const ConvolutionMemory& memory,
                                              ConvolutionPass pass) const {
  return memory.Compute(pass, [&] {
    return plan_.Run({{1, memory.pointer(ConvolutionTensor::kX)},
                      {2, memory.pointer(ConvolutionTensor::kW)},
                      {3, memory.pointer(ConvolutionTensor::kY)}},
                     workspace_.pointer());
  });
}

double LargestError(NumberType type, const std::vector<std::byte>& computed,
                    const std::vector<double>& exact) {
  double largest = 0.0;
  for (std::size_t i = 0; i < exact.size(); ++i) {
    const double error = std::fabs(ElementAt(type, computed, i) - exact[i]);
    if (std::isnan(error)) return std::numeric_limits<double>::infinity();
    largest = std::max(largest, error);
  }
  return largest;
}

}  // namespace rharness
