// How many questions a tree costs, and how many launches when they go in batches: exact counts.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "probes/order/replay.h"
#include "probes/order/reveal.h"
#include "tests/probes/order/known_tree.h"
#include "tests/probes/order/routine_sum.h"
#include "tests/probes/order/routines.h"

namespace rharness {
namespace {

using routines::TreeOf;

struct Named {
  std::string name;
  SumTree tree;
};

std::vector<Named> TestSet(int n) {
  std::vector<Named> set;
  const auto add = [&](const std::string& name, auto routine) {
    set.push_back({fmt::format("{} of {}", name, n), TreeOf(n, routine)});
  };
  add("sequential", [](auto x) { return routines::Sequential(x); });
  add("reversed", [](auto x) { return routines::Reversed(x); });
  add("pairwise", [](auto x) { return routines::Pairwise(x); });
  add("NumPy", [](auto x) { return routines::NumpySum(x); });
  for (const std::size_t k : {2U, 4U, 8U, 32U, 128U}) {
    add(fmt::format("{}-way", k), [k](auto x) { return routines::Strided(x, k); });
    add(fmt::format("blocks of {}", k), [k](auto x) { return routines::Blocks(x, k, true); });
    add(fmt::format("split-K {}", k), [k](auto x) { return routines::SplitK(x, k); });
  }
  return set;
}

TEST(RevealCounts, AsksAtMostHalfNLogNPlusTwoNQuestions) {
  for (const int n : {4, 100, 1024, 3000, 4096}) {
    for (const Named& one : TestSet(n)) {
      KnownTree sum(one.tree, 1);
      const auto revealed = RevealTree(sum, {.repeats = 0, .validate_pairs = 0});
      ASSERT_TRUE(revealed.ok() && revealed->tree) << one.name;
      EXPECT_EQ(*revealed->tree, one.tree) << one.name;
      EXPECT_LE(static_cast<double>(revealed->probes), n / 2.0 * std::log2(n) + 2.0 * n)
          << one.name;
      EXPECT_EQ(revealed->launches, revealed->probes) << one.name;
    }
  }
}

TEST(RevealCounts, NeedsAtMostTwoLogNPlusFourLaunchesABatchRow) {
  for (const int n : {100, 1024, 4096}) {
    for (const int batch : {64, 1024}) {
      for (const Named& one : TestSet(n)) {
        KnownTree sum(one.tree, batch);
        const auto revealed = RevealTree(sum, {.repeats = 0, .validate_pairs = 0});
        ASSERT_TRUE(revealed.ok() && revealed->tree) << one.name;
        EXPECT_LE(static_cast<double>(revealed->launches),
                  (2 * std::log2(n) + 4) * std::ceil(static_cast<double>(n) / batch))
            << one.name << " in batches of " << batch;
      }
    }
  }
}

TEST(RevealCounts, NeedsExactlyHalfNLogNForAPairwiseTree) {
  // Any pivot of a balanced tree: T(n) = n - 1 + T(n/2) + T(n/4) + ... + T(2) = (n/2) log2 n.
  for (const int n : {2, 16, 1024}) {
    const SumTree tree = TreeOf(n, [](auto x) { return routines::Pairwise(x); });
    KnownTree sum(tree, 1);
    EXPECT_EQ(RevealTree(sum, {.repeats = 0, .validate_pairs = 0})->probes,
              static_cast<std::uint64_t>(n / 2 * std::lround(std::log2(n))));
  }
}

template <class Routine>
Revealed Reveal(int n, Routine routine, bool packs) {
  routines::RoutineSum<float> sum(n, routine, 0x1p127F);
  if (!packs) sum.OneByOne();
  auto revealed = RevealTree(sum, {.repeats = 0, .validate_pairs = 0});
  EXPECT_TRUE(revealed.ok() && revealed->tree) << n;
  return revealed.ok() ? std::move(*revealed) : Revealed();
}

TEST(RevealPacked, HalvesTheSumsForBalancedTreesAndFindsTheSame) {
  for (const auto& [n, routine] :
       std::vector<std::pair<int, std::function<float(std::span<const float>)>>>{
           {1024, [](auto x) { return routines::Pairwise(x); }},
           {1024, [](auto x) { return routines::NumpySum(x); }},
           {1000, [](auto x) { return routines::Strided(x, 32); }}}) {
    const Revealed packed = Reveal(n, routine, true), single = Reveal(n, routine, false);
    EXPECT_EQ(packed.tree, single.tree);
    EXPECT_LT(packed.probes, single.probes * 6 / 10) << n;
  }
}

TEST(RevealPacked, AsksNoMoreWhereThereIsNothingToPack) {
  for (const auto routine : {&routines::Sequential<float>, &routines::Reversed<float>}) {
    EXPECT_EQ(Reveal(300, routine, true).probes, Reveal(300, routine, false).probes);
  }
}

TEST(RevealPacked, FindsRandomTrees) {
  for (unsigned seed = 1; seed <= 40; ++seed) {
    const int n = 3 + static_cast<int>(seed) * 5;
    const auto routine = [seed](auto x) { return routines::Random(x, seed); };
    EXPECT_EQ(Reveal(n, routine, true).tree, TreeOf(n, routine)) << seed;
  }
}

// Blocks, each added by a chain of fused additions of `width` terms and the running sum; the
// blocks' sums in one fused addition. Fused: the masks' exponent swallows all terms beside them.
TEST(RevealPacked, AsksAgainWhereAFusedAdditionSwallowedAnotherGroup) {
  constexpr int kBlocks = 4, kBlock = 33, kWidth = 8;
  std::vector<std::vector<int>> inner;
  std::vector<int> tops;
  const int n = kBlocks * kBlock;
  for (int block = 0; block < kBlocks; ++block) {
    int below = block * kBlock;
    for (int at = 1; at < kBlock; at += kWidth) {
      std::vector<int> node = {below};
      for (int i = 0; i < kWidth; ++i) node.push_back(block * kBlock + at + i);
      inner.push_back(node);
      below = n + static_cast<int>(inner.size()) - 1;
    }
    tops.push_back(below);
  }
  inner.push_back(tops);
  const SumTree tree = SumTree::Build(n, inner).value();
  const auto fused = [&](std::span<const float> x) { return ReplaySum<float>(tree, x); };
  const Revealed packed = Reveal(n, fused, true), single = Reveal(n, fused, false);
  ASSERT_TRUE(packed.tree);
  EXPECT_EQ(*packed.tree, tree);
  EXPECT_EQ(packed.tree, single.tree);
  EXPECT_LT(packed.probes, single.probes * 3 / 2);
}

}  // namespace
}  // namespace rharness
