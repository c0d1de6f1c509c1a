// What the ladder leaves open: curves that rounding does not explain, outputs that no reader opens,
// placeholders; and what a single rerun asks for.
#include <gtest/gtest.h>

#include <limits>

#include "tests/compare/rerun_parts.h"

namespace rharness::reruns {
namespace {

// A loss that is beyond its band, by accepted upgrades unless said otherwise.
CurveComparison Beyond(std::string basis = "upgrades") {
  CurveComparison curve{
      .name = "train_loss", .kind = CurveKind::kLoss, .state = CurveState::kBeyond};
  curve.steps = {1, 2, 3};
  curve.a = {3, 2, 1};
  curve.b = {6, 4, 2};
  curve.differing = 3;
  curve.basis = std::move(basis);
  curve.statistic = 4.0;
  curve.message = "the loss is off.";
  return curve;
}

Comparison SeenTwice(Comparison run) {
  run.ends.push_back({.index = 2, .state = State::kCompared});
  return run;
}

TEST(JudgeReruns, NeverPassACurveThatRoundingDoesNotExplainWhateverMetricsSay) {
  Comparison run = RunOf({Weights(Bits::kDiffer)});
  run.metrics = {Metric(MetricVerdict::kWithin)};
  run.metrics[0].difference = 0.005;
  run.curves = {Beyond()};
  // Metrics within what was declared and a band without a stated rate: neither settles it.
  for (const Comparison& open : {JudgedRerun(run), JudgedRerun(SeenTwice(run))}) {
    EXPECT_EQ(open.verdict, Verdict::kInconclusive);
    EXPECT_EQ(open.findings.front().code, "curve_unexplained");
    EXPECT_NE(open.headline.find("--replicates 3"), std::string::npos) << open.headline;
    EXPECT_FALSE(open.needs_confirmation);
  }
  run.metrics[0].default_margin = true;  // nobody said that this much does not matter
  EXPECT_EQ(JudgedRerun(SeenTwice(run)).verdict, Verdict::kDrifted);
  run.metrics[0].default_margin = false;
  run.metrics[0].difference = 0.02;  // beyond its margin
  EXPECT_EQ(JudgedRerun(SeenTwice(run)).verdict, Verdict::kDrifted);
}

TEST(JudgeReruns, DriftByACurveThatRunsSiblingsOrItsSizeShowToBeBeyond) {
  Comparison run = SeenTwice(RunOf({Weights(Bits::kDiffer)}));
  run.metrics = {Metric(MetricVerdict::kWithin)};
  run.metrics[0].difference = 0.005;
  std::vector<CurveComparison> shown = {Beyond("replicates"), Beyond("rounding"), Beyond("margin"),
                                        Beyond("upgrades")};
  shown[2].nature = DifferenceNature::kShifted;  // off by ten margins
  shown[3].open_margin = 0.01;                   // siblings were asked
  for (const CurveComparison& curve : shown) {
    run.curves = {curve};
    const Comparison judged = JudgedRerun(run);
    EXPECT_EQ(judged.verdict, Verdict::kDrifted) << curve.basis;
    EXPECT_EQ(judged.findings.front().code, "curve_beyond_band");
  }
}

TEST(JudgeReruns, AskForOneMoreRerunBeforeADriftByACurveIsClaimed) {
  for (const char* basis : {"upgrades", "replicates", "rounding", "margin"}) {
    Comparison run = RunOf({Weights(Bits::kDiffer)});
    run.curves = {Beyond(basis)};
    const Comparison once = JudgedRerun(run);
    EXPECT_EQ(once.verdict, Verdict::kInconclusive) << basis;
    EXPECT_TRUE(once.needs_confirmation);
    EXPECT_EQ(once.more_reruns, 1);
    const Comparison twice = JudgedRerun(SeenTwice(run));
    EXPECT_EQ(twice.verdict, Verdict::kDrifted);
    EXPECT_FALSE(twice.needs_confirmation);
  }
  // Beside something else that is open, too: what was not read hides no drift.
  Comparison run = RunOf({Weights(Bits::kDiffer)});
  run.checkpoints[0].not_compared = {"config.json was not compared"};
  run.curves = {Beyond()};
  EXPECT_TRUE(JudgedRerun(run).needs_confirmation);
}

TEST(JudgeReruns, ACurveOfAMetricDecidesByTheBandOfFurtherRuns) {
  Comparison run = SeenTwice(RunOf({Weights(Bits::kDiffer)}));
  run.curves = {Beyond("replicates")};
  run.curves[0].kind = CurveKind::kMetric;
  EXPECT_EQ(JudgedRerun(run).verdict, Verdict::kDrifted);
  run.curves[0].state = CurveState::kWithin;
  EXPECT_EQ(JudgedRerun(run).verdict, Verdict::kEquivalent);
  run.curves[0].kind = CurveKind::kResource;
  run.curves[0].state = CurveState::kBeyond;
  EXPECT_NE(JudgedRerun(run).verdict, Verdict::kDrifted);
}

TEST(JudgeReruns, AConstantCurveNeitherPassesNorStandsInTheWay) {
  CurveComparison rate{
      .name = "learning_rate", .kind = CurveKind::kMetric, .state = CurveState::kVacuous};
  rate.vacuity = "constant";
  rate.message = "learning_rate cannot tell: it is 0.1 throughout.";
  rate.steps = {1, 2, 3};
  Comparison alone = RunOf({});
  alone.curves = {rate};
  EXPECT_EQ(JudgedRerun(alone).verdict, Verdict::kInconclusive);
  Comparison equal = RunOf({Weights(Bits::kEqual)}, true);
  equal.curves = {rate};
  EXPECT_EQ(JudgedRerun(equal).verdict, Verdict::kIdentical);
  Comparison within = RunOf({Weights(Bits::kDiffer)});
  within.curves = {rate};
  within.metrics = {Metric(MetricVerdict::kWithin)};
  EXPECT_EQ(JudgedRerun(within).verdict, Verdict::kEquivalent);
}

// A file that no reader opens: "other" unless its role lets it differ.
CheckpointComparison File(Bits bits, bool matters = true) {
  CheckpointComparison file{.subject = matters ? "other model.pkl" : "log train.log"};
  file.weights = false;
  file.from_digests = file.is_file = true;
  file.matters = matters;
  file.digest_a = std::string(64, 'a');
  file.digest_b = std::string(64, bits == Bits::kEqual ? 'a' : 'b');
  file.difference.bit_equal = bits == Bits::kEqual;
  if (bits == Bits::kDiffer && matters) file.not_compared = {"model.pkl has other bytes"};
  return file;
}

TEST(JudgeReruns, NeverPassAFileThatNoReaderOpensAndThatDiffers) {
  EXPECT_EQ(JudgedRerun(RunOf({File(Bits::kEqual)})).verdict, Verdict::kIdentical);
  EXPECT_EQ(JudgedRerun(RunOf({File(Bits::kEqual)}, true)).verdict, Verdict::kIdentical);
  Comparison open = RunOf({Weights(Bits::kEqual), File(Bits::kDiffer)});
  open.metrics = {Metric(MetricVerdict::kWithin)};
  EXPECT_EQ(JudgedRerun(open).verdict, Verdict::kInconclusive);
  EXPECT_EQ(JudgedRerun(open).headline, "model.pkl has other bytes");
  const Comparison promised =
      JudgedRerun(RunOf({Weights(Bits::kEqual), File(Bits::kDiffer)}, true));
  EXPECT_EQ(promised.verdict, Verdict::kDrifted);
  EXPECT_EQ(promised.findings.front().code, "determinism_violation");
}

TEST(JudgeReruns, OfALogThatDiffersAreEquivalentAndNotIdentical) {
  for (const bool bitwise : {true, false}) {
    const Comparison judged =
        JudgedRerun(RunOf({Weights(Bits::kEqual), File(Bits::kDiffer, false)}, bitwise));
    EXPECT_EQ(judged.verdict, Verdict::kEquivalent);
    EXPECT_NE(judged.headline.find("log train.log"), std::string::npos) << judged.headline;
    EXPECT_EQ(
        JudgedRerun(RunOf({Weights(Bits::kEqual), File(Bits::kEqual, false)}, bitwise)).verdict,
        Verdict::kIdentical);
  }
  EXPECT_EQ(JudgedRerun(RunOf({Weights(Bits::kDiffer), File(Bits::kDiffer, false)}, true)).verdict,
            Verdict::kDrifted);
  // That two logs are equal shows nothing of a model.
  EXPECT_EQ(JudgedRerun(RunOf({File(Bits::kEqual, false)})).verdict, Verdict::kInconclusive);
}

// Stores that cannot hold an infinity keep the largest number in its place.
TEST(JudgeReruns, TakeNoPlaceholderForAMeasurement) {
  const double largest = std::numeric_limits<double>::max();
  const double single = static_cast<double>(std::numeric_limits<float>::max());
  for (const double placeholder : {largest, -largest, single}) {
    Comparison run = RunOf({});
    run.metrics = {Metric(MetricVerdict::kInconclusive)};
    run.metrics[0].history = run.metrics[0].reruns = {placeholder};
    run.metrics[0].recorded = placeholder;
    EXPECT_EQ(JudgedRerun(run).verdict, Verdict::kInconclusive) << placeholder;
  }
  Comparison run = RunOf({});
  run.metrics = {Metric(MetricVerdict::kDrifted)};
  run.metrics[0].reruns = {largest};
  EXPECT_EQ(JudgedRerun(run).findings.front().code, "non_finite");
}

}  // namespace
}  // namespace rharness::reruns
