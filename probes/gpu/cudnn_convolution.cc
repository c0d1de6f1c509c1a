// Engines of one convolution, one after the other.
#include "probes/gpu/cudnn_convolution.h"

#include <fmt/format.h>

#include "probes/gpu/asked_alone.h"
#include "probes/gpu/cudnn_observed.h"
#include "probes/gpu/probe_tools.h"

namespace rharness {
namespace {

constexpr std::size_t kLookedAt = 16;  // engines per mode, to find those for a type

// What all engines of a pass are asked.
struct Question {
  ConvolutionPass pass;
  const ConvolutionMemory& memory;
  ConvolutionData integers;
  std::vector<double> exact;  // their result
};

Status RecordBitsOf(const ProbeContext& context, const CudnnContext& cudnn,
                    const Question& question, const CudnnConfig& config, const std::string& name,
                    ProbeResult* result) {
  const auto engine = EngineRun::Create(cudnn, config);
  if (!engine.ok()) return engine.error();
  const ConvolutionMemory& memory = question.memory;
  const ConvolutionShape& shape = memory.shape();
  const auto run = [&] { return engine->Run(memory, question.pass); };
  EngineObserved observed;
  RETURN_IF_ERROR(memory.Fill(question.pass, question.integers));
  ASSIGN_OR_RETURN(const auto computed, run());
  observed.largest_error = LargestError(shape.type, computed, question.exact);
  RETURN_IF_ERROR(memory.Fill(question.pass, RoundingData(shape, context.seed)));
  ASSIGN_OR_RETURN(const auto bits, RecordBits(context, name, run, result));
  observed.repeated = result->unstable.empty() || result->unstable.back() != name;
  ++result->counts["engines"];
  result->choices[name] = DescribeObserved(config, observed);
  if (const auto complaint = NoteComplaint(config, observed)) {
    result->notes.push_back(name + ": " + *complaint);
  }
  if (const auto wrong = WrongAnswer(config, observed)) {
    result->status = ProbeStatus::kFailed;
    result->message += fmt::format("{} {}; ", name, *wrong);
  }
  return {};
}

// One of the sums that a pass has of masks in x.
class MaskedPass final : public MaskedSum {
 public:
  MaskedPass(const EngineRun& engine, const ConvolutionMemory& memory, ConvolutionPass pass)
      : engine_(engine),
        memory_(memory),
        pass_(pass),
        scheme_(SchemeOf(memory.shape().type, memory.shape().type)) {}

  int size() const override { return MaskedTerms(memory_.shape(), pass_); }
  int max_batch() const override { return MaskedQuestions(memory_.shape(), pass_); }
  std::int64_t exact_count() const override { return scheme_.exact_count; }
  Status Count(std::span<const MaskPair> pairs, UnitRange units,
               std::span<double> counts) override {
    const ConvolutionShape& shape = memory_.shape();
    RETURN_IF_ERROR(memory_.Fill(pass_, MaskedConvolution(shape, pass_, scheme_, pairs, units)));
    ASSIGN_OR_RETURN(const auto y, engine_.Run(memory_, pass_));
    for (std::size_t q = 0; q < pairs.size(); ++q) {
      counts[q] = ElementAt(shape.type, y, MaskedResultAt(shape, pass_, q)) / scheme_.unit();
    }
    return {};
  }

 private:
  const EngineRun& engine_;
  const ConvolutionMemory& memory_;
  ConvolutionPass pass_;
  MaskScheme scheme_;
};

Status RecordTreeOf(const ProbeContext& context, const CudnnContext& cudnn,
                    const ConvolutionMemory& memory, ConvolutionPass pass,
                    const CudnnConfig& config, const std::string& name, ProbeResult* result) {
  const auto engine = EngineRun::Create(cudnn, config);
  if (!engine.ok()) return engine.error();
  if (Transforms(config)) {
    result->notes.push_back(name + ": a transform has no order of addition over the summands");
  } else {
    MaskedPass sum(*engine, memory, pass);
    RETURN_IF_ERROR(RecordTreeOfRows(context, name, sum, result));
  }
  result->choices[name] = DescribeConfig(config);
  return {};
}

}  // namespace

Status RecordConvolutionBits(const ProbeContext& context, const CudnnContext& cudnn,
                             ConvolutionPass pass, const ConvolutionShape& shape,
                             std::size_t of_a_mode, ProbeResult* result) {
  const std::string name = fmt::format("{} {}", ConvolutionPassName(pass), shape.Name());
  ASSIGN_OR_RETURN(const auto graph, CudnnGraph::Create(cudnn.cudnn, ToCudnn(shape, pass)));
  ASSIGN_OR_RETURN(const auto engines, FirstOfEachEngine(*graph, of_a_mode));
  if (engines.empty()) result->notes.push_back(name + ": no engine");
  ASSIGN_OR_RETURN(const auto memory, ConvolutionMemory::Create(cudnn.device, shape));
  Question question{.pass = pass, .memory = memory};
  question.integers = IntegerData(shape, context.seed);
  question.exact = ExactConvolution(shape, pass, question.integers);
  for (const CudnnConfig& config : engines) {
    const std::string of_engine = fmt::format("{} {}", name, NameOfConfig(config));
    const Status done = RecordBitsOf(context, cudnn, question, config, of_engine, result);
    if (done.ok()) continue;
    if (done.error().code == ErrorCode::kUnsupported) {
      result->notes.push_back(of_engine + ": " + done.error().ToString());
      continue;
    }
    result->choices[of_engine] = DescribeConfig(config);
    RecordFailure(of_engine, done.error(), result);
  }
  return {};
}

Status RecordConvolutionTrees(const ProbeContext& context, const CudnnContext& cudnn,
                              ConvolutionPass pass, const ConvolutionShape& shape,
                              std::size_t orders, ProbeResult* result) {
  const std::string of_shape = fmt::format("{} {}", ConvolutionPassName(pass), shape.Name());
  ASSIGN_OR_RETURN(const auto graph, CudnnGraph::Create(cudnn.cudnn, ToCudnn(shape, pass)));
  ASSIGN_OR_RETURN(const auto engines, FirstOfEachEngine(*graph, kLookedAt));
  ASSIGN_OR_RETURN(const auto memory, ConvolutionMemory::Create(cudnn.device, shape));
  std::size_t recorded = 0;
  for (const CudnnConfig& config : engines) {
    if (recorded == orders) break;
    if (BytesOf(shape.type) == 4 &&
        UsesTf32(shape.type, config) != (shape.type == NumberType::kTf32)) {
      continue;
    }
    const std::string name = fmt::format("{} choice {}", of_shape, recorded);
    const Status done = RecordTreeOf(context, cudnn, memory, pass, config, name, result);
    // A framework would take the next one then.
    if (!done.ok() && done.error().code == ErrorCode::kUnsupported) continue;
    if (!done.ok()) {
      const std::string of_engine = fmt::format("{} {}", of_shape, NameOfConfig(config));
      result->choices[of_engine] = DescribeConfig(config);
      RecordFailure(of_engine, done.error(), result);
      continue;
    }
    ++recorded;
  }
  if (recorded == 0) result->notes.push_back(of_shape + ": no engine");
  return {};
}

}  // namespace rharness
