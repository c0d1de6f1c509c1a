// The trees that our kernels must have, against the kernels' arithmetic done here.
#include "probes/gpu/reduce_tree.h"

#include <gtest/gtest.h>

#include <cmath>

#include "probes/order/reveal.h"

namespace rharness {
namespace {

// What reduce_rows computes, with its zero starts and its idle lanes.
class RowsOnHost : public MaskedSum {
 public:
  explicit RowsOnHost(int n) : n_(n) {}
  int size() const override { return n_; }
  Status Count(std::span<const MaskPair> pairs, UnitRange units,
               std::span<double> counts) override {
    std::vector<float> row(static_cast<std::size_t>(n_), 0.0F);
    for (int i = units.begin; i < units.end; ++i) row[static_cast<std::size_t>(i)] = 1.0F;
    row[static_cast<std::size_t>(pairs[0].plus)] = std::ldexp(1.0F, 120);
    row[static_cast<std::size_t>(pairs[0].minus)] = -std::ldexp(1.0F, 120);
    std::vector<float> threads(256, 0.0F), warps(32, 0.0F);
    for (std::size_t i = 0; i < row.size(); ++i) threads[i % 256] += row[i];
    for (std::size_t warp = 0; warp < 8; ++warp) {
      warps[warp] =
          ShuffleDown(std::vector<float>(threads.begin() + static_cast<long>(32 * warp),
                                         threads.begin() + static_cast<long>(32 * warp + 32)),
                      16);
    }
    counts[0] = static_cast<double>(ShuffleDown(warps, 4));
    return {};
  }

 private:
  static float ShuffleDown(std::vector<float> lanes, std::size_t offset) {
    for (; offset > 0; offset /= 2) {
      const std::vector<float> before = lanes;
      for (std::size_t i = 0; i < 32; ++i) {
        lanes[i] = before[i] + before[i + offset < 32 ? i + offset : i];
      }
    }
    return lanes[0];
  }
  int n_;
};

// A kernel's arithmetic, as a function of a row.
class RowOnHost : public MaskedSum {
 public:
  using Function = float (*)(const std::vector<float>& row);
  RowOnHost(int n, Function function) : n_(n), function_(function) {}
  int size() const override { return n_; }
  Status Count(std::span<const MaskPair> pairs, UnitRange units,
               std::span<double> counts) override {
    std::vector<float> row(static_cast<std::size_t>(n_), 0.0F);
    for (int i = units.begin; i < units.end; ++i) row[static_cast<std::size_t>(i)] = 1.0F;
    row[static_cast<std::size_t>(pairs[0].plus)] = std::ldexp(1.0F, 120);
    row[static_cast<std::size_t>(pairs[0].minus)] = -std::ldexp(1.0F, 120);
    counts[0] = static_cast<double>(function_(row));
    return {};
  }

 private:
  int n_;
  Function function_;
};

// Every lane takes the one whose number differs in one bit, from the highest bit down.
float ShuffleXor(std::vector<float> lanes, std::size_t offset) {
  for (; offset > 0; offset /= 2) {
    const std::vector<float> before = lanes;
    for (std::size_t i = 0; i < lanes.size(); ++i) lanes[i] = before[i] + before[i ^ offset];
  }
  return lanes[0];
}

// What layer_norm_rows computes.
float LayerNormOnHost(const std::vector<float>& row) {
  std::vector<float> threads(256, 0.0F), warps(32, 0.0F);
  for (std::size_t i = 0; i < row.size(); i += 4) {
    threads[i / 4 % 256] += (row[i] + row[i + 1]) + (row[i + 2] + row[i + 3]);
  }
  for (std::size_t warp = 0; warp < 8; ++warp) {
    const auto first = threads.begin() + static_cast<long>(32 * warp);
    warps[warp] = ShuffleXor(std::vector<float>(first, first + 32), 16);
  }
  return ShuffleXor(warps, 4);
}

// What softmax_rows computes.
float SoftmaxOnHost(const std::vector<float>& row) {
  std::vector<float> shared(256, 0.0F);
  for (std::size_t i = 0; i < row.size(); ++i) shared[i % 256] += row[i];
  for (std::size_t half = 128; half > 0; half /= 2) {
    for (std::size_t i = 0; i < half; ++i) shared[i] += shared[i + half];
  }
  return shared[0];
}

TEST(LayerNormTree, IsTheOrderOfTheKernelsArithmetic) {
  for (const int n : {1024, 3072}) {
    RowOnHost sum(n, LayerNormOnHost);
    const auto revealed = RevealTree(sum);
    ASSERT_TRUE(revealed.ok());
    ASSERT_TRUE(revealed->tree.has_value()) << revealed->why;
    EXPECT_TRUE(*revealed->tree == *LayerNormTree(n)) << n;
  }
  EXPECT_FALSE(LayerNormTree(1026).ok());
  EXPECT_FALSE(LayerNormTree(1020).ok());
}

TEST(SoftmaxTree, IsTheOrderOfTheKernelsArithmetic) {
  for (const int n : {256, 768, 1000}) {
    RowOnHost sum(n, SoftmaxOnHost);
    const auto revealed = RevealTree(sum);
    ASSERT_TRUE(revealed.ok());
    ASSERT_TRUE(revealed->tree.has_value()) << revealed->why;
    EXPECT_TRUE(*revealed->tree == *SoftmaxTree(n)) << n;
  }
  EXPECT_FALSE(SoftmaxTree(255).ok());
}

TEST(RowsTree, IsTheOrderOfTheKernelsArithmetic) {
  for (const int n : {256, 1024}) {
    RowsOnHost sum(n);
    const auto revealed = RevealTree(sum);
    ASSERT_TRUE(revealed.ok());
    ASSERT_TRUE(revealed->tree.has_value()) << revealed->why;
    EXPECT_TRUE(*revealed->tree == *RowsTree(n)) << n;
  }
}

TEST(RowsTree, RefusesSizesThatLeaveThreadsIdle) {
  EXPECT_FALSE(RowsTree(0).ok());
  EXPECT_FALSE(RowsTree(255).ok());
  EXPECT_FALSE(RowsTree(257).ok());
}

TEST(SerialTree, IsSequential) {
  EXPECT_EQ(SerialTree(4)->Canonical(), "(((0 1) 2) 3)");
  EXPECT_EQ(SerialTree(1)->leaves(), 1);
}

}  // namespace
}  // namespace rharness
