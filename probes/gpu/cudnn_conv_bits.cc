// Probe cudnn_conv_bits: the bits that each engine of cuDNN computes, whether it repeats them and
// said so, and whether it is right.
#include <fmt/format.h>

#include <algorithm>

#include "probes/gpu/cudnn_observed.h"
#include "probes/gpu/cudnn_run.h"
#include "probes/gpu/probe_tools.h"

namespace rharness {
namespace {

constexpr std::size_t kEngines = 4;  // of a mode
// An order that varies need not vary in three runs.
constexpr int kLeastRepeats = 10;

struct Question {
  ConvolutionPass pass;
  ConvolutionShape shape;
  std::string Name() const { return fmt::format("{} {}", ConvolutionPassName(pass), shape.Name()); }
};

class ConvolutionBits {
 public:
  ConvolutionBits(const ProbeContext& context, const CudnnContext& cudnn, ProbeResult* result)
      : context_(context), cudnn_(cudnn), result_(result) {
    context_.repeats = std::max(context_.repeats, kLeastRepeats);
  }

  Status Record(const Question& question) {
    ASSIGN_OR_RETURN(const auto graph,
                     CudnnGraph::Create(cudnn_.cudnn, ToCudnn(question.shape, question.pass)));
    ASSIGN_OR_RETURN(const auto engines, FirstOfEachEngine(*graph, kEngines));
    if (engines.empty()) result_->notes.push_back(question.Name() + ": no engine");
    ASSIGN_OR_RETURN(const auto memory, ConvolutionMemory::Create(cudnn_.device, question.shape));
    const ConvolutionData integers = IntegerData(question.shape, context_.seed);
    const std::vector<double> exact = ExactConvolution(question.shape, question.pass, integers);
    for (const CudnnConfig& config : engines) {
      RETURN_IF_ERROR(RecordEngine(question, config, memory, integers, exact));
    }
    return {};
  }

 private:
  Status RecordEngine(const Question& question, const CudnnConfig& config,
                      const ConvolutionMemory& memory, const ConvolutionData& integers,
                      const std::vector<double>& exact) {
    const std::string name = fmt::format("{} {}", question.Name(), NameOfConfig(config));
    const auto engine = EngineRun::Create(cudnn_, config);
    if (!engine.ok() && engine.error().code == ErrorCode::kUnsupported) {
      result_->notes.push_back(name + ": " + engine.error().ToString());
      return {};
    }
    if (!engine.ok()) return engine.error();
    const auto run = [&] { return engine->Run(memory, question.pass); };
    EngineObserved observed;
    RETURN_IF_ERROR(memory.Fill(question.pass, integers));
    ASSIGN_OR_RETURN(const auto computed, run());
    observed.largest_error = LargestError(question.shape.type, computed, exact);
    RETURN_IF_ERROR(memory.Fill(question.pass, RoundingData(question.shape, context_.seed)));
    ASSIGN_OR_RETURN(const auto bits, RecordBits(context_, name, run, result_));
    observed.repeated = result_->unstable.empty() || result_->unstable.back() != name;
    ++result_->counts["engines"];
    result_->choices[name] = DescribeObserved(config, observed);
    if (const auto complaint = NoteComplaint(config, observed)) {
      result_->notes.push_back(name + ": " + *complaint);
    }
    if (const auto wrong = WrongAnswer(config, observed)) {
      result_->status = ProbeStatus::kFailed;
      result_->message += fmt::format("{} {}; ", name, *wrong);
    }
    return {};
  }

  ProbeContext context_;
  const CudnnContext& cudnn_;
  ProbeResult* result_;
};

Result<ProbeResult> Measure(const ProbeContext& context) {
  ASSIGN_OR_RETURN(const auto cudnn, CudnnContext::Open(context));
  ProbeResult result;
  result.parameters.Set("seed", context.seed).Set("engines_of_a_mode", kEngines);
  result.libraries = cudnn.cudnn->Describe();
  result.choices["library"] = cudnn.Versions();
  ConvolutionBits bits(context, cudnn, &result);
  using T = NumberType;
  for (const auto pass : {ConvolutionPass::kForward, ConvolutionPass::kBackwardData,
                          ConvolutionPass::kBackwardFilter}) {
    for (const auto& [type, layout] : {std::pair{T::kFp32, TensorLayout::kNchw},
                                       {T::kFp32, TensorLayout::kNhwc},
                                       {T::kFp16, TensorLayout::kNhwc},
                                       {T::kBf16, TensorLayout::kNhwc}}) {
      RETURN_IF_ERROR(bits.Record({pass, BitsShape(type, layout)}));
    }
  }
  if (result.bits.empty()) return InternalError("no engine of any convolution could be run");
  return result;
}

ProbeResult Run(const ProbeContext& context) { return Finish(Measure(context)); }

const RegisterProbe kProbe({.name = "cudnn_conv_bits",
                            .family = "convolution",
                            .summary = "bits of cuDNN's convolution engines, and what they say",
                            .device = ProbeDevice::kGpu,
                            .run = Run,
                            .limit = std::chrono::seconds(300)});

}  // namespace
}  // namespace rharness
