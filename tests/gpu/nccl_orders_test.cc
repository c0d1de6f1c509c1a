// Orders of ranks by offset, against rings and trees that are added here and whose orders are known
// in closed form.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "probes/gpu/rank_orders.h"

namespace rharness {
namespace {

// The sum of what ranks hold, for one element of n.
using Sum = std::function<float(const std::vector<float>& ranks, std::size_t i, std::size_t n)>;

// A ring: the sum of element i starts at the rank of its chunk and goes round.
float RingSum(const std::vector<float>& ranks, std::size_t i, std::size_t n) {
  const std::size_t start = i / (n / ranks.size());
  float sum = ranks[start];
  for (std::size_t step = 1; step < ranks.size(); ++step)
    sum += ranks[(start + step) % ranks.size()];
  return sum;
}

// Halves fold onto halves.
float TreeSum(std::vector<float> ranks, std::size_t, std::size_t) {
  for (std::size_t distance = 1; distance < ranks.size(); distance *= 2) {
    for (std::size_t r = 0; r + distance < ranks.size(); r += 2 * distance) {
      ranks[r] += ranks[r + distance];
    }
  }
  return ranks[0];
}

// A switch that adds all ranks at once, aligned to the largest: the rest is cut off.
float FusedSum(const std::vector<float>& ranks, std::size_t, std::size_t) {
  double exact = 0, largest = 0;
  for (const float rank : ranks) {
    exact += rank;
    largest = std::max(largest, std::fabs(static_cast<double>(rank)));
  }
  if (largest < 0x1p100) return static_cast<float>(exact);
  double masks = 0;
  for (const float rank : ranks) masks += std::fabs(rank) == largest ? rank : 0;
  return static_cast<float>(masks);
}

// A switch that loses nothing: masks cancel wherever they are, and all units are counted.
float ExactSum(const std::vector<float>& ranks, std::size_t, std::size_t) {
  double masks = 0, units = 0;
  for (const float rank : ranks) (std::fabs(rank) > 0x1p100F ? masks : units) += rank;
  return static_cast<float>(masks + units);
}

Result<OffsetOrders> OrdersOf(const Sum& sum, int ranks, std::size_t elements,
                              NumberType type = NumberType::kFp32) {
  std::vector<std::vector<LeafRun>> runs;
  for (const MaskPair& pair : RankPairs(ranks)) {
    std::vector<float> values;
    for (int rank = 0; rank < ranks; ++rank) values.push_back(MaskedValue(type, pair, rank));
    std::vector<float> result;
    for (std::size_t i = 0; i < elements; ++i) result.push_back(sum(values, i, elements));
    ASSIGN_OR_RETURN(auto of_pair, LeafRunsOf(EncodeAll(type, result), type, ranks));
    runs.push_back(std::move(of_pair));
  }
  return BuildOrders(ranks, runs);
}

TEST(RankOrders, PairsEveryTwoRanksOnce) {
  const auto pairs = RankPairs(3);
  ASSERT_EQ(pairs.size(), 3u);
  EXPECT_EQ(pairs[0].plus, 0);
  EXPECT_EQ(pairs[0].minus, 1);
  EXPECT_EQ(pairs[2].plus, 1);
  EXPECT_EQ(pairs[2].minus, 2);
  EXPECT_TRUE(RankPairs(1).empty());
  EXPECT_TRUE(RankPairs(0).empty());
}

TEST(RankOrders, OfARingTurnWithTheChunk) {
  const auto orders = OrdersOf(RingSum, 4, 32);
  ASSERT_TRUE(orders.ok());
  // The first two ranks of a sum have no order between them, so no two chunks are alike.
  const std::vector<std::string> expected = {"(((0 1) 2) 3)", "(0 ((1 2) 3))", "((0 (2 3)) 1)",
                                             "(((0 3) 1) 2)"};
  ASSERT_EQ(orders->orders.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    ASSERT_TRUE(orders->orders[i].tree.has_value()) << orders->orders[i].why;
    EXPECT_EQ(orders->orders[i].tree->Canonical(), expected[i]);
    EXPECT_EQ(orders->ranges[i], (OffsetRange{8 * i, 8 * i + 7, i}));
  }
}

TEST(RankOrders, OfATreeAreOneForAllOffsets) {
  for (const NumberType type : {NumberType::kFp32, NumberType::kBf16, NumberType::kFp16}) {
    const auto orders = OrdersOf(TreeSum, 8, 100, type);
    ASSERT_TRUE(orders.ok());
    ASSERT_EQ(orders->orders.size(), 1u) << NumberTypeName(type);
    ASSERT_TRUE(orders->orders[0].tree.has_value()) << orders->orders[0].why;
    EXPECT_EQ(orders->orders[0].tree->Canonical(), "(((0 1) (2 3)) ((4 5) (6 7)))");
    ASSERT_EQ(orders->ranges.size(), 1u);
    EXPECT_EQ(orders->ranges[0], (OffsetRange{0, 99, 0}));
  }
}

TEST(RankOrders, OfAFusedAdditionAreOneNode) {
  const auto orders = OrdersOf(FusedSum, 8, 4);
  ASSERT_TRUE(orders.ok());
  ASSERT_EQ(orders->orders.size(), 1u);
  ASSERT_TRUE(orders->orders[0].tree.has_value()) << orders->orders[0].why;
  EXPECT_EQ(orders->orders[0].tree->Canonical(), "(0 1 2 3 4 5 6 7)");
}

TEST(RankOrders, OfTwoRanksAreOneNode) {
  const auto orders = OrdersOf(RingSum, 2, 4);
  ASSERT_TRUE(orders.ok());
  ASSERT_EQ(orders->orders.size(), 1u);
  EXPECT_EQ(orders->orders[0].tree->Canonical(), "(0 1)");
}

TEST(RankOrders, HaveNoTreeWhenNothingIsSwallowed) {
  const auto orders = OrdersOf(ExactSum, 4, 4);
  ASSERT_TRUE(orders.ok());
  ASSERT_EQ(orders->orders.size(), 1u);
  EXPECT_FALSE(orders->orders[0].tree.has_value());
  EXPECT_NE(orders->orders[0].why.find("fit no tree"), std::string::npos) << orders->orders[0].why;
}

TEST(RankOrders, HaveNoTreeWhenAResultIsNoCount) {
  for (const float wrong : {0.5F, -1.0F, 3.0F, 0x1p120F, std::nanf("")}) {
    const auto orders =
        OrdersOf([&](const std::vector<float>& ranks, std::size_t i,
                     std::size_t n) { return i == 2 ? wrong : TreeSum(ranks, i, n); },
                 4, 4);
    ASSERT_TRUE(orders.ok());
    ASSERT_EQ(orders->orders.size(), 2u) << wrong;
    EXPECT_TRUE(orders->orders[0].tree.has_value());
    EXPECT_FALSE(orders->orders[1].tree.has_value());
    EXPECT_NE(orders->orders[1].why.find("no count of ranks"), std::string::npos);
    EXPECT_EQ(orders->ranges.size(), 3u);
  }
}

// Every answer is held against the tree, not only those that it was built from.
TEST(RankOrders, RefuseAnswersThatContradictOneAnother) {
  // By pairs (0 1) (0 2) (0 3) (1 2) (1 3) (2 3): the tree (((0 1) 2) 3), and each one changed.
  const std::vector<int> right = {2, 3, 4, 3, 4, 4};
  for (std::size_t changed = 0; changed <= right.size(); ++changed) {
    std::vector<std::vector<LeafRun>> runs;
    for (std::size_t k = 0; k < right.size(); ++k) {
      const int leaves = k != changed ? right[k] : right[k] == 4 ? 2 : 4;
      runs.push_back({{1, leaves}});
    }
    const auto orders = BuildOrders(4, runs);
    ASSERT_TRUE(orders.ok());
    EXPECT_EQ(orders->orders[0].tree.has_value(), changed == right.size()) << changed;
    EXPECT_EQ(orders->orders[0].why.empty(), changed == right.size()) << changed;
  }
}

TEST(RankOrders, RefuseRunsThatDoNotCoverTheSameElements) {
  EXPECT_EQ(BuildOrders(1, {}).error().code, ErrorCode::kInvalidInput);
  EXPECT_EQ(BuildOrders(2, {}).error().code, ErrorCode::kInvalidInput);
  EXPECT_EQ(BuildOrders(2, {{}}).error().code, ErrorCode::kInvalidInput);
  EXPECT_EQ(BuildOrders(3, {{{4, 2}}, {{5, 3}}, {{4, 3}}}).error().code, ErrorCode::kInvalidInput);
}

TEST(RankOrders, RefuseAnOrderThatChangesFromElementToElement) {
  std::vector<float> values(std::size_t{1} << 19);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 2);
  const auto runs = LeafRunsOf(EncodeAll(NumberType::kFp32, values), NumberType::kFp32, 4);
  ASSERT_FALSE(runs.ok());
  EXPECT_EQ(runs.error().code, ErrorCode::kUnsupported);
}

TEST(RankOrders, DescribeOffsetsInFullAndByDigest) {
  const auto few = OrdersOf(RingSum, 4, 8);
  ASSERT_TRUE(few.ok());
  const Json json = DescribeOffsets(*few);
  EXPECT_EQ(json.Find("orders")->Dump(), "4");
  EXPECT_EQ(json.Find("offsets")->Dump(),
            R"(["0..1: order 0","2..3: order 1","4..5: order 2","6..7: order 3"])");
  // The same four orders, taken in turns: more ranges than are listed.
  const auto many = OrdersOf([](const std::vector<float>& ranks, std::size_t i,
                                std::size_t) { return RingSum(ranks, i % 4, 4); },
                             4, 100);
  ASSERT_TRUE(many.ok());
  EXPECT_EQ(DescribeOffsets(*many).Find("orders")->Dump(), "4");
  EXPECT_EQ(DescribeOffsets(*many).Find("offsets")->AsArray().size(), 32u);
  EXPECT_NE(DescribeOffsets(*many).Find("offsets_sha256")->Dump(),
            json.Find("offsets_sha256")->Dump());
}

TEST(RankOrders, NameTheFirstOffsetWhoseOrderChanged) {
  const auto before = OrdersOf(RingSum, 4, 8);
  const auto after =
      OrdersOf([](const std::vector<float>& ranks, std::size_t i,
                  std::size_t n) { return i < 5 ? RingSum(ranks, i, n) : TreeSum(ranks, i, n); },
               4, 8);
  ASSERT_TRUE(before.ok() && after.ok());
  EXPECT_EQ(DiffOrders(*before, *before), "");
  EXPECT_EQ(DiffOrders(*before, *after), "offset 5 was ((0 (2 3)) 1), is ((0 1) (2 3))");
  EXPECT_NE(DiffOrders(*before, *OrdersOf(RingSum, 4, 4)), "");
}

TEST(RankOrders, NameTheFirstElementThatRanksHoldDifferently) {
  const std::vector<std::byte> a(12, std::byte{1});
  std::vector<std::byte> b = a;
  EXPECT_FALSE(FirstUnequal(a, b, 4).has_value());
  b[9] = std::byte{2};
  EXPECT_EQ(FirstUnequal(a, b, 4), 2u);
  EXPECT_EQ(FirstUnequal(a, b, 2), 4u);
}

}  // namespace
}  // namespace rharness
