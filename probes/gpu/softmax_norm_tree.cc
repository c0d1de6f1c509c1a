// Probe softmax_norm_tree_cuda: the order of row sums in normalizations: cuDNN's layer norm, and
// kernels of our own, whose order is known. A softmax has no negative summand, so that no mask can
// cancel: of cuDNN's there are bits alone.
#include <fmt/format.h>

#include "probes/gpu/asked_alone.h"
#include "probes/gpu/cudnn_operations.h"
#include "probes/gpu/cudnn_run.h"
#include "probes/gpu/reduce_tree.h"
#include "probes/gpu/row_sum.h"
#include "probes/library/cudnn_legacy.h"

namespace rharness {
namespace {

// Powers of two, so that a mean is a sum's exact share.
constexpr int kColumns[] = {256, 1024};
constexpr int kRows = 64;
// Its square is finite, since the deviation is computed beside the mean.
constexpr int kMaskExponent = 60;
constexpr std::size_t kEngines = 2;  // of a mode

// Question q is row q; a row's mean, as training keeps it, is the sum's share.
class NormSum final : public MaskedSum {
 public:
  static Result<std::unique_ptr<NormSum>> Create(const CudnnContext& cudnn, int columns,
                                                 const CudnnConfig& config) {
    ASSIGN_OR_RETURN(CudnnPlan plan, CudnnPlan::Create(cudnn.cudnn, config));
    std::unique_ptr<NormSum> sum(new NormSum(cudnn, columns, std::move(plan)));
    RETURN_IF_ERROR(sum->Allocate());
    return sum;
  }

  int size() const override { return columns_; }
  int max_batch() const override { return kRows; }
  Status Count(std::span<const MaskPair> pairs, UnitRange units,
               std::span<double> counts) override {
    std::vector<float> rows = MaskedRows(pairs, units, columns_, kMaskExponent);
    // Rows without a question are all ones, so that the shape, which picks the kernel, stays.
    rows.resize(static_cast<std::size_t>(kRows * columns_), 1.0F);
    const Device& device = *cudnn_.device;
    RETURN_IF_ERROR(device.Write(x_, std::as_bytes(std::span(rows))));
    float epsilon = 1e-5F;
    RETURN_IF_ERROR(plan_.Run({{1, x_.pointer()},
                               {2, scale_.pointer()},
                               {3, bias_.pointer()},
                               {4, &epsilon},
                               {5, y_.pointer()},
                               {6, mean_.pointer()},
                               {7, deviation_.pointer()}},
                              workspace_.pointer()));
    RETURN_IF_ERROR(device.Synchronize());
    ASSIGN_OR_RETURN(const auto means, device.Read(mean_, kRows * sizeof(float)));
    for (std::size_t q = 0; q < pairs.size(); ++q) {
      counts[q] = ElementAt(NumberType::kFp32, means, q) * columns_;
    }
    return {};
  }

 private:
  NormSum(const CudnnContext& cudnn, int columns, CudnnPlan plan)
      : cudnn_(cudnn), columns_(columns), plan_(std::move(plan)) {}

  Status Allocate() {
    const Device& device = *cudnn_.device;
    const auto columns = static_cast<std::size_t>(columns_);
    ASSIGN_OR_RETURN(x_, device.Allocate(kRows * columns * sizeof(float)));
    ASSIGN_OR_RETURN(y_, device.Allocate(kRows * columns * sizeof(float)));
    ASSIGN_OR_RETURN(scale_, device.Upload(std::vector<float>(columns, 1.0F)));
    ASSIGN_OR_RETURN(bias_, device.Allocate(columns * sizeof(float)));
    ASSIGN_OR_RETURN(mean_, device.Allocate(kRows * sizeof(float)));
    ASSIGN_OR_RETURN(deviation_, device.Allocate(kRows * sizeof(float)));
    if (plan_.workspace_bytes() < 0) return InternalError("a workspace of less than nothing");
    ASSIGN_OR_RETURN(workspace_,
                     device.Allocate(static_cast<std::size_t>(plan_.workspace_bytes())));
    return {};
  }

  CudnnContext cudnn_;
  int columns_;
  CudnnPlan plan_;
  DeviceBuffer x_, y_, scale_, bias_, mean_, deviation_, workspace_;
};

Status RecordNorm(const ProbeContext& context, const CudnnContext& cudnn, int columns,
                  ProbeResult* result) {
  const std::string name = fmt::format("cudnn layer norm fp32 {}x{}", kRows, columns);
  const auto graph = CudnnGraph::Create(cudnn.cudnn, LayerNormOf(kRows, columns, CUDNN_DATA_FLOAT));
  if (!graph.ok()) {
    if (graph.error().code != ErrorCode::kUnsupported) return graph.error();
    result->notes.push_back(name + ": " + graph.error().ToString());
    return {};
  }
  ASSIGN_OR_RETURN(const auto engines, FirstOfEachEngine(**graph, kEngines));
  if (engines.empty()) result->notes.push_back(name + ": no engine");
  for (const CudnnConfig& config : engines) {
    const std::string of_engine = fmt::format("{} {}", name, NameOfConfig(config));
    const auto sum = NormSum::Create(cudnn, columns, config);
    if (!sum.ok() && sum.error().code == ErrorCode::kUnsupported) {
      result->notes.push_back(of_engine + ": " + sum.error().ToString());
      continue;
    }
    if (!sum.ok()) return sum.error();
    result->choices[of_engine] = DescribeConfig(config);
    RETURN_IF_ERROR(RecordTreeOfRows(context, of_engine, **sum, result));
  }
  return {};
}

Status RecordSoftmax(const ProbeContext& context, const CudnnContext& cudnn,
                     cudnnSoftmaxAlgorithm_t algorithm, const std::string& name,
                     ProbeResult* result) {
  constexpr int kTerms = 1000;
  constexpr std::size_t kValues = std::size_t{kRows} * kTerms;
  const Cudnn& library = *cudnn.cudnn;
  RETURN_IF_ERROR(
      library.Need({{"cudnnSoftmaxForward", library.f.cudnnSoftmaxForward != nullptr}}));
  ASSIGN_OR_RETURN(const auto tensor, LegacyTensor(cudnn.cudnn, CUDNN_DATA_FLOAT,
                                                   TensorLayout::kNchw, {kRows, kTerms, 1, 1}));
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

Result<ProbeResult> Measure(const ProbeContext& context) {
  ASSIGN_OR_RETURN(const auto cudnn, CudnnContext::Open(context));
  ProbeResult result;
  result.parameters.Set("seed", context.seed).Set("rows", kRows);
  result.libraries = cudnn.cudnn->Describe();
  result.choices["library"] = cudnn.Versions();
  RETURN_IF_ERROR(RecordOwn(context, *cudnn.device, &result));
  for (const int columns : kColumns) {
    RETURN_IF_ERROR(RecordNorm(context, cudnn, columns, &result));
  }
  const std::pair<cudnnSoftmaxAlgorithm_t, std::string> algorithms[] = {
      {CUDNN_SOFTMAX_FAST, "cudnn softmax fast"},
      {CUDNN_SOFTMAX_ACCURATE, "cudnn softmax accurate"},
      {CUDNN_SOFTMAX_LOG, "cudnn softmax log"}};
  for (const auto& [algorithm, name] : algorithms) {
    const Status done = RecordSoftmax(context, cudnn, algorithm, name, &result);
    if (!done.ok() && done.error().code != ErrorCode::kUnsupported) return done.error();
    if (!done.ok()) result.notes.push_back(name + ": " + done.error().ToString());
  }
  result.notes.emplace_back("cudnn softmax: no tree, since no summand can cancel another");
  return result;
}

ProbeResult Run(const ProbeContext& context) { return Finish(Measure(context)); }

const RegisterProbe kProbe({.name = "softmax_norm_tree_cuda",
                            .family = "reduction",
                            .summary = "order of the row sums of layer norm and softmax",
                            .device = ProbeDevice::kGpu,
                            .run = Run,
                            .limit = std::chrono::seconds(120)});

}  // namespace
}  // namespace rharness
