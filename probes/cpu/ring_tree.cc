// All-reduce among threads, as a ring and as a tree: the collective without a network. In a ring
// the order depends on the place of an element, so every offset is tested and offsets of one order
// form a class.
#include <fmt/format.h>

#include <barrier>
#include <thread>

#include "probes/cpu/reveal_case.h"
#include "probes/order/tree_name.h"

namespace rharness {
namespace {

constexpr int kRanks = 4;
constexpr int kElements = 8;
constexpr int kChunk = kElements / kRanks;

using Buffers = std::vector<std::vector<float>>;
using Barrier = std::barrier<>;

float* ChunkOf(Buffers* buffers, int rank, int chunk) {
  const int wrapped = (chunk % kRanks + kRanks) % kRanks;
  return (*buffers)[static_cast<std::size_t>(rank)].data() + wrapped * kChunk;
}

// In every step each rank takes a chunk of its neighbour's: it adds it in the first round, and
// copies it in the second.
void RingRank(int rank, Buffers* buffers, Barrier* barrier) {
  const int from = (rank + kRanks - 1) % kRanks;
  for (int step = 0; step < 2 * (kRanks - 1); ++step) {
    const bool adds = step < kRanks - 1;
    const int chunk = adds ? from - step : from + 1 - (step - (kRanks - 1));
    float* own = ChunkOf(buffers, rank, chunk);
    const float* theirs = ChunkOf(buffers, from, chunk);
    for (int i = 0; i < kChunk; ++i) own[i] = adds ? own[i] + theirs[i] : theirs[i];
    barrier->arrive_and_wait();
  }
}

// Halves of the ranks add to the other half until rank 0 has all, then everybody copies it.
void TreeRank(int rank, Buffers* buffers, Barrier* barrier) {
  auto& own = (*buffers)[static_cast<std::size_t>(rank)];
  for (int distance = 1; distance < kRanks; distance *= 2) {
    if (rank % (2 * distance) == 0) {
      const auto& theirs = (*buffers)[static_cast<std::size_t>(rank + distance)];
      for (std::size_t i = 0; i < own.size(); ++i) own[i] += theirs[i];
    }
    barrier->arrive_and_wait();
  }
  if (rank != 0) own = (*buffers)[0];
}

using RankFunction = void(int rank, Buffers* buffers, Barrier* barrier);

// One element of the result, summed over ranks; all elements have the same question. The ranks'
// threads live as long as the object: starting them for each question takes most of the time.
class CollectiveSum final : public MaskedSum {
 public:
  CollectiveSum(RankFunction* function, int offset) : function_(function), offset_(offset) {
    for (int rank = 0; rank < kRanks; ++rank) {
      threads_.emplace_back([this, rank] { Serve(rank); });
    }
  }
  ~CollectiveSum() override {
    ended_ = true;
    between_.arrive_and_wait();
  }
  CollectiveSum(const CollectiveSum&) = delete;
  CollectiveSum& operator=(const CollectiveSum&) = delete;

  int size() const override { return kRanks; }
  Status Count(std::span<const MaskPair> pairs, UnitRange units,
               std::span<double> counts) override {
    for (std::size_t k = 0; k < pairs.size(); ++k) {
      std::vector<float> ranks(kRanks);
      FillMasked<float>(pairs[k], units, ranks);
      buffers_.clear();
      for (const float value : ranks) buffers_.emplace_back(kElements, value);
      between_.arrive_and_wait();  // the ranks start
      between_.arrive_and_wait();  // and have ended
      const auto at = static_cast<std::size_t>(offset_);
      for (const auto& buffer : buffers_) {
        if (buffer[at] != buffers_[0][at]) return IntegrityError("ranks hold different results");
      }
      counts[k] = static_cast<double>(buffers_[0][at]);
    }
    return {};
  }

 private:
  void Serve(int rank) {
    for (between_.arrive_and_wait(); !ended_; between_.arrive_and_wait()) {
      function_(rank, &buffers_, &steps_);
      between_.arrive_and_wait();
    }
  }

  RankFunction* function_;
  int offset_;
  Buffers buffers_;
  bool ended_ = false;  // written between two questions alone
  Barrier steps_{kRanks};
  Barrier between_{kRanks + 1};
  std::vector<std::jthread> threads_;  // the last member: joined before the others go
};

void AddClasses(const ProbeContext& context, const std::string& name, RankFunction* function,
                ProbeResult* result) {
  std::map<std::string, std::string> case_of;  // by canonical order
  Json classes = Json::MakeArray();
  for (int offset = 0; offset < kElements; ++offset) {
    ProbeResult one;
    CollectiveSum sum(function, offset);
    const std::string label = fmt::format("{} offset {}", name, offset);
    AddTree(context, label, sum, &one, 6);
    for (const auto& [key, count] : one.counts) result->counts[key] += count;
    result->notes.insert(result->notes.end(), one.notes.begin(), one.notes.end());
    result->unstable.insert(result->unstable.end(), one.unstable.begin(), one.unstable.end());
    if (one.status != ProbeStatus::kOk) {
      result->status = one.status, result->message = one.message;
    }
    for (auto& [label_of_one, tree] : one.trees) {
      const auto [known, is_new] = case_of.emplace(tree.Canonical(), label_of_one);
      classes.Append(known->second);
      if (is_new) result->trees.emplace(label_of_one, std::move(tree));
    }
  }
  result->choices[name] = Json::MakeObject({{"case_by_offset", std::move(classes)}});
}

ProbeResult RunRingTree(const ProbeContext& context) {
  ProbeResult result;
  result.parameters = Json::MakeObject({{"ranks", kRanks}, {"elements", kElements}});
  AddClasses(context, "ring", RingRank, &result);
  AddClasses(context, "tree", TreeRank, &result);
  return result;
}

const RegisterProbe kRingTreeProbe({.name = "ring_tree",
                                    .family = "collective",
                                    .summary = "order of ring and tree all-reduce among threads",
                                    .run = RunRingTree});

}  // namespace
}  // namespace rharness
