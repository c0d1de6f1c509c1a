// Probe nccl_tree: the order in which NCCL's all-reduce adds the ranks, for every element, by
// masks; in communicators of different history, on which it must not depend.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "probes/gpu/nccl_ranks.h"
#include "probes/gpu/probe_tools.h"
#include "probes/gpu/rank_orders.h"

namespace rharness {
namespace {

// Tested on every stack. Sizes between them are tested where algorithm or protocol changes.
constexpr std::size_t kRankSizes[] = {std::size_t{1} << 10, std::size_t{1} << 16,
                                      std::size_t{1} << 20, std::size_t{1} << 22};
constexpr std::size_t kMostTreeBytes = std::size_t{1} << 24;

struct TypeOfRanks {
  NumberType type;
  ncclDataType_t nccl;
};
constexpr TypeOfRanks kRankTypes[] = {{NumberType::kFp32, ncclFloat32},
                                      {NumberType::kBf16, ncclBfloat16}};

struct Question {
  TypeOfRanks type;
  std::size_t bytes = 0;
  std::string Name() const { return fmt::format("{} {} bytes", NumberTypeName(type.type), bytes); }
  std::string NameOfOrder(std::size_t order) const {
    return fmt::format("{}, order {}", Name(), order);
  }
};

// The buffers of all ranks, and their current content.
class MaskedReduce {
 public:
  static Result<std::unique_ptr<MaskedReduce>> Create(const NcclRanks& ranks) {
    std::unique_ptr<MaskedReduce> made(new MaskedReduce(ranks));
    ASSIGN_OR_RETURN(made->from_, RankBuffers::Allocate(ranks, kMostTreeBytes));
    ASSIGN_OR_RETURN(made->to_, RankBuffers::Allocate(ranks, kMostTreeBytes));
    return made;
  }
  const RankBuffers& from() const { return *from_; }
  const RankBuffers& to() const { return *to_; }

  // Values that a rank has already stay: from one pair to the next few change.
  Status Fill(const Question& question, MaskPair pair) {
    const NumberType type = question.type.type;
    for (int rank = 0; rank < ranks_.size(); ++rank) {
      const std::vector<std::byte> one = EncodeAll(type, {MaskedValue(type, pair, rank)});
      Held& held = held_[static_cast<std::size_t>(rank)];
      if (held.one == one && held.bytes >= question.bytes) continue;
      std::vector<std::byte> all(question.bytes);
      for (std::size_t at = 0; at < all.size(); at += one.size()) {
        std::ranges::copy(one, all.begin() + static_cast<std::ptrdiff_t>(at));
      }
      RETURN_IF_ERROR(from_->Write(rank, all));
      held = {one, question.bytes};
    }
    return {};
  }
  Status Reduce(const Question& question, const Communicator& world) {
    return world.Run(Collective::kAllReduce, question.type.nccl, BytesOf(question.type.type),
                     question.bytes, *from_, *to_);
  }

 private:
  struct Held {
    std::vector<std::byte> one;  // the element that is repeated
    std::size_t bytes = 0;
  };
  explicit MaskedReduce(const NcclRanks& ranks)
      : ranks_(ranks), held_(static_cast<std::size_t>(ranks.size())) {}

  const NcclRanks& ranks_;
  std::unique_ptr<RankBuffers> from_, to_;
  std::vector<Held> held_;
};

struct Answer {
  OffsetOrders orders;
  std::string why;  // why there are none: one sentence
};

constexpr char kNotFixed[] = "the same masks have had different sums: the order is not fixed";

// All pairs of ranks. Errors: integrity when ranks have different results.
Result<Answer> Ask(const NcclRanks& ranks, const Communicator& world, MaskedReduce* reduce,
                   const Question& question, int repeats) {
  std::vector<std::vector<LeafRun>> runs;
  for (const MaskPair& pair : RankPairs(ranks.size())) {
    RETURN_IF_ERROR(reduce->Fill(question, pair));
    RETURN_IF_ERROR(reduce->Reduce(question, world));
    ASSIGN_OR_RETURN(const auto first, reduce->to().Read(0, question.bytes));
    for (int rank = 1; rank < ranks.size(); ++rank) {
      ASSIGN_OR_RETURN(const auto other, reduce->to().Read(rank, question.bytes));
      const auto unequal = FirstUnequal(first, other, BytesOf(question.type.type));
      if (!unequal) continue;
      return IntegrityError(fmt::format("{}: ranks 0 and {} hold different sums at offset {}",
                                        question.Name(), rank, *unequal));
    }
    for (int repeat = 1; repeat < repeats; ++repeat) {
      RETURN_IF_ERROR(reduce->Reduce(question, world));
      ASSIGN_OR_RETURN(const auto again, reduce->to().Read(0, question.bytes));
      if (again != first) return Answer{.why = kNotFixed};
    }
    auto of_pair = LeafRunsOf(first, question.type.type, ranks.size());
    if (!of_pair.ok()) return Answer{.why = of_pair.error().message};
    runs.push_back(std::move(*of_pair));
  }
  ASSIGN_OR_RETURN(OffsetOrders orders, BuildOrders(ranks.size(), runs));
  return Answer{.orders = std::move(orders)};
}

// The fixed sizes, and the smallest of each algorithm and protocol that none of them has.
Result<std::vector<Question>> Questions(const NcclRanks& ranks, const Communicator& world,
                                        const TypeOfRanks& type, MaskedReduce* reduce,
                                        std::map<std::string, Json>* choices) {
  std::map<std::size_t, std::string> kind_of;
  for (std::size_t bytes = std::size_t{1} << 8; bytes <= kMostTreeBytes; bytes *= 2) {
    const Question question{type, bytes};
    RETURN_IF_ERROR(ranks.log().Take(Collective::kAllReduce));
    RETURN_IF_ERROR(reduce->Reduce(question, world));
    ASSIGN_OR_RETURN(const auto lines, ranks.log().Take(Collective::kAllReduce));
    if (!lines.empty()) kind_of[bytes] = lines[0].algorithm + " " + lines[0].protocol;
    if (!lines.empty()) (*choices)[question.Name()] = DescribeChoices(lines);
  }
  std::vector<Question> questions;
  std::set<std::string> seen;
  for (const std::size_t bytes : kRankSizes) {
    questions.push_back({type, bytes});
    if (kind_of.contains(bytes)) seen.insert(kind_of[bytes]);
  }
  for (const auto& [bytes, kind] : kind_of) {
    if (seen.insert(kind).second) questions.push_back({type, bytes});
  }
  std::ranges::sort(questions, {}, &Question::bytes);
  return questions;
}

void RecordOrder(const Question& question, const Answer& answer, Json choice, ProbeResult* result) {
  const std::string name = question.Name();
  if (answer.why == kNotFixed) result->unstable.push_back(name);
  if (!answer.why.empty()) result->notes.push_back(name + ": tree not revealed: " + answer.why);
  if (answer.why.empty()) {
    const Json offsets = DescribeOffsets(answer.orders);
    for (const auto& [key, value] : offsets.AsObject()) choice.Set(key, value);
  }
  if (!choice.IsNull()) result->choices[name] = std::move(choice);
  for (std::size_t i = 0; i < answer.orders.orders.size(); ++i) {
    const RankOrder& order = answer.orders.orders[i];
    const std::string of_order = question.NameOfOrder(i);
    if (order.tree) {
      result->trees.emplace(of_order, *order.tree);
    } else {
      result->notes.push_back(of_order + ": tree not revealed: " + order.why);
    }
  }
}

class Asker {
 public:
  Asker(const ProbeContext& context, const NcclRanks& ranks, MaskedReduce* reduce,
        ProbeResult* result)
      : context_(context), ranks_(ranks), reduce_(reduce), result_(result) {}

  // The first communicator answers and records everything; later ones must agree.
  Status Measure(const std::string& history, const Communicator& world) {
    if (history == "first") RETURN_IF_ERROR(Choose(world));
    for (std::size_t i = 0; i < questions_.size(); ++i) {
      const Question& question = questions_[i];
      const bool first = i >= answers_.size();
      ASSIGN_OR_RETURN(Answer answer,
                       Ask(ranks_, world, reduce_, question, first ? context_.repeats : 1));
      ++result_->counts["sizes asked"];
      if (first) {
        RecordOrder(question, answer, choices_[question.Name()], result_);
        answers_.push_back(std::move(answer));
        continue;
      }
      // Once it failed, there is nothing to compare with.
      if (!answers_[i].why.empty()) continue;
      const std::string difference =
          answer.why.empty() ? DiffOrders(answers_[i].orders, answer.orders) : answer.why;
      if (difference.empty()) continue;
      MarkUnstable(question, answers_[i]);
      result_->notes.push_back(
          fmt::format("{}: in a communicator {}: {}", question.Name(), history, difference));
    }
    return {};
  }

 private:
  // The case of its choice, and those of its trees.
  void MarkUnstable(const Question& question, const Answer& answer) {
    result_->unstable.push_back(question.Name());
    for (std::size_t i = 0; i < answer.orders.orders.size(); ++i) {
      result_->unstable.push_back(question.NameOfOrder(i));
    }
  }

  Status Choose(const Communicator& world) {
    for (const TypeOfRanks& type : kRankTypes) {
      ASSIGN_OR_RETURN(const auto questions, Questions(ranks_, world, type, reduce_, &choices_));
      questions_.insert(questions_.end(), questions.begin(), questions.end());
    }
    return {};
  }

  const ProbeContext& context_;
  const NcclRanks& ranks_;
  MaskedReduce* reduce_;
  ProbeResult* result_;
  std::vector<Question> questions_;
  std::vector<Answer> answers_;
  std::map<std::string, Json> choices_;
};

Result<ProbeResult> MeasureNcclTree(const ProbeContext& context) {
  ASSIGN_OR_RETURN(const auto ranks, NcclRanks::Open(context));
  ProbeResult result;
  result.parameters.Set("collective", "all_reduce").Set("most_bytes", kMostTreeBytes);
  ranks->Describe(&result);
  if (ranks->size() < 2) {
    RETURN_IF_ERROR(RunOneRank(*ranks, &result));
    return result;
  }
  if (ranks->size() == 2) result.notes.push_back("two ranks have but one order of addition");
  ASSIGN_OR_RETURN(const auto reduce, MaskedReduce::Create(*ranks));
  Asker asker(context, *ranks, reduce.get(), &result);
  const auto measure = [&](const std::string& history, const Communicator& world) {
    return asker.Measure(history, world);
  };
  RETURN_IF_ERROR(ForEachHistory(*ranks, measure, &result));
  return result;
}

ProbeResult RunNcclTree(const ProbeContext& context) {
  return Finish(MeasureNcclTree(context), Shows::kChoices);
}

const RegisterProbe kNcclTreeProbe(
    {.name = "nccl_tree",
     .family = "collective",
     .summary = "order in which NCCL's all-reduce adds ranks, by offset",
     .device = ProbeDevice::kGpu,
     .run = RunNcclTree,
     .limit = std::chrono::seconds(600)});

}  // namespace
}  // namespace rharness
