// Probe softmax_norm_tree_cuda: the order of row sums in normalizations: cuDNN's layer norm, and
// our own kernels, whose order is known. A softmax has no negative summand, so that no mask can
// cancel: for cuDNN's there are only bits.
#include <fmt/format.h>

#include "probes/gpu/cudnn_norm.h"
#include "probes/gpu/probe_tools.h"
#include "probes/gpu/reduce_tree.h"
#include "probes/gpu/row_sum.h"
#include "probes/library/cudnn_legacy.h"

namespace rharness {
namespace {

// Powers of two, so that a mean is a sum's exact share.
constexpr int kColumns[] = {256, 1024};
constexpr int kNormRows = 64;
constexpr std::size_t kNormEngines = 2;  // of a mode

Status RecordSoftmax(const ProbeContext& context, const CudnnContext& cudnn,
                     cudnnSoftmaxAlgorithm_t algorithm, const std::string& name,
                     ProbeResult* result) {
  constexpr int kTerms = 1000;
  constexpr std::size_t kValues = std::size_t{kNormRows} * kTerms;
  const Cudnn& library = *cudnn.cudnn;
  RETURN_IF_ERROR(
      library.Need({{"cudnnSoftmaxForward", library.f.cudnnSoftmaxForward != nullptr}}));
  ASSIGN_OR_RETURN(const auto tensor, LegacyTensor(cudnn.cudnn, CUDNN_DATA_FLOAT,
                                                   TensorLayout::kNchw, {kNormRows, kTerms, 1, 1}));
  const Device& device = *cudnn.device;
  ASSIGN_OR_RETURN(const DeviceBuffer x, device.Upload(SeededValues(kValues, context.seed)));
  ASSIGN_OR_RETURN(const DeviceBuffer y, device.Allocate(kValues * sizeof(float)));
  const auto run = [&]() -> Result<std::vector<std::byte>> {
    const float one = 1.0F, zero = 0.0F;
    RETURN_IF_ERROR(
        library.Check(library.f.cudnnSoftmaxForward(library.handle(), algorithm,
                                                    CUDNN_SOFTMAX_MODE_INSTANCE, &one, tensor.get(),
                                                    x.pointer(), &zero, tensor.get(), y.pointer()),
                      "cudnnSoftmaxForward"));
    RETURN_IF_ERROR(device.Synchronize());
    return device.Read(y, kValues * sizeof(float));
  };
  const auto made = RecordBits(context, name, run, result);
  return made.ok() ? Status() : made.error();
}

Status RecordOwn(const ProbeContext& context, const Device& device, ProbeResult* result) {
  ASSIGN_OR_RETURN(const CUmodule module, device.Load(kNormKernels));
  for (const int n : {1024, 3072}) {
    RETURN_IF_ERROR(RecordKnownTree(context, device, module, "layer_norm_rows", 256, n,
                                    LayerNormTree(n), result));
  }
  for (const int n : {768, 1000}) {
    RETURN_IF_ERROR(
        RecordKnownTree(context, device, module, "softmax_rows", 256, n, SoftmaxTree(n), result));
  }
  return {};
}

Result<ProbeResult> MeasureSoftmaxNormTree(const ProbeContext& context) {
  ASSIGN_OR_RETURN(const auto cudnn, CudnnContext::Open(context));
  ProbeResult result;
  result.parameters.Set("seed", context.seed).Set("rows", kNormRows);
  result.libraries = cudnn.cudnn->Describe();
  NoteUnsupported(RecordOwn(context, *cudnn.device, &result), "own kernels", &result);
  for (const int columns : kColumns) {
    NoteUnsupported(RecordNormTrees(context, cudnn, kNormRows, columns, kNormEngines, &result),
                    fmt::format("cudnn layer norm of {} columns", columns), &result);
  }
  const std::pair<cudnnSoftmaxAlgorithm_t, std::string> algorithms[] = {
      {CUDNN_SOFTMAX_FAST, "cudnn softmax fast"},
      {CUDNN_SOFTMAX_ACCURATE, "cudnn softmax accurate"},
      {CUDNN_SOFTMAX_LOG, "cudnn softmax log"}};
  for (const auto& [algorithm, name] : algorithms) {
    NoteUnsupported(RecordSoftmax(context, cudnn, algorithm, name, &result), name, &result);
  }
  result.notes.emplace_back("cudnn softmax: no tree, since no summand can cancel another");
  return result;
}

ProbeResult RunSoftmaxNormTree(const ProbeContext& context) {
  return Finish(MeasureSoftmaxNormTree(context));
}

const RegisterProbe kSoftmaxNormTreeProbe(
    {.name = "softmax_norm_tree_cuda",
     .family = "reduction",
     .summary = "order of the row sums of layer norm and softmax",
     .device = ProbeDevice::kGpu,
     .run = RunSoftmaxNormTree,
     .limit = std::chrono::seconds(120)});

}  // namespace
}  // namespace rharness
