// Probe nccl_choice: the algorithm, protocol and channels that NCCL chooses for collectives of
// rising size, from its log. They set the order of addition, and a new version may choose
// differently.
#include <fmt/format.h>

#include <algorithm>

#include "probes/gpu/nccl_ranks.h"
#include "probes/gpu/probe_tools.h"

namespace rharness {
namespace {

constexpr std::size_t kLeastBytes = std::size_t{1} << 8;
constexpr std::size_t kMostBytes = std::size_t{1} << 28;
constexpr Collective kCollectives[] = {Collective::kAllReduce, Collective::kReduceScatter,
                                       Collective::kAllGather};

// As large as all devices have room for, by powers of two.
Result<std::unique_ptr<RankBuffers>> AllocateLargest(const NcclRanks& ranks, ProbeResult* result) {
  for (std::size_t bytes = kMostBytes;; bytes /= 2) {
    auto buffers = RankBuffers::Allocate(ranks, bytes);
    const bool has_no_room = !buffers.ok() && buffers.error().code == ErrorCode::kIo;
    if (!has_no_room || bytes <= (std::size_t{1} << 20)) return buffers;
    result->notes.push_back(fmt::format("no room for {} bytes on each device", bytes));
  }
}

// Sends and receives in one buffer: its content does not matter.
Result<std::vector<TuningChoice>> ChoicesOf(const NcclRanks& ranks, const Communicator& world,
                                            const RankBuffers& buffers, Collective collective,
                                            std::size_t bytes) {
  RETURN_IF_ERROR(world.Run(collective, ncclFloat32, sizeof(float), bytes, buffers, buffers));
  return ranks.log().Take(collective);
}

Status RecordChoices(const ProbeContext& context, const NcclRanks& ranks, const Communicator& world,
                     const RankBuffers& buffers, ProbeResult* result) {
  std::uint64_t silent = 0, calls = 0;
  for (const Collective collective : kCollectives) {
    for (std::size_t bytes = kLeastBytes; bytes <= buffers.bytes(); bytes *= 2) {
      if (bytes / sizeof(float) < static_cast<std::size_t>(ranks.size())) continue;
      const std::string name = fmt::format("{} fp32 {} bytes", CollectiveName(collective), bytes);
      std::vector<TuningChoice> first;
      for (int repeat = 0; repeat < std::max(1, context.repeats); ++repeat) {
        ASSIGN_OR_RETURN(auto choices, ChoicesOf(ranks, world, buffers, collective, bytes));
        ++calls;
        if (repeat > 0 && choices != first) result->unstable.push_back(name);
        if (repeat > 0 && choices != first) break;
        if (repeat == 0) first = std::move(choices);
      }
      if (first.empty()) ++silent;
      if (!first.empty()) result->choices[name] = DescribeChoices(first);
      if (!first.empty() && ranks.shared()) result->choices[name].Set("representative", false);
    }
  }
  result->counts["collectives"] = calls;
  result->counts["sizes without a line in the log"] = silent;
  if (silent > 0) {
    result->notes.push_back(
        fmt::format("{} sizes without a line in the log that says a choice", silent));
  }
  return {};
}

Result<ProbeResult> MeasureNcclChoice(const ProbeContext& context) {
  ASSIGN_OR_RETURN(const auto ranks, NcclRanks::Open(context));
  ProbeResult result;
  result.parameters.Set("type", "fp32")
      .Set("least_bytes", kLeastBytes)
      .Set("most_bytes", kMostBytes);
  ranks->Describe(&result);
  if (ranks->size() < 2) {
    RETURN_IF_ERROR(RunOneRank(*ranks, &result));
    return result;
  }
  ASSIGN_OR_RETURN(const auto world, Communicator::Create(*ranks));
  ASSIGN_OR_RETURN(const auto buffers, AllocateLargest(*ranks, &result));
  // The tables that the library writes when it starts.
  RETURN_IF_ERROR(ranks->log().Take(Collective::kAllReduce));
  RETURN_IF_ERROR(RecordChoices(context, *ranks, *world, *buffers, &result));
  return result;
}

ProbeResult RunNcclChoice(const ProbeContext& context) {
  return Finish(MeasureNcclChoice(context), Shows::kChoices);
}

const RegisterProbe kNcclChoiceProbe(
    {.name = "nccl_choice",
     .family = "collective",
     .summary = "algorithm, protocol and channels that NCCL chooses by size",
     .device = ProbeDevice::kGpu,
     .run = RunNcclChoice,
     .limit = std::chrono::seconds(300)});

}  // namespace
}  // namespace rharness
