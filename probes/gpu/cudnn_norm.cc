// Masked rows through cuDNN's layer norm.
#include "probes/gpu/cudnn_norm.h"

#include <fmt/format.h>

#include "probes/gpu/asked_alone.h"
#include "probes/gpu/cudnn_operations.h"
#include "probes/gpu/probe_tools.h"
#include "probes/gpu/row_sum.h"

namespace rharness {
namespace {

// Its square is finite, since the deviation is computed beside the mean.
constexpr int kMaskExponent = 60;

// Question q is row q; a row's mean, as training keeps it, is the sum's share.
class NormSum final : public MaskedSum {
 public:
  static Result<std::unique_ptr<NormSum>> Create(const CudnnContext& cudnn, int rows, int columns,
                                                 const CudnnConfig& config) {
    ASSIGN_OR_RETURN(CudnnPlan plan, CudnnPlan::Create(cudnn.cudnn, config));
    std::unique_ptr<NormSum> sum(new NormSum(cudnn, rows, columns, std::move(plan)));
    RETURN_IF_ERROR(sum->Allocate());
    return sum;
  }

  int size() const override { return columns_; }
  int max_batch() const override { return rows_; }
  Status Count(std::span<const MaskPair> pairs, UnitRange units,
               std::span<double> counts) override {
    std::vector<float> rows = MaskedRows(pairs, units, columns_, kMaskExponent);
    // Rows without a question are all ones, so that the shape, which picks the kernel, stays.
    rows.resize(RowBytes() * static_cast<std::size_t>(columns_) / sizeof(float), 1.0F);
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
    ASSIGN_OR_RETURN(const auto means, device.Read(mean_, RowBytes()));
    for (std::size_t q = 0; q < pairs.size(); ++q) {
      counts[q] = ElementAt(NumberType::kFp32, means, q) * columns_;
    }
    return {};
  }

 private:
  NormSum(const CudnnContext& cudnn, int rows, int columns, CudnnPlan plan)
      : cudnn_(cudnn), rows_(rows), columns_(columns), plan_(std::move(plan)) {}

  Status Allocate() {
    const Device& device = *cudnn_.device;
    const auto columns = static_cast<std::size_t>(columns_);
    ASSIGN_OR_RETURN(x_, device.Allocate(RowBytes() * columns));
    ASSIGN_OR_RETURN(y_, device.Allocate(RowBytes() * columns));
    ASSIGN_OR_RETURN(scale_, device.Upload(std::vector<float>(columns, 1.0F)));
    ASSIGN_OR_RETURN(bias_, device.Allocate(columns * sizeof(float)));
    ASSIGN_OR_RETURN(mean_, device.Allocate(RowBytes()));
    ASSIGN_OR_RETURN(deviation_, device.Allocate(RowBytes()));
    if (plan_.workspace_bytes() < 0) return InternalError("a workspace of less than nothing");
    ASSIGN_OR_RETURN(workspace_,
                     device.Allocate(static_cast<std::size_t>(plan_.workspace_bytes())));
    return {};
  }

  // Of one number a row.
  std::size_t RowBytes() const { return static_cast<std::size_t>(rows_) * sizeof(float); }

  CudnnContext cudnn_;
  int rows_;
  int columns_;
  CudnnPlan plan_;
  DeviceBuffer x_, y_, scale_, bias_, mean_, deviation_, workspace_;
};

}  // namespace

Status RecordNormTrees(const ProbeContext& context, const CudnnContext& cudnn, int rows,
                       int columns, std::size_t of_a_mode, ProbeResult* result) {
  const std::string name = fmt::format("cudnn layer norm fp32 {}x{}", rows, columns);
  const auto graph = CudnnGraph::Create(cudnn.cudnn, LayerNormOf(rows, columns, CUDNN_DATA_FLOAT));
  if (!graph.ok()) {
    if (graph.error().code != ErrorCode::kUnsupported) return graph.error();
    result->notes.push_back(name + ": " + graph.error().ToString());
    return {};
  }
  ASSIGN_OR_RETURN(const auto engines, FirstOfEachEngine(**graph, of_a_mode));
  if (engines.empty()) result->notes.push_back(name + ": no engine");
  for (const CudnnConfig& config : engines) {
    const std::string of_engine = fmt::format("{} {}", name, NameOfConfig(config));
    const auto sum = NormSum::Create(cudnn, rows, columns, config);
    if (!sum.ok() && sum.error().code == ErrorCode::kUnsupported) {
      result->notes.push_back(of_engine + ": " + sum.error().ToString());
      continue;
    }
    result->choices[of_engine] = DescribeConfig(config);
    const Status done =
        sum.ok() ? RecordTreeOfRows(context, of_engine, **sum, result) : Status(sum.error());
    if (!done.ok()) RecordFailure(of_engine, done.error(), result);
  }
  return {};
}

}  // namespace rharness
