// exp and log of digits_portable against the 64-bit significands of long double.
#include "scenarios/digits_portable/exp_log.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

namespace rharness::scenarios {
namespace {

constexpr int kDraws = 300'000;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

double ErrorInUlps(double value, long double exact) {
  const double rounded = std::fabs(static_cast<double>(exact));
  const double ulp = std::nextafter(rounded, kInfinity) - rounded;
  return static_cast<double>(std::fabs(static_cast<long double>(value) - exact) / ulp);
}

double WorstExp(double low, double high) {
  std::mt19937_64 engine(7);
  std::uniform_real_distribution<double> draw(low, high);
  double worst = 0;
  for (int i = 0; i < kDraws; ++i) {
    const double x = draw(engine);
    const double error = ErrorInUlps(PortableExp(x), std::exp(static_cast<long double>(x)));
    worst = std::max(worst, error);
  }
  return worst;
}

// The arguments are 2^e for e between the bounds.
double WorstLog(double low_exponent, double high_exponent) {
  std::mt19937_64 engine(7);
  std::uniform_real_distribution<double> draw(low_exponent, high_exponent);
  double worst = 0;
  for (int i = 0; i < kDraws; ++i) {
    const double x = std::exp2(draw(engine));
    const double error = ErrorInUlps(PortableLog(x), std::log(static_cast<long double>(x)));
    worst = std::max(worst, error);
  }
  return worst;
}

TEST(PortableExp, IsWithinOneUlpOfLongDouble) {
  ASSERT_GE(std::numeric_limits<long double>::digits, 64);
  EXPECT_LT(WorstExp(-708, 709), 1);
  EXPECT_LT(WorstExp(-30, 0), 1);
  EXPECT_LT(WorstExp(-0.35, 0.35), 1);
}

TEST(PortableExp, IsWithinOneUlpWhereTheResultIsSubnormal) { EXPECT_LT(WorstExp(-745, -708), 1); }

TEST(PortableExp, KeepsTheSpecialValues) {
  EXPECT_EQ(PortableExp(0), 1);
  EXPECT_EQ(PortableExp(kInfinity), kInfinity);
  EXPECT_EQ(PortableExp(-kInfinity), 0);
  EXPECT_EQ(PortableExp(709.785), kInfinity);
  EXPECT_EQ(PortableExp(-746), 0);
  EXPECT_TRUE(std::isnan(PortableExp(std::nan(""))));
}

TEST(PortableLog, IsWithinOneUlpOfLongDouble) {
  EXPECT_LT(WorstLog(-1022, 1023.9), 1);
  EXPECT_LT(WorstLog(0, 4), 1);
  EXPECT_LT(WorstLog(-0.01, 0.01), 1);
}

TEST(PortableLog, IsWithinOneUlpForSubnormalArguments) { EXPECT_LT(WorstLog(-1074, -1022), 1); }

TEST(PortableLog, KeepsTheSpecialValues) {
  EXPECT_EQ(PortableLog(1), 0);
  EXPECT_EQ(PortableLog(0), -kInfinity);
  EXPECT_EQ(PortableLog(kInfinity), kInfinity);
  EXPECT_TRUE(std::isnan(PortableLog(-1)));
  EXPECT_TRUE(std::isnan(PortableLog(std::nan(""))));
}

}  // namespace
}  // namespace rharness::scenarios
