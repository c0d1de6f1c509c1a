// Runs of equal counts, merged over all pairs, and the trees that they describe.
#include "probes/gpu/rank_orders.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>

#include "harness/base/digest.h"

namespace rharness {
namespace {

constexpr std::size_t kMostRuns = std::size_t{1} << 18;
constexpr std::size_t kMostListed = 32;

double UnitOf(NumberType type) { return type == NumberType::kFp16 ? 0x1p-24 : 1.0; }
double MaskOf(NumberType type) { return type == NumberType::kFp16 ? 0x1p15 : 0x1p120; }

// 0: no count of ranks outside of a pair.
int LeavesOf(double value, int ranks) {
  const bool whole = value >= 0 && value <= ranks - 2 && value == std::floor(value);
  return whole ? ranks - static_cast<int>(value) : 0;
}

// Answers that were read before, as the routine that RevealTree asks.
class RecordedSum final : public MaskedSum {
 public:
  RecordedSum(int ranks, const std::vector<int>& leaves) : ranks_(ranks), leaves_(leaves) {}
  int size() const override { return ranks_; }
  Status Count(std::span<const MaskPair> pairs, UnitRange, std::span<double> counts) override {
    for (std::size_t k = 0; k < pairs.size(); ++k) {
      const int a = std::min(pairs[k].plus, pairs[k].minus);
      const int b = std::max(pairs[k].plus, pairs[k].minus);
      const int leaves =
          leaves_[static_cast<std::size_t>(a * ranks_ - a * (a + 1) / 2 + b - a - 1)];
      counts[k] = leaves == 0 ? -1 : ranks_ - leaves;
    }
    return {};
  }

 private:
  int ranks_;
  const std::vector<int>& leaves_;
};

// Reveals the order from the answers, then checks the tree against every one of them.
Result<RankOrder> OrderOf(int ranks, const std::vector<int>& leaves) {
  RankOrder order{.leaves = leaves};
  const std::vector<MaskPair> pairs = RankPairs(ranks);
  for (std::size_t k = 0; k < pairs.size(); ++k) {
    if (leaves[k] != 0) continue;
    order.why = fmt::format("with masks on ranks {} and {} the sum was no count of ranks",
                            pairs[k].plus, pairs[k].minus);
    return order;
  }
  RecordedSum sum(ranks, leaves);
  ASSIGN_OR_RETURN(Revealed revealed, RevealTree(sum, {.validate_pairs = 0}));
  order.why = revealed.why;
  if (!revealed.tree) return order;
  for (std::size_t k = 0; k < pairs.size(); ++k) {
    const int expected = revealed.tree->LeavesUnderCommonAncestor(pairs[k].plus, pairs[k].minus);
    if (expected == leaves[k]) continue;
    order.why = fmt::format(
        "the answers fit no tree: ranks {} and {} meet over {} ranks, and the others say {}",
        pairs[k].plus, pairs[k].minus, leaves[k], expected);
    return order;
  }
  order.tree = std::move(revealed.tree);
  return order;
}

std::string TextOf(const RankOrder& order) {
  return order.tree ? order.tree->Canonical() : "no tree (" + order.why + ")";
}

std::string LineOf(const OffsetRange& range) {
  return fmt::format("{}..{}: order {}", range.first, range.last, range.order);
}

}  // namespace

std::vector<MaskPair> RankPairs(int ranks) {
  std::vector<MaskPair> pairs;
  for (int a = 0; a < ranks; ++a) {
    for (int b = a + 1; b < ranks; ++b) pairs.push_back({a, b});
  }
  return pairs;
}

float MaskedValue(NumberType type, MaskPair pair, int rank) {
  const double value = rank == pair.plus    ? MaskOf(type)
                       : rank == pair.minus ? -MaskOf(type)
                                            : UnitOf(type);
  return static_cast<float>(value);
}

Result<std::vector<LeafRun>> LeafRunsOf(const std::vector<std::byte>& result, NumberType type,
                                        int ranks) {
  std::vector<LeafRun> runs;
  const std::size_t width = BytesOf(type), elements = result.size() / width;
  for (std::size_t begin = 0; begin < elements;) {
    std::size_t end = begin + 1;
    const std::byte* first = result.data() + begin * width;
    while (end < elements && std::memcmp(first, result.data() + end * width, width) == 0) ++end;
    const int leaves = LeavesOf(ElementAt(type, result, begin) / UnitOf(type), ranks);
    if (!runs.empty() && runs.back().leaves == leaves) {
      runs.back().end = end;
    } else if (runs.size() == kMostRuns) {
      return Unsupported(
          fmt::format("the order changes more than {} times in {} elements", kMostRuns, elements));
    } else {
      runs.push_back({end, leaves});
    }
    begin = end;
  }
  return runs;
}

Result<OffsetOrders> BuildOrders(int ranks, const std::vector<std::vector<LeafRun>>& runs) {
  if (ranks < 2 || runs.size() != RankPairs(ranks).size()) {
    return InvalidInput(
        fmt::format("{} masked sums of {} ranks; expected one for each pair of two "
                    "ranks or more",
                    runs.size(), ranks));
  }
  const std::size_t elements = runs[0].empty() ? 0 : runs[0].back().end;
  for (const auto& of_pair : runs) {
    if (elements == 0 || of_pair.empty() || of_pair.back().end != elements) {
      return InvalidInput(fmt::format("a masked sum that does not cover {} elements", elements));
    }
  }
  OffsetOrders found;
  std::map<std::vector<int>, std::size_t> known;
  std::vector<std::size_t> at(runs.size(), 0);
  for (std::size_t begin = 0; begin < elements;) {
    std::size_t end = elements;
    std::vector<int> leaves;
    for (std::size_t k = 0; k < runs.size(); ++k) {
      while (runs[k][at[k]].end <= begin) ++at[k];
      end = std::min(end, runs[k][at[k]].end);
      leaves.push_back(runs[k][at[k]].leaves);
    }
    const auto [order, is_new] = known.emplace(leaves, found.orders.size());
    if (is_new) {
      ASSIGN_OR_RETURN(RankOrder made, OrderOf(ranks, leaves));
      found.orders.push_back(std::move(made));
    }
    found.ranges.push_back({begin, end - 1, order->second});
    begin = end;
  }
  return found;
}

Json DescribeOffsets(const OffsetOrders& orders) {
  Json listed = Json::MakeArray();
  std::string all;
  for (std::size_t i = 0; i < orders.ranges.size(); ++i) {
    const std::string line = LineOf(orders.ranges[i]);
    if (i < kMostListed) listed.Append(line);
    all += line + "\n";
  }
  return Json()
      .Set("orders", orders.orders.size())
      .Set("offsets", std::move(listed))
      .Set("offsets_sha256", Sha256HexOf(all));
}

std::string DiffOrders(const OffsetOrders& before, const OffsetOrders& after) {
  std::size_t i = 0, j = 0;
  while (i < before.ranges.size() && j < after.ranges.size()) {
    const OffsetRange &a = before.ranges[i], &b = after.ranges[j];
    const RankOrder &was = before.orders[a.order], &is = after.orders[b.order];
    if (was.leaves != is.leaves) {
      return fmt::format("offset {} was {}, is {}", std::max(a.first, b.first), TextOf(was),
                         TextOf(is));
    }
    if (a.last <= b.last) ++i;
    if (b.last <= a.last) ++j;
  }
  if (i == before.ranges.size() && j == after.ranges.size()) return {};
  return "the results are of different lengths";
}

std::optional<std::size_t> FirstUnequal(const std::vector<std::byte>& a,
                                        const std::vector<std::byte>& b,
                                        std::size_t element_bytes) {
  if (a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size()) == 0) return std::nullopt;
  const auto [in_a, in_b] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  return static_cast<std::size_t>(in_a - a.begin()) / element_bytes;
}

}  // namespace rharness
