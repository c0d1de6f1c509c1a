// The judge of properties: what is held, within, lost, and not to be told.
#include "harness/experiments/properties/property_judge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

namespace rharness {
namespace {

using ::testing::HasSubstr;

// Runs with one metric, the straight ones first: all pairs.
Pairs PairsOf(const std::vector<double>& values, const std::string& name = "loss") {
  Pairs pairs;
  for (std::size_t i = 0; i < values.size(); ++i) {
    for (std::size_t j = i + 1; j < values.size(); ++j) {
      const double distance = std::abs(values[i] - values[j]);
      pairs[{i, j}].push_back({.subject = "metric " + name,
                               .name = name,
                               .equal = distance == 0.0,
                               .distance = distance,
                               .words = "two values"});
    }
  }
  return pairs;
}

TEST(PropertyJudge, HoldsToTheBitWhatIsEqual) {
  const JudgedClaim judged = JudgeAgainstStraight(PairsOf({1, 1, 1}), 2, 1, {});
  EXPECT_EQ(judged.state, PropertyState::kHeld);
  EXPECT_THAT(judged.headline, HasSubstr("held to the bit in 1 thing"));
}

TEST(PropertyJudge, LosesWhatDiffersWhereStraightRunsDoNot) {
  const JudgedClaim judged = JudgeAgainstStraight(PairsOf({1, 1, 1.25}), 2, 1, {});
  EXPECT_EQ(judged.state, PropertyState::kLost);
  ASSERT_EQ(judged.reasons.size(), 1u);
  EXPECT_EQ(judged.reasons.front().distance, 0.25);
  EXPECT_FALSE(judged.reasons.front().margin.has_value());
  EXPECT_THAT(judged.headline, HasSubstr("claimed to the bit; 2 straight runs are equal in it"));
}

TEST(PropertyJudge, HoldsWithinAMarginAndNotBeyondIt) {
  const Within within{.metrics = {{"loss", 0.25}}, .tensors = {}};
  EXPECT_EQ(JudgeAgainstStraight(PairsOf({1, 1, 1.25}), 2, 1, within).state,
            PropertyState::kHeldWithin);
  EXPECT_EQ(JudgeAgainstStraight(PairsOf({1, 1, 1.5}), 2, 1, within).state, PropertyState::kLost);
  // Of another metric the margin says nothing.
  EXPECT_EQ(JudgeAgainstStraight(PairsOf({1, 1, 1.25}, "accuracy"), 2, 1, within).state,
            PropertyState::kLost);
}

TEST(PropertyJudge, HoldsCheckpointsByTheToleranceOfTensorsAlone) {
  Pairs pairs = PairsOf({1, 1, 1.25}, "");
  const Within tensors{.metrics = {{"loss", 1.0}}, .tensors = 0.25};
  EXPECT_EQ(JudgeAgainstStraight(pairs, 2, 1, tensors).state, PropertyState::kHeldWithin);
  pairs[{0, 2}].front().distance = std::numeric_limits<double>::infinity();
  EXPECT_EQ(JudgeAgainstStraight(pairs, 2, 1, tensors).state, PropertyState::kLost);
}

TEST(PropertyJudge, SaysHowManyRepeatsWouldTellWhereStraightRunsDiffer) {
  const JudgedClaim judged = JudgeAgainstStraight(PairsOf({1.0, 1.125, 9.0}), 2, 1, {});
  EXPECT_EQ(judged.state, PropertyState::kNotJudged);
  EXPECT_EQ(judged.repeats, 4);
  EXPECT_THAT(judged.headline, HasSubstr("2 straight runs lie up to 0.125 apart themselves"));
  EXPECT_THAT(judged.headline, HasSubstr("4 repeats of each would decide"));
}

TEST(PropertyJudge, TellsALossFromNoiseWithEnoughRepeats) {
  const Pairs far = PairsOf({1.0, 1.1, 1.2, 1.3, 9.0, 9.1, 9.2, 9.3});
  const JudgedClaim lost = JudgeAgainstStraight(far, 4, 4, {});
  EXPECT_EQ(lost.state, PropertyState::kLost);
  EXPECT_THAT(lost.headline, HasSubstr("0.029 of cases"));  // 2 of the 70 ways
  const Pairs mixed = PairsOf({1.0, 1.2, 1.4, 1.6, 1.1, 1.3, 1.5, 1.7});
  const JudgedClaim open = JudgeAgainstStraight(mixed, 4, 4, {});
  EXPECT_EQ(open.state, PropertyState::kNotJudged);
  EXPECT_EQ(open.repeats, 0);
  EXPECT_THAT(open.headline, HasSubstr("no further from them"));
}

TEST(PropertyJudge, DoesNotCallAShiftWithinTheMarginALoss) {
  const Within within{.metrics = {{"loss", 8.0}}, .tensors = {}};
  const Pairs far = PairsOf({1.0, 1.1, 1.2, 1.3, 9.0, 9.1, 9.2, 8.0});
  // Shown to be shifted, and some pair beyond the margin, but not on average.
  EXPECT_EQ(JudgeAgainstStraight(far, 4, 4, within).state, PropertyState::kNotJudged);
}

TEST(PropertyJudge, ComparesNothingWithASecondStraightRunThatIsNotThere) {
  const JudgedClaim judged = JudgeAgainstStraight(PairsOf({1, 2}), 1, 1, {});
  EXPECT_EQ(judged.state, PropertyState::kNotJudged);
  EXPECT_THAT(judged.headline, HasSubstr("a second straight run"));
}

TEST(PropertyJudge, JudgesNothingByNothing) {
  EXPECT_EQ(JudgeAgainstStraight({}, 2, 1, {}).state, PropertyState::kNotJudged);
  EXPECT_EQ(JudgeAmongThemselves({{{0, 1}, {}}}, {}).state, PropertyState::kNotJudged);
}

// A thing that only straight runs have between them, or only legs with one of them.
TEST(PropertyJudge, DecidesNothingOfAThingThatWasNotComparedOnBothSides) {
  Pairs pairs = PairsOf({1, 1, 1});
  pairs[{0, 1}].push_back(
      {.subject = "weights x", .name = {}, .equal = false, .distance = 1, .words = "w"});
  JudgedClaim judged = JudgeAgainstStraight(pairs, 2, 1, {});
  EXPECT_EQ(judged.state, PropertyState::kNotJudged);
  EXPECT_THAT(judged.headline, HasSubstr("no leg was compared with a straight run"));
  pairs = PairsOf({1, 1, 1});
  pairs[{1, 2}].push_back(
      {.subject = "weights x", .name = {}, .equal = false, .distance = 1, .words = "w"});
  judged = JudgeAgainstStraight(pairs, 2, 1, {});
  EXPECT_EQ(judged.state, PropertyState::kNotJudged);
}

TEST(PropertyJudge, LosesAmongThemselvesWhateverTheNoise) {
  EXPECT_EQ(JudgeAmongThemselves(PairsOf({1, 1}), {}).state, PropertyState::kHeld);
  EXPECT_EQ(JudgeAmongThemselves(PairsOf({1, 1, 2}), {}).state, PropertyState::kLost);
  const Within within{.metrics = {{"loss", 1.0}}, .tensors = {}};
  EXPECT_EQ(JudgeAmongThemselves(PairsOf({1, 1, 2}), within).state, PropertyState::kHeldWithin);
}

// Of exchangeable runs every way to call four of eight legs is as likely: p can be no smaller than
// 2 / 70, and is at most alpha no more often than alpha says.
TEST(EnergyPermutation, KeepsItsErrorRate) {
  std::mt19937_64 random(7);
  std::normal_distribution<double> normal;
  int called = 0;
  constexpr int kTrials = 2000;
  for (int trial = 0; trial < kTrials; ++trial) {
    std::vector<double> values;
    for (int i = 0; i < 8; ++i) values.push_back(normal(random));
    std::vector<std::vector<double>> distances(8, std::vector<double>(8));
    for (std::size_t i = 0; i < 8; ++i) {
      for (std::size_t j = 0; j < 8; ++j) distances[i][j] = std::abs(values[i] - values[j]);
    }
    if (EnergyPermutationP(distances, 4, 4) <= kPropertyAlpha) ++called;
  }
  // 2 / 70 of 2000 are 57, with a standard deviation of 7.5.
  EXPECT_GT(called, 57 - 30);
  EXPECT_LT(called, 57 + 30);
}

TEST(EnergyPermutation, CountsTheRepeatsThatATestTakes) {
  EXPECT_EQ(RepeatsFor(0.05), 4);    // 2 / 70
  EXPECT_EQ(RepeatsFor(0.0285), 5);  // 2 / 252
  EXPECT_EQ(RepeatsFor(1e-12), 0);
}

}  // namespace
}  // namespace rharness
