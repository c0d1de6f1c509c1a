// Which cause comes first: a test a row of the table in explain.h, and what is never said.
#include <gtest/gtest.h>

#include <cmath>

#include "compare/explain.h"
#include "compare/explain_reruns.h"
#include "compare/fact_order.h"

namespace rharness {
namespace {

using Codes = std::vector<std::string>;

// A rerun that drifted, whose code and data are known to be equal.
class Drifted {
 public:
  Drifted() {
    comparison_.verdict = Verdict::kDrifted;
    comparison_.is_rerun = true;
    for (const Layer layer : kLayers) Of(layer).layer = layer;
    Of(Layer::kCode).state = Of(Layer::kData).state = LayerState::kSame;
  }

  Drifted& Differ(Layer layer, const std::string& key, std::optional<std::string> a,
                  std::optional<std::string> b, FactUse use = FactUse::kNotKnown) {
    Of(layer).state = LayerState::kDiffers;
    Of(layer).differences.push_back(
        {layer, key, FactWeight::kContext, std::move(a), std::move(b), use});
    return *this;
  }
  Drifted& OnBoth(const std::string& key, const std::string& value) {
    facts_a_.push_back({Layer::kRandomness, key, value});
    facts_b_.push_back({Layer::kRandomness, key, value});
    return *this;
  }
  Drifted& OnRecord(const std::string& key, const std::string& value) {
    facts_a_.push_back({Layer::kEnvironment, key, value});
    return *this;
  }
  // A loss of 100 steps that differs from `first` on by so much.
  Drifted& Loss(std::int64_t first, double relative, DifferenceNature nature,
                std::int64_t beyond = 0) {
    CurveComparison curve{.name = "loss", .kind = CurveKind::kLoss, .state = CurveState::kBeyond};
    curve.basis = "upgrades";
    curve.nature = nature;
    curve.first_difference = first;
    curve.first_beyond = beyond > 0 ? beyond : first;
    for (std::int64_t step = 1; step <= 100; ++step) {
      curve.steps.push_back(step);
      curve.a.push_back(2.0);
      curve.b.push_back(step < first ? 2.0 : 2.0 * (1 + relative));
    }
    comparison_.curves = {curve};
    return *this;
  }
  Drifted& FromTheStart() { return Loss(1, 0.1, DifferenceNature::kShifted); }
  Drifted& ByRounding() { return Loss(3, 1e-7, DifferenceNature::kRounding); }

  Comparison* comparison() { return &comparison_; }
  std::vector<Cause> Causes() const { return Explain(comparison_, facts_a_, facts_b_); }
  Codes CodesOf() const {
    Codes codes;
    for (const Cause& cause : Causes()) codes.push_back(cause.code);
    return codes;
  }
  std::string First() const {
    const auto causes = Causes();
    return causes.empty()
               ? ""
               : causes.front().code + " " + std::string(StrengthName(causes.front().strength));
  }

 private:
  LayerComparison& Of(Layer layer) { return comparison_.layers[static_cast<std::size_t>(layer)]; }
  Comparison comparison_;
  std::vector<Fact> facts_a_, facts_b_;
};

constexpr Layer kEnvironment = Layer::kEnvironment;

TEST(ExplainOrder, AProcessThatWasKilledWhileRecordingComesBeforeAll) {
  Drifted run;
  run.FromTheStart().OnRecord("damage.0", "ended with 0 and lost something: 1 process was killed");
  run.Differ(Layer::kRandomness, "seed_set.random.seed", "1", "2");
  EXPECT_EQ(run.First(), "process_killed likely");
}

TEST(ExplainOrder, ASeedThatDiffersComesBeforeTheCommandThatPassesIt) {
  Drifted run;
  run.Differ(Layer::kRandomness, "seed.init", "7", "8");
  run.Differ(Layer::kCode, "command", "python3 t.py --seed=7 --out a",
             "python3 t.py --seed=8 --out a");
  run.Differ(Layer::kCode, "hyperparameter.seed", "7", "8");
  EXPECT_EQ(run.CodesOf(), Codes{"seed_changed"}) << "all three say one thing";
  run.Differ(Layer::kCode, "hyperparameter.lr", "0.1", "0.2");
  EXPECT_EQ(run.CodesOf(), (Codes{"seed_changed", "hyperparameter_changed"}));
}

TEST(ExplainOrder, SeedsThatWereSeenToDifferAreShown) {
  Drifted run;
  run.FromTheStart().Differ(Layer::kRandomness, "seed_set.random.seed", "11 (the time)",
                            "42 (the time)");
  run.Differ(kEnvironment, "package.python.numpy", "1", "2", FactUse::kUsed);
  EXPECT_EQ(run.First(), "seed_set_changed shown");
  for (const Cause& cause : run.Causes()) {
    EXPECT_TRUE(cause.code == "seed_set_changed" || cause.strength == Strength::kPossible)
        << cause.code;
  }
}

TEST(ExplainOrder, AVariableThatTheRunReadsComesBeforeWhatTheCurveSuggests) {
  Drifted run;
  run.FromTheStart().Differ(kEnvironment, "variable.INIT_SCALE", std::nullopt, "3", FactUse::kUsed);
  EXPECT_EQ(run.First(), "variable_changed likely");
  Drifted named;
  named.FromTheStart().Differ(kEnvironment, "variable.INIT_SCALE", "1", "3");
  EXPECT_EQ(named.First(), "variable_changed likely");
  Drifted unread;
  unread.FromTheStart().Differ(kEnvironment, "variable.INIT_SCALE", "1", "3", FactUse::kNotUsed);
  EXPECT_EQ(unread.CodesOf().back(), "variable_changed");
  Drifted locale;
  locale.FromTheStart().Differ(kEnvironment, "variable.LC_ALL", "C", "de_DE.UTF-8");
  EXPECT_EQ(locale.Causes().front().strength, Strength::kPossible);
}

TEST(ExplainOrder, AVariableThatIsNoPartOfTheRecordIsNamed) {
  Drifted run;
  run.FromTheStart().OnRecord("unrecorded.INIT_SCALE", "t.py:4");
  EXPECT_EQ(run.First(), "variable_not_recorded likely");
  EXPECT_NE(run.Causes().front().confirm.find("--variable INIT_SCALE"), std::string::npos);
}

TEST(ExplainOrder, AnUnseededGeneratorComesBeforeLibrariesUnlessTheRunsPartByRounding) {
  Drifted run;
  run.FromTheStart().OnBoth("unseeded.numpy.random.default_rng", "t.py:2");
  run.Differ(kEnvironment, "package.python.numpy", "1", "2", FactUse::kUsed);
  EXPECT_EQ(run.First(), "generator_unseeded likely");
  EXPECT_NE(run.Causes().front().statement.find("t.py:2"), std::string::npos);
  Drifted rounding;
  rounding.ByRounding().OnBoth("unseeded.numpy.random.default_rng", "t.py:2");
  rounding.Differ(kEnvironment, "package.python.numpy", "1", "2", FactUse::kUsed);
  EXPECT_EQ(rounding.First(), "library_changed likely");
}

TEST(ExplainOrder, AGeneratorThatAPackageMadeIsNoMoreThanPossible) {
  Drifted run;
  run.FromTheStart().OnBoth("unseeded.random.Random", "package urllib3/retry.py:9");
  run.Differ(kEnvironment, "package.python.numpy", "1", "2", FactUse::kUsed);
  EXPECT_EQ(run.First(), "library_changed likely");
  for (const std::string& code : run.CodesOf()) EXPECT_NE(code, "generator_unseeded");
  Drifted alone;
  alone.FromTheStart().OnBoth("unseeded.random.Random", "package urllib3/retry.py:9");
  EXPECT_EQ(alone.First(), "generator_unseeded possible");
}

TEST(ExplainOrder, NothingIsLeftToChanceInARerunThatWasNotCarriedOut) {
  Drifted run;
  run.OnBoth("unseeded.random", "t.py:2").OnBoth("flag.python.hash_seed", "random");
  run.comparison()->verdict = Verdict::kNotComparable;
  run.comparison()->ends = {{.index = 1, .state = RerunEnd::State::kNotComparable, .reason = "x"}};
  EXPECT_TRUE(run.CodesOf().empty());
}

TEST(ExplainOrder, SaltedHashesLeadWhereTheCodeGoesThroughASet) {
  Drifted run;
  run.FromTheStart().OnBoth("flag.python.hash_seed", "random").OnBoth("unordered.sets", "t.py:4");
  EXPECT_EQ(run.First(), "hash_salted likely");
  EXPECT_NE(run.Causes().front().statement.find("PYTHONHASHSEED"), std::string::npos);
  Drifted unordered;
  unordered.FromTheStart().OnBoth("flag.python.hash_seed", "random");
  EXPECT_EQ(unordered.First(), "different_start possible") << "nothing was seen to go by hashes";
  Drifted fixed;
  fixed.FromTheStart().OnBoth("flag.python.hash_seed", "0").OnBoth("unordered.sets", "t.py:4");
  EXPECT_EQ(fixed.First(), "different_start possible");
}

TEST(ExplainOrder, FilesListedInAnotherOrderAreShown) {
  Drifted run;
  run.Loss(1, 0.1, DifferenceNature::kOtherBatches);
  run.Differ(Layer::kData, "file_order.shards", "8 names, 1", "8 names, 2");
  EXPECT_EQ(run.First(), "file_order_changed shown");
}

TEST(ExplainOrder, TwoThatStandAlikeAreBothPossible) {
  Drifted run;
  run.ByRounding();
  run.Differ(kEnvironment, "variable.OMP_NUM_THREADS", "1", "2");
  EXPECT_EQ(run.First(), "variable_changed likely");
  run.Differ(kEnvironment, "package.python.numpy", "1", "2", FactUse::kUsed);
  for (const Cause& cause : run.Causes())
    EXPECT_EQ(cause.strength, Strength::kPossible) << cause.code;
}

TEST(ExplainOrder, NoOtherBatchIsSaidWhereDataAndCodeAreEqual) {
  Drifted later;
  later.Loss(60, 1.8, DifferenceNature::kShifted);
  for (const Cause& cause : later.Causes()) {
    EXPECT_EQ(cause.statement.find("another batch"), std::string::npos) << cause.statement;
    EXPECT_NE(cause.layer, Layer::kData) << cause.code;
    EXPECT_NE(cause.layer, Layer::kCode) << cause.code;
  }
  Drifted batches;
  batches.Loss(1, 0.1, DifferenceNature::kOtherBatches);
  for (const Cause& cause : batches.Causes()) EXPECT_NE(cause.layer, Layer::kData) << cause.code;
}

TEST(ExplainOrder, NoDropoutIsSaidOfAModelThatHasNone) {
  Drifted run;
  run.Loss(1, 3e-4, DifferenceNature::kNewStream).OnBoth("hyperparameter.dropout", "0.0");
  for (const Cause& cause : run.Causes()) {
    EXPECT_EQ(cause.statement.find("dropout"), std::string::npos) << cause.statement;
  }
}

TEST(ExplainOrder, NothingHappenedAtAStepBehindTheOneAtWhichTheRunsPart) {
  Drifted run;
  run.Loss(1, 1e-7, DifferenceNature::kSpike, 44);
  for (const Cause& cause : run.Causes()) {
    EXPECT_NE(cause.code, "event_at_step");
    EXPECT_EQ(cause.statement.find("Something happened"), std::string::npos) << cause.statement;
  }
  Drifted spike;
  spike.Loss(44, 0.5, DifferenceNature::kSpike);
  EXPECT_EQ(spike.CodesOf(), Codes{"event_at_step"});
}

TEST(ExplainOrder, AStepThatBecameNoNumberIsNotBlamedOnHyperparameters) {
  Drifted run;
  run.Loss(50, 0.1, DifferenceNature::kShifted);
  CurveComparison& curve = run.comparison()->curves.front();
  curve.first_non_finite = 50;
  for (std::size_t i = 49; i < curve.b.size(); ++i) curve.b[i] = std::nan("");
  EXPECT_EQ(run.CodesOf(), Codes{"became_non_finite"});
}

TEST(ExplainOrder, AVersionComesBeforeALibrarysFileAndAFrameworkBeforeItsWheels) {
  const auto used = [](const std::string& key) {
    return FactDifference{kEnvironment, key, FactWeight::kContext, "1", "2", FactUse::kUsed};
  };
  const FactDifference torch = used("package.python.torch"),
                       nccl = used("package.python.nvidia-nccl-cu12"),
                       library = used("library.libnccl.so.2");
  EXPECT_TRUE(TellsMore(torch, nccl));
  EXPECT_TRUE(TellsMore(nccl, library));
  EXPECT_TRUE(TellsMore(used("package.python.scikit-learn"), used("package.python.joblib")));
  FactDifference beside{kEnvironment, "package.python.jax", FactWeight::kContext, "1",
                        "2",          FactUse::kNotKnown};
  EXPECT_TRUE(TellsMore(beside, library)) << "a version of which no use is known says more";
}

TEST(ExplainOrder, WhatNamesTheDrawComesBeforeThatRerunsDiffer) {
  Drifted run;
  run.FromTheStart().OnBoth("unseeded.random", "t.py:9");
  run.Differ(kEnvironment, "package.python.numpy", "1", "2", FactUse::kUsed);
  run.comparison()->declared_bitwise = true;
  run.comparison()->causes = run.Causes();
  AddRerunsCause({{.rerun = 1, .group = "h", .digests = {{"m", "1"}}},
                  {.rerun = 2, .group = "h", .digests = {{"m", "2"}}}},
                 run.comparison());
  const auto& causes = run.comparison()->causes;
  ASSERT_GE(causes.size(), 3u);
  EXPECT_EQ(causes[0].code, "generator_unseeded");
  EXPECT_EQ(causes[1].code, "reruns_differ");
  for (std::size_t i = 2; i < causes.size(); ++i)
    EXPECT_EQ(causes[i].strength, Strength::kPossible);
}

}  // namespace
}  // namespace rharness
