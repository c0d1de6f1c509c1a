// Where two traces part: planted differences of every class, in a network of two layers.
#include "compare/traces/onset.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "tests/compare/traces/training.h"

namespace rharness {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

struct Planted {
  TraceKind kind;
  std::string name;
  double distance;
  std::string what;
  Layer layer;
};

class PlantedOnset : public testing::TestWithParam<Planted> {};

TEST_P(PlantedOnset, IsNamedWithItsClassAndLayer) {
  const Trace a = Training({0, 1, 2, 3});
  const Planted& planted = GetParam();
  const Onset onset = Between(a, PlantedAt(a, 2, planted.kind, planted.name, planted.distance));
  EXPECT_EQ(onset.what, planted.what) << onset.headline;
  EXPECT_EQ(onset.layer, planted.layer);
  ASSERT_TRUE(onset.origin);
  EXPECT_EQ(onset.origin->a.step, 2);
  EXPECT_EQ(onset.origin->a.kind, planted.kind);
  EXPECT_EQ(onset.origin->a.name, planted.name);
  EXPECT_EQ(onset.equal_until, 1);
  EXPECT_NE(onset.headline, "");
  EXPECT_NE(onset.next, "");
}

INSTANTIATE_TEST_SUITE_P(
    OfEveryClass, PlantedOnset,
    testing::Values(
        Planted{TraceKind::kBatch, "", 0.9, "batch", Layer::kData},
        Planted{TraceKind::kOutput, "fc1", 1e-7, "operator", Layer::kEnvironment},
        Planted{TraceKind::kOutput, "fc2", 1e-3, "operator", Layer::kEnvironment},
        Planted{TraceKind::kOutput, "fc2", 0.3, "operator", Layer::kCode},
        Planted{TraceKind::kOutput, "drop", 0.3, "random_operator", Layer::kRandomness},
        Planted{TraceKind::kInput, "norm", 0.3, "between_operators", Layer::kCode},
        Planted{TraceKind::kLoss, "loss", 0.3, "loss", Layer::kCode},
        Planted{TraceKind::kOutputGradient, "drop", 1e-7, "backward", Layer::kEnvironment},
        Planted{TraceKind::kGradient, "fc2.weight", 1e-7, "gradient", Layer::kEnvironment},
        Planted{TraceKind::kUpdated, "fc1.weight", 1e-2, "optimizer", Layer::kCode},
        Planted{TraceKind::kParameter, "fc2.weight", 0.1, "outside_of_steps", Layer::kCode}));

TEST(Onset, OfEqualTracesThatNameTwoRecordsAlikeIsNone) {
  Trace a = Training({0});
  a.records.push_back(a.records.back());
  a.records.back().digest += "'";
  EXPECT_EQ(Between(a, a).end, "equal");
  Trace b = a;
  b.records.back().digest += "'";
  EXPECT_EQ(Between(a, b).end, "parts");
}

TEST(Onset, OfEqualTracesIsNone) {
  const Trace a = Training({0, 1, 5});
  const Onset onset = Between(a, a);
  EXPECT_EQ(onset.end, "equal");
  EXPECT_FALSE(onset.origin);
  EXPECT_EQ(onset.equal_until, 5);
  EXPECT_EQ(onset.growth, "none");
  EXPECT_THAT(onset.headline, HasSubstr("3 steps nothing differs"));
}

TEST(Onset, OfTracesWithoutACommonStepIsUnknownAndNoPass) {
  EXPECT_EQ(Between(Training({0, 2}), Training({1, 3})).end, "nothing_compared");
  EXPECT_EQ(FindOnset({}, {Training({0})}).end, "nothing_compared");
}

TEST(Onset, AtTheFirstStepIsInTheInitialWeights) {
  const Trace a = Training({0, 1});
  const Onset onset = Between(a, PlantedAt(a, 0, TraceKind::kParameter, "fc1.weight", 1.0));
  EXPECT_EQ(onset.what, "initial_weights");
  EXPECT_EQ(onset.layer, Layer::kRandomness);
  EXPECT_FALSE(onset.equal_until);
}

TEST(Onset, BetweenTracedStepsIsBoundedAndNotNamed) {
  const Trace a = Training({0, 100});
  const Onset onset = Between(a, PlantedAt(a, 100, TraceKind::kParameter, "fc1.weight"));
  EXPECT_EQ(onset.growth, "unknown") << "how it began was not traced";
  EXPECT_EQ(onset.end, "between_steps");
  EXPECT_EQ(onset.what, "");
  EXPECT_THAT(onset.next, HasSubstr("RHARNESS_TRACE_STEPS=1-99"));
}

TEST(Onset, WhatIsHandedOnIsToldFromWhatBegins) {
  const Trace a = Training({0});
  const Onset onset = Between(a, PlantedAt(a, 0, TraceKind::kOutput, "norm"));
  std::map<std::string, RecordState> states;
  for (const OnsetRecord& record : onset.strip) {
    states[std::string(TraceKindName(record.a.kind)) + " " + record.a.name] = record.state;
  }
  EXPECT_EQ(states["output fc1"], RecordState::kEqual);
  EXPECT_EQ(states["input norm"], RecordState::kEqual);
  EXPECT_EQ(states["output norm"], RecordState::kOrigin);
  EXPECT_EQ(states["input drop"], RecordState::kHandedOn);
  EXPECT_EQ(states["output fc2"], RecordState::kHandedOn);
  EXPECT_EQ(states["gradient fc1.weight"], RecordState::kHandedOn);
  EXPECT_TRUE(onset.origins.empty());
}

TEST(Onset, OfANetworkIsInTheOperatorWithinItAndNotInTheWhole) {
  Trace a = Training({0});
  // The whole network takes the batch, as "fc1" does, and its output is that of "fc2".
  TraceRecord whole = Tensor(0, TraceKind::kInput, "");
  a.records.insert(a.records.begin() + 7, whole);
  const Onset onset = Between(a, PlantedAt(a, 0, TraceKind::kOutput, "fc2"));
  EXPECT_EQ(onset.origin->a.name, "fc2");
  EXPECT_TRUE(onset.origins.empty());  // "" has the difference from within
}

TEST(Onset, OfTheSameBatchesAtOtherStepsIsTheirOrder) {
  const Trace a = Training({0, 1, 2});
  Trace b = PlantedAt(a, 1, TraceKind::kBatch, "", 0.5);
  for (TraceRecord& record : b.records) {
    if (record.kind != TraceKind::kBatch || record.step == 0) continue;
    record.digest = record.step == 1 ? "sha256:2" : "sha256:1";
    record.norm = static_cast<double>(record.step);
  }
  for (TraceRecord& record : b.records) {
    if (record.kind == TraceKind::kRng && record.step == 1) record.digest = "sha256:other";
  }
  const Onset onset = Between(a, b);
  ASSERT_TRUE(onset.origin);
  EXPECT_EQ(onset.what, "batch_order");
  EXPECT_EQ(onset.layer, Layer::kRandomness);
  EXPECT_THAT(onset.reasons, testing::Contains(HasSubstr("another state before")));
}

TEST(Onset, OfAnOptimizerWithOtherSettingsNamesTheSetting) {
  const Trace a = Training({0, 1});
  Trace b = PlantedAt(a, 0, TraceKind::kUpdated, "fc1.weight", 0.01);
  for (TraceRecord& record : b.records) {
    if (record.kind == TraceKind::kSetting) record.value = "0.2";
  }
  const Onset onset = Between(a, b);
  EXPECT_EQ(onset.what, "settings");
  EXPECT_THAT(onset.reasons, testing::Contains(HasSubstr("optimizer.0.lr: 0.1 in A, 0.2 in B")));
}

TEST(Onset, SettingsAndGeneratorsAloneAreNone) {
  const Trace a = Training({0});
  Trace b = a;
  b.records[0].digest = "sha256:other";
  b.records[1].value = "0.2";
  EXPECT_EQ(Between(a, b).end, "equal");
}

TEST(Onset, OfAnotherNetworkIsItsStructure) {
  const Trace a = Training({0, 1});
  Trace b = a;
  std::erase_if(b.records, [](const TraceRecord& record) { return record.name == "norm"; });
  const Onset onset = Between(a, b);
  EXPECT_EQ(onset.what, "structure");
  EXPECT_EQ(onset.origin->state, RecordState::kOnlyA);
  EXPECT_EQ(onset.origin->a.name, "norm");
  const Onset turned = Between(b, a);
  EXPECT_EQ(turned.origin->state, RecordState::kOnlyB);
  EXPECT_EQ(turned.origin->a.name, "norm");
  Trace other = a;
  for (TraceRecord& record : other.records) {
    if (record.name == "fc1.weight") record.shape = {8, 65};
  }
  EXPECT_THAT(Between(a, other).reasons.front(),
              HasSubstr("float32 [8, 64] in A, float32 [8, 65]"));
}

// A step whose optimizer was not called takes in the next batch.
TEST(Onset, OfAStepThatTakesInAnotherBatchIsNoOtherNetwork) {
  const Trace a = Training({0, 1});
  Trace b = a;
  const auto gradients = [](const TraceRecord& one) {
    return one.step == 1 && one.kind == TraceKind::kGradient;
  };
  const auto at = std::ranges::find_if(b.records, gradients);
  std::vector<TraceRecord> again;
  for (const TraceRecord& one : a.records) {
    const bool forward = one.kind >= TraceKind::kBatch && one.kind <= TraceKind::kOutput;
    if (one.step == 1 && forward) again.push_back(one);
  }
  for (TraceRecord& one : again) one.call = 1;
  b.records.insert(at, again.begin(), again.end());
  for (const Onset& onset : {Between(a, b), Between(b, a)}) {
    EXPECT_EQ(onset.what, "calls");
    EXPECT_THAT(onset.headline, HasSubstr("calls the network once more"));
    EXPECT_THAT(onset.next, HasSubstr("skipped"));
  }
}

// As a step begins with it, the one before wrote it.
TEST(Onset, OfABufferIsInTheStepThatWroteIt) {
  const Trace a = Training({0, 1});
  const Onset onset = Between(a, PlantedAt(a, 1, TraceKind::kBuffer, "norm.running_mean"));
  EXPECT_THAT(onset.headline,
              HasSubstr("diverge at step 0: buffer norm.running_mean, as step 1 begins with it,"));
}

TEST(Onset, WithValuesThatAreNotFiniteIsLargeAndSaysHowMany) {
  const Trace a = Training({0});
  Trace b = PlantedAt(a, 0, TraceKind::kOutput, "fc1", 0.0);
  for (TraceRecord& record : b.records) {
    if (record.kind == TraceKind::kOutput && record.name == "fc1") record.nonfinite = 3;
  }
  const Onset onset = Between(a, b);
  EXPECT_EQ(onset.origin->size, DifferenceSize::kLarge);
  EXPECT_THAT(onset.reasons.front(), HasSubstr("0 values in A and 3 in B are not finite"));
}

TEST(Onset, OfDigestsOfTwoMethodsIsNotKnown) {
  const Trace a = Training({0});
  Trace b = a;
  for (TraceRecord& record : b.records) record.digest = "fold:1";
  const Onset onset = Between(a, b);
  EXPECT_EQ(onset.origin, std::nullopt);
  EXPECT_THAT(onset.notes, testing::Contains(HasSubstr("no digest that both sides share")));
}

TEST(Onset, IsThatOfTheFirstRank) {
  Trace a = Training({0, 1, 2});
  Trace second = a;
  second.rank = 1;
  Trace third = second;
  third.rank = 2;
  const Trace late = PlantedAt(a, 2, TraceKind::kOutput, "fc1");
  const Trace early = PlantedAt(second, 1, TraceKind::kGradient, "fc1.weight");
  const Onset onset = FindOnset({a, second, third}, {late, early});
  EXPECT_EQ(onset.rank, 1);
  EXPECT_EQ(onset.origin->a.step, 1);
  EXPECT_THAT(onset.notes, testing::Contains(HasSubstr("rank 2 was traced in A alone")));
  EXPECT_THAT(onset.notes, testing::Contains(HasSubstr("rank 0 at step 2, fc1")));
}

TEST(Onset, RoundingThatGrowsIsToldFromAChangeAndFromAJump) {
  const Trace a = Training({0, 1, 2, 3, 4});
  const auto grown = [&](const std::function<double(std::int64_t)>& distance) {
    Trace b = PlantedAt(a, 1, TraceKind::kOutput, "fc1");
    for (TraceRecord& record : b.records) {
      if (record.kind == TraceKind::kParameter && record.step > 1) {
        record.sketch[0] = 1.0 + distance(record.step);
      }
    }
    return Between(a, b);
  };
  const Onset slow = grown([](std::int64_t step) { return 1e-8 * std::pow(10.0, step); });
  EXPECT_EQ(slow.growth, "rounding_grows");
  EXPECT_NEAR(slow.steps[3].parameters, 1e-5, 1e-7);
  const Onset jump = grown([](std::int64_t step) { return step < 4 ? 1e-7 : 0.1; });
  EXPECT_EQ(jump.growth, "rounding_jumps");
  EXPECT_EQ(jump.jump, 4);
  const Onset change = Between(a, PlantedAt(a, 1, TraceKind::kOutput, "fc1", 0.2));
  EXPECT_EQ(change.growth, "change");
}

TEST(Onset, WithFurtherRunsSaysWhetherTheCurvesLeaveTheirBand) {
  std::vector<std::int64_t> steps;
  for (std::int64_t step = 0; step < 30; ++step) steps.push_back(step);
  const auto run = [&](double off) {
    Trace trace = Training(steps);
    for (TraceRecord& record : trace.records) {
      if (record.kind == TraceKind::kLoss) {
        const double at = static_cast<double>(record.step);
        record.norm = (2.0 + std::sin(at)) * (1.0 + off * std::cos(3.0 * at + 1e4 * off));
        record.digest += std::to_string(record.norm);
      }
    }
    return std::vector<Trace>{trace};
  };
  const std::vector<std::vector<Trace>> further = {run(1e-4), run(1.3e-4), run(0.8e-4),
                                                   run(1.1e-4)};
  const Onset within = FindOnset(run(0.0), run(0.9e-4), further);
  ASSERT_FALSE(within.curves.empty());
  EXPECT_EQ(within.curves.front().name, "loss");
  EXPECT_EQ(within.curves.front().state, CurveState::kWithin);
  const Onset beyond = FindOnset(run(0.0), run(0.2), further);
  EXPECT_EQ(beyond.curves.front().state, CurveState::kBeyond);
  EXPECT_TRUE(beyond.curves.front().first_beyond.has_value());
}

// 10 sqrt(n) 2^-24, by hand: n = 64.
TEST(Rounding, IsWhatItsRuleSays) {
  EXPECT_DOUBLE_EQ(RoundingOf("float32", 64), 80.0 / 16777216.0);
  EXPECT_DOUBLE_EQ(RoundingOf("bfloat16", 1), 10.0 / 256.0);
  EXPECT_EQ(RoundingOf("int64", 64), 0.0);
  TraceRecord a = Tensor(0, TraceKind::kOutput, "x");
  TraceRecord b = a;
  b.sketch[3] = 3e-3;
  b.sketch[5] = -4e-3;
  bool from_norms = true;
  EXPECT_NEAR(DistanceOf(a, b, &from_norms), 5e-3, 1e-12);
  EXPECT_FALSE(from_norms);
  b.sketch.clear();
  b.norm = 1.5;
  EXPECT_NEAR(DistanceOf(a, b, &from_norms), 1.0 / 3.0, 1e-12);
  EXPECT_TRUE(from_norms);
}

}  // namespace
}  // namespace rharness
