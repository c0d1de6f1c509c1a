// Names, differences in words, and drawings of orders.
#include "probes/order/tree_name.h"

#include <gtest/gtest.h>

#include "tests/probes/order/routines.h"

namespace rharness {
namespace {

using routines::TreeOf;

template <class Routine>
std::string NameFor(int n, Routine routine) {
  return NameOf(TreeOf(n, routine));
}

TEST(TreeName, NamesTheStructureOfTheTestSet) {
  EXPECT_EQ(NameFor(1, [](auto x) { return x[0]; }), "one term");
  EXPECT_EQ(NameFor(30, [](auto x) { return routines::Sequential(x); }), "sequential");
  EXPECT_EQ(NameFor(30, [](auto x) { return routines::Reversed(x); }), "reversed");
  EXPECT_EQ(NameFor(30, [](auto x) { return routines::Pairwise(x); }), "pairwise");
  EXPECT_EQ(NameFor(64, [](auto x) { return routines::Strided(x, 8); }),
            "8-way strided + pairwise");
  EXPECT_EQ(NameFor(65, [](auto x) { return routines::Strided(x, 3); }),
            "3-way strided + reversed");  // halves of 3 are 1 and 2
  EXPECT_EQ(NameFor(64, [](auto x) { return routines::SplitK(x, 4); }), "split-K 4 of sequential");
  EXPECT_EQ(NameFor(64, [](auto x) { return routines::Blocks(x, 8, true); }),
            "8 blocks of sequential + pairwise");
  EXPECT_TRUE(NameFor(64, [](auto x) { return routines::Random(x, 1); }).starts_with("irregular"));
}

TEST(TreeName, NamesFusedAdditions) {
  EXPECT_EQ(NameOf(SumTree::Build(4, {{0, 1, 2, 3}}).value()), "4-way");
  EXPECT_EQ(NameOf(SumTree::Build(9, {{0, 1, 2, 3}, {9, 4, 5, 6}, {10, 7, 8}}).value()),
            "(3+1)-way");
}

// Blocks of 32, 32, 18 and 18, as a product cuts its inner dimension; perhaps on an old value.
template <class T>
T Panels(std::span<const T> x, bool old_value) {
  const std::size_t skip = old_value ? 1 : 0;
  T sum = old_value ? x[0] : routines::Sequential(x.first(32));
  for (std::size_t at = old_value ? 0 : 32; at < 100;) {
    const std::size_t size = at < 64 ? 32 : 18;
    sum = sum + routines::Sequential(x.subspan(at + skip, size));
    at += size;
  }
  return sum;
}

TEST(TreeName, NamesPanelsOfUnequalLengthAndTheOldValueOfTheOutput) {
  EXPECT_EQ(NameFor(100, [](auto x) { return Panels(x, false); }), "split-K 4 of sequential");
  EXPECT_EQ(NameFor(101, [](auto x) { return Panels(x, true); }),
            "one term, then split-K 4 of sequential");
}

TEST(TreeName, NamesVectorLanesAndWhatTheyLeaveOver) {
  const auto fold = [](auto x) {
    const auto a = x[0] + x[4], b = x[1] + x[5], c = x[2] + x[6], d = x[3] + x[7];
    return (a + c) + (b + d);
  };
  EXPECT_EQ(NameFor(8, fold), "interleaved pairwise");
  const auto tail = [&](auto x) {
    auto sum = routines::Strided(x.first(96), 8);
    for (std::size_t i = 96; i < 99; ++i) sum = sum + x[i];
    return sum;
  };
  EXPECT_EQ(NameFor(99, tail), "8-way strided + pairwise, then 3 more");
  const auto apart = [&](auto x) {
    return routines::Strided(x.first(96), 8) + routines::Sequential(x.subspan(96));
  };
  EXPECT_EQ(NameFor(100, apart), "96 terms (8-way strided + pairwise) + 4 terms sequential");
}

TEST(TreeName, NamesRunningSumsOfWhichOneTakesTheRest) {
  const auto uneven = [](auto x, std::size_t ways, std::size_t more) {
    const std::size_t whole = x.size() - more;
    auto lanes = std::vector(x.begin(), x.begin() + static_cast<std::ptrdiff_t>(ways));
    for (std::size_t i = ways; i < whole; ++i) lanes[i % ways] = lanes[i % ways] + x[i];
    for (std::size_t i = whole; i < x.size(); ++i) lanes[0] = lanes[0] + x[i];
    return routines::Pairwise(std::span(std::as_const(lanes)));
  };
  EXPECT_EQ(NameFor(300, [&](auto x) { return uneven(x, 2, 4); }),
            "2-way strided (4 more in one) + sequential");
  EXPECT_EQ(NameFor(103, [&](auto x) { return uneven(x, 4, 7); }),
            "4-way strided (7 more in one) + pairwise");
  EXPECT_EQ(NameFor(501,
                    [&](auto x) {
                      const auto blocks = x.subspan(1);
                      return (x[0] + uneven(blocks.first(250), 2, 2)) +
                             uneven(blocks.subspan(250), 2, 2);
                    }),
            "one term, then split-K 2 of (2-way strided (2 more in one) + sequential)");
}

TEST(TreeName, NamesHalvesOfUnequalBlocks) {
  EXPECT_EQ(NameFor(1000, [](auto x) { return routines::NumpySum(x); }),
            "8 blocks of (8-way strided + pairwise) + pairwise");
  EXPECT_EQ(NameFor(1030, [](auto x) { return routines::NumpySum(x); }),
            "9 blocks of (8-way strided + pairwise) + pairwise");
}

TEST(TreeName, EndsForAnOrderThatIsTheSameAgainWithFewerTermsDownToTheLast) {
  // In turn one term and the sum of two join the running sum.
  constexpr int kLeaves = 301;
  std::vector<std::vector<int>> inner;
  const auto last = [&] { return kLeaves + static_cast<int>(inner.size()) - 1; };
  int sum = 0;
  for (int leaf = 1; leaf < kLeaves; leaf += 3) {
    inner.push_back({sum, leaf});
    inner.push_back({leaf + 1, leaf + 2});
    inner.push_back({last() - 1, last()});
    sum = last();
  }
  const std::string name = NameOf(SumTree::Build(kLeaves, std::move(inner)).value());
  EXPECT_NE(name.find("irregular"), std::string::npos) << name;
  EXPECT_LT(name.size(), 200U) << name;
}

TEST(TreeName, SaysWhatChangedBetweenTwoOrders) {
  const SumTree eight = TreeOf(64, [](auto x) { return routines::Strided(x, 8); });
  const SumTree sixteen = TreeOf(64, [](auto x) { return routines::Strided(x, 16); });
  EXPECT_EQ(DiffTrees(eight, eight).sentence, "");
  const TreeDifference difference = DiffTrees(eight, sixteen);
  EXPECT_EQ(difference.sentence, "was 8-way strided + pairwise, is 16-way strided + pairwise");
  EXPECT_FALSE(difference.same_shape);
  EXPECT_EQ(difference.first_a, 0);
  EXPECT_EQ(difference.first_b, 1);  // 16 terms before, 8 after
  EXPECT_GT(difference.moved_pairs, 0.5);
  EXPECT_LE(difference.moved_pairs, 1.0);
  EXPECT_EQ(DiffTrees(eight, SumTree::Build(1, {}).value()).sentence,
            "was a sum of 64 terms, is one of 1");
}

TEST(TreeName, SaysWhenOnlyThePlacesOfTermsChanged) {
  const SumTree up = TreeOf(10, [](auto x) { return routines::Sequential(x); });
  const SumTree down = TreeOf(10, [](auto x) { return routines::Reversed(x); });
  const TreeDifference difference = DiffTrees(up, down);
  EXPECT_TRUE(difference.same_shape);
  EXPECT_EQ(difference.sentence, "the same shape (reversed) with the terms in other places");
}

TEST(TreeName, SaysThatAdditionsGotWider) {
  const SumTree binary = TreeOf(4, [](auto x) { return routines::Sequential(x); });
  EXPECT_EQ(DiffTrees(binary, SumTree::Build(4, {{0, 1, 2, 3}}).value()).sentence,
            "was sequential, is 4-way; its widest addition takes 4 terms, was 2");
}

TEST(TreeName, DrawsSmallTreesWholeAndLargeOnesFromAbove) {
  const auto count = [](const std::string& text, std::string_view what) {
    int found = 0;
    for (auto at = text.find(what); at != text.npos; at = text.find(what, at + 1)) ++found;
    return found;
  };
  const SumTree small = TreeOf(16, [](auto x) { return routines::Pairwise(x); });
  const std::string drawn = DrawTree(small, "a");
  EXPECT_EQ(count(drawn, "<circle"), 16);
  EXPECT_EQ(count(drawn, "<path fill=\"none\""), 30);  // every node but the root hangs on another
  const SumTree large = TreeOf(4096, [](auto x) { return routines::Pairwise(x); });
  const std::string above = DrawTree(large, "b");
  EXPECT_EQ(count(above, "<circle"), 0);
  EXPECT_EQ(count(above, "terms: pairwise</title>"), 33);  // 32 triangles of 128 and the title
  EXPECT_LT(DrawTree(TreeOf(5000, [](auto x) { return routines::Sequential(x); }), "c").size(),
            100'000U);
}

}  // namespace
}  // namespace rharness
