// Probe cudnn_conv_tree: the order in which cuDNN's first engines add the products of one pixel.
#include <fmt/format.h>

#include "probes/gpu/asked_alone.h"
#include "probes/gpu/cudnn_observed.h"
#include "probes/gpu/cudnn_run.h"

namespace rharness {
namespace {

constexpr int kQuestions = 64;       // a launch: images
constexpr std::size_t kOrders = 2;   // engines of a type whose order is revealed
constexpr std::size_t kEngines = 8;  // of a mode that are looked at

// Masks are in the images, filters are all one.
class PixelSum final : public MaskedSum {
 public:
  PixelSum(const EngineRun& engine, const ConvolutionMemory& memory)
      : engine_(engine),
        memory_(memory),
        scheme_(SchemeOf(memory.shape().type, memory.shape().type)) {}

  int size() const override { return memory_.shape().terms(); }
  int max_batch() const override { return memory_.shape().n; }
  std::int64_t exact_count() const override { return scheme_.exact_count; }
  Status Count(std::span<const MaskPair> pairs, UnitRange units,
               std::span<double> counts) override {
    const ConvolutionShape& shape = memory_.shape();
    RETURN_IF_ERROR(
        memory_.Fill(ConvolutionPass::kForward, MaskedConvolution(shape, scheme_, pairs, units)));
    ASSIGN_OR_RETURN(const auto y, engine_.Run(memory_, ConvolutionPass::kForward));
    for (std::size_t q = 0; q < pairs.size(); ++q) {
      counts[q] = ElementAt(shape.type, y, MaskedResultAt(shape, q)) / scheme_.unit();
    }
    return {};
  }

 private:
  const EngineRun& engine_;
  const ConvolutionMemory& memory_;
  MaskScheme scheme_;
};

Status RecordEngine(const ProbeContext& context, const CudnnContext& cudnn,
                    const ConvolutionMemory& memory, const CudnnConfig& config,
                    const std::string& name, ProbeResult* result) {
  const auto engine = EngineRun::Create(cudnn, config);
  if (!engine.ok()) return engine.error();
  result->choices[name] = DescribeConfig(config);
  if (Transforms(config)) {
    result->notes.push_back(name + ": a transform has no order of addition over the summands");
    return {};
  }
  PixelSum sum(*engine, memory);
  return RecordTreeOfRows(context, name, sum, result);
}

Status RecordShape(const ProbeContext& context, const CudnnContext& cudnn,
                   const ConvolutionShape& shape, ProbeResult* result) {
  ASSIGN_OR_RETURN(const auto graph,
                   CudnnGraph::Create(cudnn.cudnn, ToCudnn(shape, ConvolutionPass::kForward)));
  ASSIGN_OR_RETURN(const auto engines, FirstOfEachEngine(*graph, kEngines));
  ASSIGN_OR_RETURN(const auto memory, ConvolutionMemory::Create(cudnn.device, shape));
  std::size_t recorded = 0;
  for (const CudnnConfig& config : engines) {
    if (recorded == kOrders) break;
    if (BytesOf(shape.type) == 4 &&
        UsesTf32(shape.type, config) != (shape.type == NumberType::kTf32)) {
      continue;
    }
    const std::string name = fmt::format("{} choice {}", shape.Name(), recorded);
    const Status done = RecordEngine(context, cudnn, memory, config, name, result);
    // The next one is what a framework would take then.
    if (!done.ok() && done.error().code == ErrorCode::kUnsupported) continue;
    RETURN_IF_ERROR(done);
    ++recorded;
  }
  if (recorded == 0) result->notes.push_back(shape.Name() + ": no engine");
  return {};
}

Result<ProbeResult> Measure(const ProbeContext& context) {
  ASSIGN_OR_RETURN(const auto cudnn, CudnnContext::Open(context));
  ProbeResult result;
  result.parameters.Set("questions", kQuestions).Set("orders_of_a_type", kOrders);
  result.libraries = cudnn.cudnn->Describe();
  result.choices["library"] = cudnn.Versions();
  using T = NumberType;
  for (const T type : {T::kFp32, T::kTf32, T::kFp16, T::kBf16}) {
    for (const int channels : {32, 128}) {
      ConvolutionShape shape{.n = kQuestions, .c = channels, .k = 64, .side = 3, .filter = 3};
      shape.type = type;
      RETURN_IF_ERROR(RecordShape(context, cudnn, shape, &result));
    }
  }
  if (result.choices.size() == 1) return InternalError("no engine of any convolution could be run");
  return result;
}

ProbeResult Run(const ProbeContext& context) { return Finish(Measure(context)); }

const RegisterProbe kProbe({.name = "cudnn_conv_tree",
                            .family = "convolution",
                            .summary = "order of addition in cuDNN convolutions",
                            .device = ProbeDevice::kGpu,
                            .run = Run,
                            .limit = std::chrono::seconds(300)});

}  // namespace
}  // namespace rharness
