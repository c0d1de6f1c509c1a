// Arithmetic that is known from the routine's text is found, and with the tree it predicts bits.
#include "probes/order/products.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <functional>
#include <random>

#include "probes/order/at.h"
#include "probes/order/reveal.h"

namespace rharness {
namespace {

template <class T>
using Dot = std::function<T(std::span<const T> a, std::span<const T> b)>;

template <class T>
class DotSum final : public ProductSum<T>, public MaskedSum {
 public:
  DotSum(int n, Dot<T> dot) : n_(n), dot_(std::move(dot)) {}
  int size() const override { return n_; }
  int max_batch() const override { return 1; }
  Status Sum(std::span<const T> rows, std::span<const T> b, std::span<T> results) override {
    results[0] = dot_(rows, b);
    return {};
  }
  Status Count(std::span<const MaskPair> pairs, UnitRange units,
               std::span<double> counts) override {
    constexpr T kMask = std::numeric_limits<T>::max() / 2 + 1;
    std::vector<T> a(At(n_), T(0)), ones(At(n_), T(1));
    std::fill(a.begin() + units.begin, a.begin() + units.end, T(1));
    a[At(pairs[0].plus)] = kMask, a[At(pairs[0].minus)] = -kMask;
    counts[0] = static_cast<double>(dot_(a, ones));
    return {};
  }

 private:
  int n_;
  Dot<T> dot_;
};

struct Seen {
  SumTree tree;
  Arithmetic arithmetic;
};

template <class T>
Seen See(int n, const Dot<T>& dot) {
  DotSum<T> sum(n, dot);
  auto revealed = RevealTree(sum);
  if (!revealed.ok() || !revealed->tree) Abort(revealed->why);
  auto found = FindArithmetic<T>(sum, *revealed->tree);
  if (!found.ok() || !found->arithmetic) Abort(found->why);
  return {*revealed->tree, *found->arithmetic};
}

template <class T>
int Predicted(const Seen& seen, const Dot<T>& dot, int inputs) {
  std::mt19937 random(11);
  std::normal_distribution<T> normal;
  int predicted = 0;
  for (int input = 0; input < inputs; ++input) {
    std::vector<T> a(At(seen.tree.leaves())), b(a.size());
    for (T& x : a) x = normal(random);
    for (T& x : b) x = normal(random);
    const T told = ReplayProducts<T>(seen.tree, seen.arithmetic, a, b);
    predicted += told == dot(a, b) ? 1 : 0;
  }
  return predicted;
}

// The compiler may not fuse what is written apart.
template <class T>
T Rounded(T a, T b) {
  const volatile T product = a * b;
  return product;
}

template <class T>
T Apart(std::span<const T> a, std::span<const T> b) {
  T sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += Rounded(a[i], b[i]);
  return sum;
}

template <class T>
T Fused(std::span<const T> a, std::span<const T> b) {
  T sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum = std::fma(a[i], b[i], sum);
  return sum;
}

// As OpenBLAS 0.3.21 does it for Haswell (kernel/x86_64/sdot.c): blocks of 8 fused, what is left
// over in double, of products that are rounded, and the two parts joined in double.
float WithATailInDouble(std::span<const float> a, std::span<const float> b) {
  std::array<float, 8> lanes{};
  const std::size_t whole = a.size() / 8 * 8;
  for (std::size_t i = 0; i < whole; ++i) lanes[i % 8] = std::fma(a[i], b[i], lanes[i % 8]);
  double tail = 0.0;
  for (std::size_t i = whole; i < a.size(); ++i) tail += static_cast<double>(Rounded(a[i], b[i]));
  const float body = ((lanes[0] + lanes[1]) + (lanes[2] + lanes[3])) +
                     ((lanes[4] + lanes[5]) + (lanes[6] + lanes[7]));
  return static_cast<float>(tail + static_cast<double>(body));
}

// Products and sums in double, rounded once.
float AllInDouble(std::span<const float> a, std::span<const float> b) {
  double sum = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += static_cast<double>(a[i]) * b[i];
  return static_cast<float>(sum);
}

template <class T>
void ExpectSeen(int n, const Dot<T>& dot, const std::string& products, const std::string& sums) {
  const Seen seen = See<T>(n, dot);
  EXPECT_EQ(seen.arithmetic.ProductsName(seen.tree), products);
  EXPECT_EQ(seen.arithmetic.SumsName(), sums);
  EXPECT_EQ(Predicted<T>(seen, dot, 300), 300) << products;
}

TEST(Products, AreSeenToBeRoundedOrFused) {
  ExpectSeen<float>(60, Apart<float>, "products rounded", "sums rounded");
  ExpectSeen<double>(60, Apart<double>, "products rounded", "sums rounded");
  ExpectSeen<float>(60, Fused<float>, "products fused", "sums rounded");
  ExpectSeen<double>(60, Fused<double>, "products fused", "sums rounded");
}

TEST(Products, OfAFusedChainBeginWithOneThatIsRounded) {
  const Seen seen = See<float>(60, Fused<float>);
  EXPECT_EQ(seen.arithmetic.Products(), "1r 59f");
  EXPECT_EQ(seen.arithmetic.Sums(), "59t");
}

TEST(Products, AreSeenInADoubleAccumulator) {
  ExpectSeen<float>(60, AllInDouble, "products fused", "58 of 59 sums kept wider");
  ExpectSeen<float>(44, WithATailInDouble, "products fused, rounded for terms 40-43",
                    "3 of 43 sums kept wider");
  // Shorter than a block: all of it is the tail.
  ExpectSeen<float>(7, WithATailInDouble, "products rounded", "5 of 6 sums kept wider");
}

// The order alone does not predict: the same tree with any other arithmetic gives other bits.
TEST(Products, MatterForTheBits) {
  Seen seen = See<float>(44, WithATailInDouble);
  seen.arithmetic.wide.assign(seen.arithmetic.wide.size(), false);
  EXPECT_LT(Predicted<float>(seen, WithATailInDouble, 300), 270);
  Seen fused = See<float>(60, Fused<float>);
  fused.arithmetic.exact.assign(fused.arithmetic.exact.size(), false);
  EXPECT_LT(Predicted<float>(fused, Fused<float>, 300), 200);
}

TEST(Products, AreNotExplainedByAnAnswerThatFitsNeither) {
  int calls = 0;
  DotSum<float> sum(4, [&](std::span<const float> a, std::span<const float> b) {
    return Apart<float>(a, b) + static_cast<float>(++calls);
  });
  const auto found = FindArithmetic<float>(sum, SumTree::Build(4, {{0, 1, 2, 3}}).value());
  ASSERT_TRUE(found.ok());
  EXPECT_TRUE(found->arithmetic);  // of a wide node nothing is asked
  const auto binary =
      FindArithmetic<float>(sum, SumTree::Build(4, {{0, 1}, {4, 2}, {5, 3}}).value());
  ASSERT_TRUE(binary.ok());
  EXPECT_FALSE(binary->arithmetic);
  EXPECT_NE(binary->why.find("asked about the product of term 0"), std::string::npos)
      << binary->why;
}

}  // namespace
}  // namespace rharness
