// Pairs that one change made, judged together.
#include "compare/siblings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace rharness {
namespace {

using testing::HasSubstr;

// A training loss at this share of its limit, with this shift; `salt` makes its values its own.
Comparison Pair(const std::string& name, double statistic, double shift, double salt,
                DifferenceNature nature = DifferenceNature::kShifted) {
  CurveComparison curve{.name = "lm loss", .kind = CurveKind::kLoss, .basis = "upgrades"};
  curve.steps = {1, 2};
  curve.a = {salt, 2.0};
  curve.b = {salt, 2.0 + shift};
  curve.differing = 1;
  curve.first_difference = 2;
  curve.statistic = statistic;
  curve.shift = shift;
  curve.nature = nature;
  curve.state = statistic > 1.0 ? CurveState::kBeyond : CurveState::kWithin;
  if (statistic > 1.0) curve.first_beyond = 2;
  return Comparison{.name = name, .curves = {curve}};
}

std::vector<std::string> Judge(std::vector<Comparison>& pairs) {
  std::vector<Comparison*> all;
  for (Comparison& pair : pairs) all.push_back(&pair);
  return NotesOf(JudgeSiblings(SiblingsByName(all), "pairs"));
}

// Twelve pairs at 0.8 of the limit, up and down in turn.
std::vector<Comparison> Balanced(double statistic) {
  std::vector<Comparison> pairs;
  for (int i = 0; i < 12; ++i) {
    pairs.push_back(Pair("gpt__" + std::to_string(i), statistic, i % 2 == 0 ? 1e-3 : -1e-3, i));
  }
  return pairs;
}

TEST(Siblings, OfALargeUpgradeWithoutADirectionLeaveRoom) {
  std::vector<Comparison> pairs = Balanced(0.8);
  pairs.push_back(Pair("gpt__far", 1.5, 2e-3, 99));
  pairs.push_back(Pair("gpt__too-far", 2.5, 4e-3, 98));
  pairs.push_back(Pair("gpt__batches", 1.5, 2e-3, 97, DifferenceNature::kOtherBatches));
  Judge(pairs);
  // 0.8 in the middle, where 0.35 is what the record's upgrades may have: room for 2.29.
  const CurveComparison& far = pairs[12].curves[0];
  EXPECT_EQ(far.state, CurveState::kWithin) << far.message;
  EXPECT_EQ(far.nature, DifferenceNature::kNewStream);
  EXPECT_FALSE(far.first_beyond.has_value());
  EXPECT_THAT(far.message, HasSubstr("without a direction"));
  EXPECT_EQ(pairs[13].curves[0].state, CurveState::kBeyond);
  EXPECT_EQ(pairs[14].curves[0].state, CurveState::kBeyond) << "no stream changes the batches";
}

TEST(Siblings, OfASmallUpgradeLeaveNoneAndNameWhatStandsOut) {
  std::vector<Comparison> pairs = Balanced(0.05);
  pairs.push_back(Pair("gpt__beyond", 1.2, 2e-3, 99));
  pairs.push_back(Pair("gpt__outlier", 0.6, 1e-3, 98));
  EXPECT_TRUE(Judge(pairs).empty());
  EXPECT_EQ(pairs[12].curves[0].state, CurveState::kBeyond);
  EXPECT_TRUE(pairs[0].findings.empty());
  ASSERT_EQ(pairs[13].findings.size(), 1u);
  EXPECT_EQ(pairs[13].findings[0].code, "stands_out");
  EXPECT_FALSE(pairs[13].findings[0].decisive);
}

TEST(Siblings, ThatAllMoveOneWaySaySoAndLeaveNoRoom) {
  std::vector<Comparison> pairs;
  for (int i = 0; i < 20; ++i)
    pairs.push_back(Pair("p" + std::to_string(i), 0.8, 1e-3 + 1e-5 * i, i));
  pairs.push_back(Pair("far", 1.5, 2e-3, 99));
  const std::vector<std::string> notes = Judge(pairs);
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_THAT(notes[0], HasSubstr("21 of 21 pairs that differ moved up"));
  EXPECT_EQ(pairs[20].curves[0].state, CurveState::kBeyond);
}

TEST(Siblings, CountCopiesOnce) {
  std::vector<Comparison> pairs;
  for (int i = 0; i < 40; ++i) pairs.push_back(Pair("gpt__" + std::to_string(i), 0.8, 1e-3, 1.0));
  EXPECT_TRUE(Judge(pairs).empty()) << "forty copies of one pair are one pair";
}

TEST(Siblings, OfAnotherModelSayNothingWhereTheOwnAreEnough) {
  std::vector<Comparison> pairs = Balanced(0.05);
  for (int i = 0; i < 12; ++i) {
    pairs.push_back(Pair("t5__" + std::to_string(i), 0.8, i % 2 == 0 ? 1e-3 : -1e-3, 100.0 + i));
  }
  pairs.push_back(Pair("t5__far", 1.5, 2e-3, 999));
  pairs.push_back(Pair("gpt__far", 1.5, 2e-3, 998));
  Judge(pairs);
  EXPECT_EQ(pairs[24].curves[0].state, CurveState::kWithin);
  EXPECT_EQ(pairs[25].curves[0].state, CurveState::kBeyond);
}

// A loss that scatters too much to be told alone, off by this share.
Comparison Open(const std::string& name, double shift, double salt) {
  Comparison pair = Pair(name, 0.7, shift, salt, DifferenceNature::kNone);
  pair.curves[0].state = CurveState::kUndecided;
  pair.curves[0].open_margin = 0.01;
  pair.curves[0].shift_first = 1;
  pair.curves[0].shift_last = 2;
  return pair;
}

std::vector<Comparison> OpenAround(double middle) {
  std::vector<Comparison> pairs;
  for (int i = 0; i < 12; ++i) {
    const double away = 0.001 * (i % 2 == 0 ? 1 + i : -i);  // 0.001, -0.001, 0.003, ... -0.011
    pairs.push_back(Open("gpt__" + std::to_string(i), middle + away, i));
  }
  return pairs;
}

TEST(Siblings, TellACurveThatScattersTooMuchAlone) {
  std::vector<Comparison> pairs = OpenAround(0.0);
  pairs.push_back(Open("gpt__copy", 0.001, 0.0));
  pairs.push_back(Open("gpt__regressed", 0.08, 99));
  Judge(pairs);
  for (std::size_t i = 0; i < 13; ++i) {
    EXPECT_EQ(pairs[i].curves[0].state, CurveState::kWithin) << pairs[i].name;
  }
  EXPECT_THAT(pairs[0].curves[0].message, HasSubstr("12 pairs of gpt moved by"));
  const CurveComparison& regressed = pairs[13].curves[0];
  EXPECT_EQ(regressed.state, CurveState::kBeyond);
  EXPECT_EQ(regressed.nature, DifferenceNature::kShifted);
  EXPECT_EQ(regressed.first_beyond, 1);
  EXPECT_THAT(regressed.message, HasSubstr("apart from its siblings"));
}

TEST(Siblings, ThatMovedTogetherAreBeyondTogether) {
  std::vector<Comparison> pairs = OpenAround(0.03);
  Judge(pairs);
  for (const Comparison& pair : pairs) {
    EXPECT_EQ(pair.curves[0].state, CurveState::kBeyond) << pair.curves[0].message;
  }
  EXPECT_THAT(pairs[0].curves[0].message, HasSubstr("with its siblings"));
}

TEST(Siblings, LeaveACurveOpenThatIsOpenForAnotherReasonOrThatTheyAreTooFewFor) {
  std::vector<Comparison> pairs = OpenAround(0.0);
  pairs[0].curves[0].open_margin = 0.0;  // its record is not finite somewhere, say
  Judge(pairs);
  EXPECT_EQ(pairs[0].curves[0].state, CurveState::kUndecided);
  EXPECT_EQ(pairs[1].curves[0].state, CurveState::kWithin);
  std::vector<Comparison> few = OpenAround(0.0);
  few.resize(7);
  Judge(few);
  EXPECT_EQ(few[0].curves[0].state, CurveState::kUndecided);
}

// A pair whose sides differ in this version, and in nothing else that was recorded.
Comparison& Recorded(Comparison& pair, const std::string& before, const std::string& after) {
  LayerComparison& layer = pair.layers[static_cast<std::size_t>(Layer::kEnvironment)];
  layer.layer = Layer::kEnvironment;
  layer.state = LayerState::kDiffers;
  layer.compared = 1;
  layer.differences = {{.layer = Layer::kEnvironment,
                        .key = "software.torch",
                        .recorded = before,
                        .observed = after}};
  return pair;
}

// Twelve of one upgrade, wide and without a direction, and one of another: a fault, no stream.
TEST(Siblings, AreOfOneChangeByRecordedFacts) {
  std::vector<Comparison> pairs = Balanced(0.8);
  for (Comparison& pair : pairs) Recorded(pair, "2.5", "2.6");
  pairs.push_back(Pair("gpt__far", 1.5, 2e-3, 99));
  Recorded(pairs.back(), "2.5", "2.6");
  pairs.push_back(Pair("gpt__other", 1.5, 2e-3, 98));
  Recorded(pairs.back(), "2.6", "2.7");
  Judge(pairs);
  EXPECT_EQ(pairs[12].curves[0].state, CurveState::kWithin) << pairs[12].curves[0].message;
  EXPECT_EQ(pairs[13].curves[0].state, CurveState::kBeyond) << "of another upgrade";
}

// A folder of what many commits did, each its own: most are large, and lend nothing to each other.
TEST(Siblings, OfManyChangesWithoutRecordedFactsLendNoRoom) {
  std::vector<Comparison> pairs;
  for (int i = 0; i < 24; ++i) {
    const double statistic = i % 3 == 0 ? 0.02 : i % 3 == 1 ? 0.8 : 1.6;
    pairs.push_back(Pair("t" + std::to_string(i), statistic, i % 2 == 0 ? 1e-3 : -1e-3, i));
  }
  Judge(pairs);
  for (std::size_t i = 2; i < pairs.size(); i += 3) {
    EXPECT_EQ(pairs[i].curves[0].state, CurveState::kBeyond) << pairs[i].curves[0].message;
  }
}

// The others differ from the first value on, as another stream does; this one begins later.
TEST(Siblings, OfAStreamLendNoRoomToWhatBeginsLater) {
  std::vector<Comparison> pairs = Balanced(0.8);
  for (Comparison& pair : pairs) pair.curves[0].first_difference = 1;
  pairs.push_back(Pair("gpt__later", 1.5, 2e-3, 99));
  pairs.push_back(Pair("gpt__at-once", 1.5, 2e-3, 98));
  pairs.back().curves[0].first_difference = 1;
  Judge(pairs);
  EXPECT_EQ(pairs[12].curves[0].state, CurveState::kBeyond);
  EXPECT_EQ(pairs[13].curves[0].state, CurveState::kWithin) << pairs[13].curves[0].message;
}

TEST(Siblings, MakeNoRoomForThemselves) {
  std::vector<Comparison> pairs = Balanced(0.8);
  pairs.resize(7);
  pairs.push_back(Pair("gpt__far", 1.5, 2e-3, 99));
  Judge(pairs);
  EXPECT_EQ(pairs[7].curves[0].state, CurveState::kBeyond) << "seven others are too few";
}

// A scatter that is not its own excuses nothing where no facts say that one change made them all.
TEST(Siblings, OfAnUnknownChangeTellOnlyAsFarAsTheMarginOrTheirOwnScatter) {
  const auto open = [](const std::string& name, double shift, double salt) {
    Comparison pair = Open(name, shift, salt);
    CurveComparison& curve = pair.curves[0];
    curve.steps.clear(), curve.a.clear(), curve.b.clear();
    for (int i = 0; i < 20; ++i) {
      curve.steps.push_back(i);
      curve.a.push_back(2.0 + 0.001 * salt);
      curve.b.push_back(curve.a.back() * (1.0 + shift + 1e-4 * (i % 2)));
    }
    curve.shift_first = 0;
    curve.shift_last = 19;
    return pair;
  };
  for (const bool recorded : {false, true}) {
    std::vector<Comparison> pairs;
    for (int i = 0; i < 40; ++i) {
      pairs.push_back(open("gpt__" + std::to_string(i), 5e-4 * (i % 2 == 0 ? i : -i), i));
      if (recorded) Recorded(pairs.back(), "2.5", "2.6");
    }
    Judge(pairs);
    EXPECT_EQ(pairs[4].curves[0].state, CurveState::kWithin) << pairs[4].curves[0].message;
    EXPECT_EQ(pairs[39].curves[0].state, recorded ? CurveState::kWithin : CurveState::kUndecided)
        << "off by 2 %: " << pairs[39].curves[0].message;
  }
}

// A loss of 2 that moved by this share at every one of 21 steps, small beside its scatter.
Comparison Small(const std::string& name, double share, int salt) {
  Comparison pair = Pair(name, 0.5, share, 1.0, DifferenceNature::kNewStream);
  CurveComparison& curve = pair.curves[0];
  curve.steps.clear(), curve.a.clear(), curve.b.clear();
  for (int i = 0; i < 21; ++i) {
    curve.steps.push_back(i);
    curve.a.push_back(2.0 + 0.001 * salt);
    curve.b.push_back(curve.a.back() * (1.0 + share + 1e-3 * ((3 * i) % 7 - 3)));
  }
  curve.first_difference = 0;
  curve.message = "within.";
  return pair;
}

// Seven of eight up, as a mended norm of the gradients moved them: no random stream does.
TEST(Siblings, ThatMovedOneWayByMoreThanRoundingAreOpen) {
  std::vector<Comparison> pairs;
  for (int i = 0; i < 8; ++i) {
    pairs.push_back(Small("gpt__" + std::to_string(i), i == 3 ? -2e-5 : 6e-4 + 3e-5 * i, i));
  }
  Judge(pairs);
  const CurveComparison& one = pairs[0].curves[0];
  EXPECT_EQ(one.state, CurveState::kUndecided) << one.message;
  EXPECT_THAT(one.message, HasSubstr("7 moved up and 1 down"));
  EXPECT_EQ(one.nature, DifferenceNature::kNone);
  EXPECT_EQ(pairs[3].curves[0].state, CurveState::kWithin) << "it did not move with them";
  // As small as two accepted upgrades moved nearly all of theirs, it is said and passes.
  std::vector<Comparison> tiny;
  for (int i = 0; i < 9; ++i) {
    tiny.push_back(Small("gpt__" + std::to_string(i), 5e-5, 7 * i));
    for (double& b : tiny.back().curves[0].b)
      b = tiny.back().curves[0].a[0] * (1.0 + 5e-5 + 1e-7 * i);
  }
  const std::vector<std::string> notes = Judge(tiny);
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_THAT(notes[0], HasSubstr("9 of 9 pairs of gpt that differ moved up"));
  EXPECT_EQ(tiny[0].curves[0].state, CurveState::kWithin);
}

TEST(Siblings, OfAStreamSayWhichCommonShiftWouldNotShow) {
  std::vector<Comparison> pairs;
  for (int i = 0; i < 12; ++i) {
    pairs.push_back(
        Small("gpt__" + std::to_string(i), (i % 2 == 0 ? 1 : -1) * (4e-4 + 1e-5 * i), i));
  }
  Judge(pairs);
  EXPECT_EQ(pairs[0].curves[0].state, CurveState::kWithin);
  EXPECT_THAT(pairs[0].curves[0].message, HasSubstr("show no common direction"));
  EXPECT_THAT(pairs[0].curves[0].message, HasSubstr("would not show"));
}

TEST(Siblings, NameOneGroupOnceThatIsAllThereIs) {
  std::vector<Comparison> pairs;
  for (int i = 0; i < 20; ++i) {
    pairs.push_back(Pair("gpt__" + std::to_string(i), 0.8, 1e-3 + 1e-5 * i, i));
  }
  EXPECT_EQ(Judge(pairs).size(), 1u);
}

}  // namespace
}  // namespace rharness
