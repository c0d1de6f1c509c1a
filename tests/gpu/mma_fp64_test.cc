// Orders of the fp64 instruction against sums done by hand, and the reading of answers.
#include "probes/gpu/mma_fp64.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>

namespace rharness {
namespace {

const double kBig = std::ldexp(1.0, 60);

TEST(AddFp64, LosesWhatTheOrderLoses) {
  // 2^60 + 1 is 2^60: ones between the masks are lost, those after them are not.
  struct Row {
    std::array<double, 4> a;
    double rising, falling, pairs, one_rounding;
  };
  for (const Row& row : {Row{{kBig, 1, -kBig, 1}, 1, 0, 0, 2}, Row{{kBig, -kBig, 1, 1}, 2, 0, 2, 2},
                         Row{{1, 1, kBig, -kBig}, 0, 2, 2, 2}, Row{{kBig, 1, 1, -kBig}, 0, 0, 0, 2},
                         Row{{1, kBig, -kBig, 1}, 1, 1, 0, 2}}) {
    const Fp64Case one{"", row.a, {1, 1, 1, 1}, 0};
    EXPECT_EQ(AddFp64("fma rising", one), row.rising);
    EXPECT_EQ(AddFp64("fma falling", one), row.falling);
    EXPECT_EQ(AddFp64("rounded products rising", one), row.rising);
    EXPECT_EQ(AddFp64("pairs", one), row.pairs);
    EXPECT_EQ(AddFp64("one rounding", one), row.one_rounding);
  }
}

TEST(AddFp64, KeepsTheProductsLastBitOnlyWhenItIsFused) {
  // (2^30 + 1)^2 - 2^60 - 2^31 = 1.
  const double wide = std::ldexp(1.0, 30) + 1;
  const Fp64Case one{"", {wide}, {wide}, -kBig - std::ldexp(1.0, 31)};
  EXPECT_EQ(AddFp64("fma rising", one), 1);
  EXPECT_EQ(AddFp64("fma falling", one), 1);
  EXPECT_EQ(AddFp64("rounded products rising", one), 0);
  EXPECT_EQ(AddFp64("one rounding", one), 1);
}

std::vector<double> AnswersOf(const std::vector<Fp64Case>& cases, std::string_view order) {
  std::vector<double> answers;
  for (const Fp64Case& one : cases) answers.push_back(one.whole ? AddFp64(order, one) : 1.0);
  return answers;
}

TEST(ReadFp64Features, TellsEveryOrderFromEveryOther) {
  const std::vector<Fp64Case> cases = BuildFp64Cases();
  for (const std::string_view order : kFp64Orders) {
    const Json features = ReadFp64Features(cases, AnswersOf(cases, order));
    EXPECT_EQ(features.Find("order")->AsString(), order);
    EXPECT_TRUE(features.Find("subnormals")->AsBool());
  }
}

TEST(ReadFp64Features, KnowsNoOrderOfAnswersThatAreOffByOneUnit) {
  const std::vector<Fp64Case> cases = BuildFp64Cases();
  std::vector<double> answers = AnswersOf(cases, "fma rising");
  answers[3] += 1;
  EXPECT_EQ(ReadFp64Features(cases, answers).Find("order")->AsString(), "none known");
}

TEST(ReadFp64Features, SeesSubnormalsFlushedAndTheBitsOfNan) {
  const std::vector<Fp64Case> cases = BuildFp64Cases();
  std::vector<double> answers = AnswersOf(cases, "fma rising");
  for (std::size_t i = 0; i < cases.size(); ++i) {
    if (cases[i].name == "subnormal result") answers[i] = 0;
    if (cases[i].name == "not a number") answers[i] = std::numeric_limits<double>::quiet_NaN();
  }
  const Json features = ReadFp64Features(cases, answers);
  EXPECT_FALSE(features.Find("subnormals")->AsBool());
  EXPECT_EQ(features.Find("nan_bits")->AsString(), "0x7ff8000000000000");
}

TEST(Fp64Cases, HaveUniqueNamesAndStayWhereTheirSumsAreExact) {
  std::set<std::string> names;
  for (const Fp64Case& one : BuildFp64Cases()) {
    EXPECT_TRUE(names.insert(one.name).second) << one.name;
    if (!one.whole) continue;
    double most = std::fabs(one.c);
    for (std::size_t i = 0; i < 4; ++i) {
      EXPECT_EQ(one.a[i], std::trunc(one.a[i])) << one.name;
      EXPECT_EQ(one.b[i], std::trunc(one.b[i])) << one.name;
      most += std::fabs(one.a[i] * one.b[i]);
    }
    EXPECT_LT(most, std::ldexp(1.0, 120)) << one.name;
  }
}

TEST(PublishedFp64Order, IsOfDataCentreDevicesAlone) {
  EXPECT_EQ(PublishedFp64Order(80), "fma rising");
  EXPECT_EQ(PublishedFp64Order(90), "fma rising");
  EXPECT_EQ(PublishedFp64Order(89), "");
  EXPECT_EQ(PublishedFp64Order(120), "");
}

}  // namespace
}  // namespace rharness
