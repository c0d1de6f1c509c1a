// Probe pool_ctc_nd: routines of cuDNN that are documented not to repeat, and their counterparts
// that must: the gradient of max pooling, and CTC loss.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "probes/gpu/cudnn_run.h"
#include "probes/gpu/probe_tools.h"
#include "probes/library/cudnn_legacy.h"

namespace rharness {
namespace {

constexpr int kLeastPoolRepeats = 10;
// Windows of 5 that move by 1: an element is the maximum of up to 25 windows, whose gradients add
// in it.
constexpr int kWindow = 5, kPadding = 2;
constexpr LegacyDims kImages = {4, 16, 64, 64};
constexpr std::size_t kPixels = std::size_t{4} * 16 * 64 * 64;
// Steps, sequences, letters; blank is letter 0.
constexpr int kSteps = 64, kSequences = 16, kLetters = 32, kLabel = 20;

// Of full significands and eight binades, so that an order shows.
std::vector<float> ConvolutionValues(std::size_t count, std::uint64_t seed) {
  ConvolutionShape shape;
  shape.n = static_cast<int>(count);
  return RoundingData(shape, seed).x;
}

bool Repeated(const ProbeResult& result, const std::string& name) {
  return result.unstable.empty() || result.unstable.back() != name;
}

Status RecordPooling(const ProbeContext& context, const CudnnContext& cudnn,
                     cudnnPoolingMode_t mode, const std::string& name, ProbeResult* result) {
  const Cudnn& library = *cudnn.cudnn;
  const CudnnFunctions& f = library.f;
  RETURN_IF_ERROR(library.Need({{"cudnnPoolingForward", f.cudnnPoolingForward != nullptr},
                                {"cudnnPoolingBackward", f.cudnnPoolingBackward != nullptr}}));
  ASSIGN_OR_RETURN(const auto pooling, LegacyPooling(cudnn.cudnn, mode, kWindow, kPadding, 1));
  ASSIGN_OR_RETURN(const auto tensor,
                   LegacyTensor(cudnn.cudnn, CUDNN_DATA_FLOAT, TensorLayout::kNchw, kImages));
  const Device& device = *cudnn.device;
  ASSIGN_OR_RETURN(const DeviceBuffer x, device.Upload(ConvolutionValues(kPixels, context.seed)));
  ASSIGN_OR_RETURN(const DeviceBuffer dy,
                   device.Upload(ConvolutionValues(kPixels, context.seed + 1)));
  ASSIGN_OR_RETURN(const DeviceBuffer y, device.Allocate(kPixels * sizeof(float)));
  ASSIGN_OR_RETURN(const DeviceBuffer dx, device.Allocate(kPixels * sizeof(float)));
  const float one = 1.0F, zero = 0.0F;
  RETURN_IF_ERROR(
      library.Check(f.cudnnPoolingForward(library.handle(), pooling.get(), &one, tensor.get(),
                                          x.pointer(), &zero, tensor.get(), y.pointer()),
                    "cudnnPoolingForward"));
  const auto run = [&]() -> Result<std::vector<std::byte>> {
    RETURN_IF_ERROR(device.Zero(dx));
    RETURN_IF_ERROR(
        library.Check(f.cudnnPoolingBackward(library.handle(), pooling.get(), &one, tensor.get(),
                                             y.pointer(), tensor.get(), dy.pointer(), tensor.get(),
                                             x.pointer(), &zero, tensor.get(), dx.pointer()),
                      "cudnnPoolingBackward"));
    RETURN_IF_ERROR(device.Synchronize());
    return device.Read(dx, kPixels * sizeof(float));
  };
  ASSIGN_OR_RETURN(const auto made, RecordBits(context, name, run, result));
  if (mode == CUDNN_POOLING_MAX_DETERMINISTIC && !Repeated(*result, name)) {
    result->notes.push_back(name + ": did not repeat, and is documented to");
  }
  return {};
}

struct Labels {
  std::vector<int> letters, lengths, steps;
};
Labels MakeLabels() {
  Labels labels;
  for (int sequence = 0; sequence < kSequences; ++sequence) {
    for (int i = 0; i < kLabel; ++i) {
      labels.letters.push_back(1 + (sequence * 7 + i * i * 3) % (kLetters - 1));
    }
    labels.lengths.push_back(kLabel);
    labels.steps.push_back(kSteps);
  }
  return labels;
}

Status RecordCtc(const ProbeContext& context, const CudnnContext& cudnn, cudnnCTCLossAlgo_t algo,
                 const std::string& name, ProbeResult* result) {
  const Cudnn& library = *cudnn.cudnn;
  const CudnnFunctions& f = library.f;
  RETURN_IF_ERROR(
      library.Need({{"cudnnCTCLoss", f.cudnnCTCLoss != nullptr},
                    {"cudnnGetCTCLossWorkspaceSize", f.cudnnGetCTCLossWorkspaceSize != nullptr}}));
  ASSIGN_OR_RETURN(const auto loss, LegacyCtcLoss(cudnn.cudnn));
  ASSIGN_OR_RETURN(const auto tensor, LegacyTensor(cudnn.cudnn, CUDNN_DATA_FLOAT,
                                                   std::vector<int>{kSteps, kSequences, kLetters}));
  const Labels labels = MakeLabels();
  std::size_t bytes = 0;
  RETURN_IF_ERROR(
      library.Check(f.cudnnGetCTCLossWorkspaceSize(library.handle(), tensor.get(), tensor.get(),
                                                   labels.letters.data(), labels.lengths.data(),
                                                   labels.steps.data(), algo, loss.get(), &bytes),
                    "cudnnGetCTCLossWorkspaceSize"));
  const Device& device = *cudnn.device;
  constexpr std::size_t kScores = std::size_t{kSteps} * kSequences * kLetters;
  ASSIGN_OR_RETURN(const DeviceBuffer scores,
                   device.Upload(ConvolutionValues(kScores, context.seed)));
  ASSIGN_OR_RETURN(const DeviceBuffer costs, device.Allocate(kSequences * sizeof(float)));
  ASSIGN_OR_RETURN(const DeviceBuffer gradients, device.Allocate(kScores * sizeof(float)));
  ASSIGN_OR_RETURN(const DeviceBuffer workspace, device.Allocate(bytes));
  const auto run = [&]() -> Result<std::vector<std::byte>> {
    RETURN_IF_ERROR(device.Zero(gradients));
    RETURN_IF_ERROR(library.Check(
        f.cudnnCTCLoss(library.handle(), tensor.get(), scores.pointer(), labels.letters.data(),
                       labels.lengths.data(), labels.steps.data(), costs.pointer(), tensor.get(),
                       gradients.pointer(), algo, loss.get(), workspace.pointer(), bytes),
        "cudnnCTCLoss"));
    RETURN_IF_ERROR(device.Synchronize());
    ASSIGN_OR_RETURN(std::vector<std::byte> made, device.Read(costs, kSequences * sizeof(float)));
    ASSIGN_OR_RETURN(const auto more, device.Read(gradients, kScores * sizeof(float)));
    made.insert(made.end(), more.begin(), more.end());
    return made;
  };
  ASSIGN_OR_RETURN(const auto made, RecordBits(context, name, run, result));
  if (algo == CUDNN_CTC_LOSS_ALGO_DETERMINISTIC && !Repeated(*result, name)) {
    result->notes.push_back(name + ": did not repeat, and is documented to");
  }
  return {};
}

Result<ProbeResult> MeasurePoolCtcNd(const ProbeContext& given) {
  ProbeContext context = given;
  context.repeats = std::max(context.repeats, kLeastPoolRepeats);
  ASSIGN_OR_RETURN(const auto cudnn, CudnnContext::Open(context));
  ProbeResult result;
  result.parameters.Set("seed", context.seed).Set("window", kWindow).Set("steps", kSteps);
  result.libraries = cudnn.cudnn->Describe();
  const std::pair<cudnnPoolingMode_t, std::string> poolings[] = {
      {CUDNN_POOLING_MAX, "max pooling gradient"},
      {CUDNN_POOLING_MAX_DETERMINISTIC, "max pooling gradient, deterministic"}};
  for (const auto& [mode, name] : poolings) {
    NoteUnsupported(RecordPooling(context, cudnn, mode, name, &result), name, &result);
  }
  const std::pair<cudnnCTCLossAlgo_t, std::string> losses[] = {
      {CUDNN_CTC_LOSS_ALGO_NON_DETERMINISTIC, "CTC loss"},
      {CUDNN_CTC_LOSS_ALGO_DETERMINISTIC, "CTC loss, deterministic"}};
  for (const auto& [algo, name] : losses) {
    NoteUnsupported(RecordCtc(context, cudnn, algo, name, &result), name, &result);
  }
  return result;
}

ProbeResult RunPoolCtcNd(const ProbeContext& context) { return Finish(MeasurePoolCtcNd(context)); }

const RegisterProbe kPoolCtcNdProbe({.name = "pool_ctc_nd",
                                     .family = "convolution",
                                     .summary = "cuDNN routines that are documented not to repeat",
                                     .device = ProbeDevice::kGpu,
                                     .run = RunPoolCtcNd});

}  // namespace
}  // namespace rharness
