// How many questions a tree costs, and how many launches when they go in batches: exact counts.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "probes/order/reveal.h"
#include "tests/probes/order/routines.h"

namespace rharness {
namespace {

using routines::TreeOf;

// Answers out of a known tree, with units everywhere: not made for the blocks of a validation.
class KnownTree final : public MaskedSum {
 public:
  KnownTree(const SumTree& tree, int batch) : tree_(tree), batch_(batch) {}
  int size() const override { return tree_.leaves(); }
  int max_batch() const override { return batch_; }
  Status Count(std::span<const MaskPair> pairs, UnitRange, std::span<double> counts) override {
    for (std::size_t k = 0; k < pairs.size(); ++k) {
      counts[k] = tree_.leaves() - tree_.LeavesUnderCommonAncestor(pairs[k].plus, pairs[k].minus);
    }
    return {};
  }

 private:
  const SumTree& tree_;
  int batch_;
};

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
  for (const int n : {4, 100, 1024, 5000, 16'384}) {
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
  for (const int n : {100, 1024, 16'384}) {
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

}  // namespace
}  // namespace rharness
