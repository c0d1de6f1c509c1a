// Probe nccl_bits: the bits of NCCL's all-reduce on seeded data, which must be equal on every rank,
// and independent of a communicator's history.
#include <fmt/format.h>

#include <cmath>
#include <map>

#include "probes/gpu/nccl_ranks.h"
#include "probes/gpu/number_type.h"
#include "probes/gpu/probe_tools.h"
#include "probes/gpu/rank_orders.h"

namespace rharness {
namespace {

struct Case {
  NumberType type;
  ncclDataType_t nccl;
  double ulp;  // of values in [1, 2)
  std::size_t elements;
  std::string Name() const { return fmt::format("{} {}", NumberTypeName(type), elements); }
  std::size_t bytes() const { return elements * BytesOf(type); }
};
// The odd one leaves a rest in channels and in vectors of elements.
constexpr std::size_t kElements[] = {1024, 65536, 1000003};
struct Type {
  NumberType type;
  ncclDataType_t nccl;
  double ulp;
};
constexpr Type kTypes[] = {{NumberType::kFp32, ncclFloat32, 0x1p-23},
                           {NumberType::kBf16, ncclBfloat16, 0x1p-7},
                           {NumberType::kFp16, ncclFloat16, 0x1p-10}};

// Multiples of 2^-23 in about [-1, 1]: their sums are not exact in any of the types.
std::vector<float> ValuesOf(const ProbeContext& context, int rank, std::size_t count) {
  const std::uint64_t seed = context.seed * 1000 + 3 * static_cast<std::uint64_t>(rank);
  std::vector<float> values = SeededValues(count, seed);
  const std::vector<float> middle = SeededValues(count, seed + 1),
                           low = SeededValues(count, seed + 2);
  for (std::size_t i = 0; i < count; ++i) {
    values[i] += middle[i] * 0x1p-8F;
    values[i] += low[i] * 0x1p-16F;
  }
  return values;
}

// The ranks' inputs, and the sum that any order of addition must approximate.
struct RankInputs {
  std::vector<std::vector<std::byte>> of_rank;
  std::vector<double> sum, magnitude;
};

RankInputs InputsOf(const ProbeContext& context, const Case& one, int ranks) {
  RankInputs inputs{.sum = std::vector<double>(one.elements, 0.0),
                    .magnitude = std::vector<double>(one.elements, 0.0)};
  for (int rank = 0; rank < ranks; ++rank) {
    inputs.of_rank.push_back(EncodeAll(one.type, ValuesOf(context, rank, one.elements)));
    for (std::size_t i = 0; i < one.elements; ++i) {
      const double value = ElementAt(one.type, inputs.of_rank.back(), i);
      inputs.sum[i] += value;
      inputs.magnitude[i] += std::fabs(value);
    }
  }
  return inputs;
}

// Each of the additions may err by one unit in the last place of the largest partial sum.
Status CheckSum(const Case& one, const RankInputs& inputs, const std::vector<std::byte>& bits) {
  const auto ranks = static_cast<double>(inputs.of_rank.size());
  for (std::size_t i = 0; i < one.elements; ++i) {
    const double got = ElementAt(one.type, bits, i);
    const double allowed = ranks * one.ulp * inputs.magnitude[i] + 0x1p-24;
    if (std::fabs(got - inputs.sum[i]) <= allowed) continue;
    return IntegrityError(fmt::format("{}: the sum at offset {} is {}; expected {} within {}",
                                      one.Name(), i, got, inputs.sum[i], allowed));
  }
  return {};
}

Status CheckRanks(const NcclRanks& ranks, const RankBuffers& to, const Case& one,
                  const std::vector<std::byte>& first) {
  for (int rank = 1; rank < ranks.size(); ++rank) {
    ASSIGN_OR_RETURN(const auto other, to.Read(rank, one.bytes()));
    const auto unequal = FirstUnequal(first, other, BytesOf(one.type));
    if (!unequal) continue;
    return IntegrityError(fmt::format("{}: ranks 0 and {} hold different sums at offset {}",
                                      one.Name(), rank, *unequal));
  }
  return {};
}

class Reducer {
 public:
  Reducer(const ProbeContext& context, const NcclRanks& ranks, const RankBuffers& from,
          const RankBuffers& to, ProbeResult* result)
      : context_(context), ranks_(ranks), from_(from), to_(to), result_(result) {}

  Status Measure(const std::string& history, const Communicator& world) {
    for (const Type& type : kTypes) {
      for (const std::size_t elements : kElements) {
        RETURN_IF_ERROR(MeasureCase(history, world, {type.type, type.nccl, type.ulp, elements}));
      }
    }
    return {};
  }

 private:
  // The same with every communicator, and slow to make.
  const RankInputs& InputsFor(const Case& one) {
    const auto found = inputs_.find(one.Name());
    if (found != inputs_.end()) return found->second;
    return inputs_.emplace(one.Name(), InputsOf(context_, one, ranks_.size())).first->second;
  }

  Status MeasureCase(const std::string& history, const Communicator& world, const Case& one) {
    const RankInputs& inputs = InputsFor(one);
    for (int rank = 0; rank < ranks_.size(); ++rank) {
      RETURN_IF_ERROR(from_.Write(rank, inputs.of_rank[static_cast<std::size_t>(rank)]));
    }
    const auto reduce = [&]() -> Result<std::vector<std::byte>> {
      RETURN_IF_ERROR(
          world.Run(Collective::kAllReduce, one.nccl, BytesOf(one.type), one.bytes(), from_, to_));
      ASSIGN_OR_RETURN(auto bits, to_.Read(0, one.bytes()));
      RETURN_IF_ERROR(CheckRanks(ranks_, to_, one, bits));
      return bits;
    };
    ProbeResult now;
    ASSIGN_OR_RETURN(const auto bits, RecordBits(context_, one.Name(), reduce, &now));
    const auto [known, is_new] = result_->bits.emplace(one.Name(), now.bits[one.Name()]);
    result_->choices["ranks hold the same bits, " + one.Name()] =
        Json::MakeObject({{"equal", true}});
    if (!now.unstable.empty()) result_->unstable.push_back(one.Name());
    if (!is_new && known->second == now.bits[one.Name()]) return {};
    RETURN_IF_ERROR(CheckSum(one, inputs, bits));
    if (is_new) return {};
    result_->unstable.push_back(one.Name());
    result_->notes.push_back(
        fmt::format("{}: other bits in a communicator {}", one.Name(), history));
    return {};
  }

  const ProbeContext& context_;
  const NcclRanks& ranks_;
  const RankBuffers& from_;
  const RankBuffers& to_;
  ProbeResult* result_;
  std::map<std::string, RankInputs> inputs_;
};

Result<ProbeResult> MeasureNcclBits(const ProbeContext& context) {
  ASSIGN_OR_RETURN(const auto ranks, NcclRanks::Open(context));
  ProbeResult result;
  result.parameters.Set("collective", "all_reduce").Set("seed", context.seed);
  ranks->Describe(&result);
  if (ranks->size() < 2) RETURN_IF_ERROR(RunOneRank(*ranks, &result));
  const std::size_t bytes = kElements[2] * sizeof(float);
  ASSIGN_OR_RETURN(const auto from, RankBuffers::Allocate(*ranks, bytes));
  ASSIGN_OR_RETURN(const auto to, RankBuffers::Allocate(*ranks, bytes));
  Reducer reducer(context, *ranks, *from, *to, &result);
  const auto measure = [&](const std::string& history, const Communicator& world) {
    return reducer.Measure(history, world);
  };
  RETURN_IF_ERROR(ForEachHistory(*ranks, measure, &result));
  return result;
}

ProbeResult RunNcclBits(const ProbeContext& context) {
  return Finish(MeasureNcclBits(context), Shows::kChoices);
}

const RegisterProbe kNcclBitsProbe({.name = "nccl_bits",
                                    .family = "collective",
                                    .summary = "bits of NCCL's all-reduce, alike on all ranks",
                                    .device = ProbeDevice::kGpu,
                                    .run = RunNcclBits,
                                    .limit = std::chrono::seconds(300)});

}  // namespace
}  // namespace rharness
