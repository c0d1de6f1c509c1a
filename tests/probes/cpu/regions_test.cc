// Products whose outputs add in several orders: each region is found, revealed and predicted.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "probes/cpu/matrix_product.h"
#include "probes/cpu/reveal_case.h"
#include "tests/probes/cpu/probe_cases.h"

namespace rharness {
namespace {

using ::testing::HasSubstr;

enum class Kernel { kFused, kApart, kBackwards };

float Element(Kernel kernel, int m, int k, const float* a, const float* b) {
  float sum = 0.0F;
  for (int step = 0; step < k; ++step) {
    const int p = kernel == Kernel::kBackwards ? k - 1 - step : step;
    if (kernel == Kernel::kFused) {
      sum = std::fma(a[p * m], b[p], sum);
      continue;
    }
    const volatile float product = a[p * m] * b[p];
    sum += product;
  }
  return sum;
}

// A kernel by output, as edges of tiles have.
MatrixProduct<float> Tiled(const GemmShape& shape, Kernel (*kernel)(int row, int column)) {
  return {.shape = shape, .run = [=](const float* a, const float* b, float* c) {
            for (int j = 0; j < shape.n; ++j) {
              for (int i = 0; i < shape.m; ++i) {
                c[i + j * shape.m] =
                    Element(kernel(i, j), shape.m, shape.k, a + i, b + j * shape.k);
              }
            }
          }};
}

// Most are fused; the last two rows add backwards, and column 4 of the others rounds products.
Kernel Edges(int row, int column) {
  if (row >= 8) return Kernel::kBackwards;
  return column == 4 ? Kernel::kApart : Kernel::kFused;
}

TEST(Regions, AreOutputsOfEqualBits) {
  const auto product = Tiled({10, 6, 50}, Edges);
  const std::vector<Region> regions = FindRegions(product, 1);
  ASSERT_EQ(regions.size(), 3U);
  EXPECT_EQ(regions[0].size(), 40U);  // of the first output
  EXPECT_EQ(regions[1].size(), 12U);  // then the largest
  EXPECT_EQ(regions[2].size(), 8U);
  EXPECT_EQ(regions[1].front(), 8);
  EXPECT_EQ(regions[2].front(), 4 * 10);
  EXPECT_EQ(FindRegions(product, 9), regions) << "whatever the inputs";
}

TEST(Regions, AreRevealedAndPredictedOneByOne) {
  ProbeResult result;
  AddProduct<float>({.repeats = 2}, "edges", Tiled({10, 6, 50}, Edges), &result);
  ASSERT_EQ(result.status, ProbeStatus::kOk) << result.message;
  EXPECT_TRUE(result.notes.empty()) << result.notes.front();
  EXPECT_EQ(result.counts.at("outputs covered"), 60U);
  EXPECT_EQ(result.counts.at("inputs predicted"), 3 * 200U);
  EXPECT_EQ(TreeName(result, "edges"), "sequential");
  const Json& details = result.tree_details.at("edges");
  EXPECT_EQ(details.Find("arithmetic")->Find("products")->AsString(), "1r 49f");
  EXPECT_EQ(details.Find("outputs")->Dump(), "40");
  EXPECT_EQ(details.Find("all_outputs")->Dump(), "60");
  const Json::Array& others = details.Find("regions")->AsArray();
  ASSERT_EQ(others.size(), 2U);
  EXPECT_EQ(others[0].Find("row")->Dump(), "8");
  EXPECT_EQ(others[0].Find("name")->AsString(), "reversed");
  EXPECT_EQ(others[1].Find("column")->Dump(), "4");
  EXPECT_EQ(others[1].Find("arithmetic")->Find("name")->AsString(),
            "products rounded; sums rounded");
  EXPECT_EQ(others[1].Find("replayed")->Dump(), R"({"inputs":200,"predicted":200})");
}

// Every addition rounds toward zero: the order shows, and the model is none of it.
float Truncating(std::span<const float> x) {
  float sum = 0.0F;
  for (const float term : x) {
    const double exact = static_cast<double>(sum) + static_cast<double>(term);
    const float nearest = static_cast<float>(exact);
    const bool away = std::fabs(static_cast<double>(nearest)) > std::fabs(exact);
    sum = away ? std::nextafter(nearest, 0.0F) : nearest;
  }
  return sum;
}

TEST(Regions, SayWhatTheirArithmeticDoesNotExplain) {
  ProbeResult result;
  AddTree<float>({.repeats = 1}, "truncating", 40, Truncating, &result);
  EXPECT_EQ(TreeName(result, "truncating"), "sequential");
  EXPECT_LT(result.counts.at("inputs predicted"), 100U);
  EXPECT_EQ(result.counts.at("inputs replayed"), 200U);
  ASSERT_EQ(result.notes.size(), 1U);
  EXPECT_THAT(result.notes[0], HasSubstr("truncating: not explained: "));
}

// Whichever thread comes first: a product whose order is not fixed.
TEST(Regions, ListACaseThatDoesNotRepeat) {
  int runs = 0;
  const auto steady = Tiled({4, 4, 30}, [](int, int) { return Kernel::kFused; });
  const auto backwards = Tiled({4, 4, 30}, [](int, int) { return Kernel::kBackwards; });
  const MatrixProduct<float> product{.shape = {4, 4, 30},
                                     .run = [&](const float* a, const float* b, float* c) {
                                       (++runs % 3 == 0 ? backwards : steady).run(a, b, c);
                                     }};
  ProbeResult result;
  AddProduct<float>({.repeats = 3}, "racing", product, &result);
  ASSERT_FALSE(result.unstable.empty());
  EXPECT_EQ(result.unstable.front(), "racing");
  EXPECT_TRUE(result.trees.empty());
  EXPECT_EQ(runs, 3) << "no question is asked of what has no answer";
}

Kernel Anywhere(int row, int column) {
  return (row * 7 + column * 3) % 5 == 0 ? Kernel::kBackwards : Kernel::kFused;
}

TEST(Regions, NeedNotBeBlocks) {
  const std::vector<Region> regions = FindRegions(Tiled({9, 9, 40}, Anywhere), 2);
  ASSERT_EQ(regions.size(), 2U);
  for (const Region& region : regions) {
    for (const int output : region) {
      EXPECT_EQ(Anywhere(output % 9, output / 9), Anywhere(region[0] % 9, region[0] / 9));
    }
  }
}

}  // namespace
}  // namespace rharness
