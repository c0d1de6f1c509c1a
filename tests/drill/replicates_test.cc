// Envelopes: what counts as one, which replicates are missing, and what becomes of verdicts.
#include "harness/drill/replicates.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "harness/base/files.h"
#include "harness/judge/facts_of.h"
#include "harness/judge/judge_family.h"
#include "harness/judge/judge_siblings.h"

namespace rharness {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// A curve that falls, and what rounding made of it: one number a run.
RunMetrics Measured(double rounding, double level = 1.0) {
  RunMetrics measured;
  Curve curve{.name = "val_loss", .steps = {}, .values = {}};
  for (int i = 1; i <= 12; ++i) {
    curve.steps.push_back(i);
    curve.values.push_back(level * (1.0 + 1.0 / i) + rounding * 1e-4 * std::sin(i * rounding));
  }
  measured.curves.push_back(curve);
  measured.metrics["val_loss"] = level + 1e-4 * rounding;
  measured.metrics["seconds"] = 10.0 + rounding;
  return measured;
}

Manifest Recorded(const std::string& run_id, int seed, double rounding = 0.0) {
  Manifest manifest;
  manifest.run_id = run_id;
  manifest.family = "mlp";
  manifest.command = {"train", "--seed", std::to_string(seed)};
  manifest.duration_seconds = 600;
  manifest.seeds = {{"init", seed}};
  manifest.determinism.declared = "statistical";
  const RunMetrics measured = Measured(rounding, 1.0 + seed);
  manifest.curves = measured.curves;
  manifest.metrics = {{.name = "val_loss",
                       .value = measured.metrics.at("val_loss"),
                       .direction = MetricDirection::kLower,
                       .margin = 0.01}};
  return manifest;
}

Evidence Reran(const Manifest& manifest, int rerun, double rounding, int seed) {
  Evidence evidence;
  evidence.run_id = manifest.run_id;
  evidence.rerun = rerun;
  evidence.seeds = manifest.seeds;
  evidence.started = ParseTime("2026-11-20T10:00:00.000Z").value();
  evidence.outcome.kind = OutcomeKind::kExited;
  evidence.environment.hardware.cpu.model = "EPYC";
  evidence.environment.variables["OMP_NUM_THREADS"] = "1";
  evidence.metrics = Measured(rounding, 1.0 + seed);
  return evidence;
}

// A run with one rerun, whose comparison says that it differs.
RunState StateOf(const Manifest& manifest, double rounding, int seed) {
  RunState run;
  run.manifest = manifest;
  run.evidence[1] = Reran(manifest, 1, rounding, seed);
  Comparison rerun{.is_rerun = true};
  rerun.ends = {{.index = 1, .state = RerunEnd::State::kCompared}};
  run.reruns[1] = rerun;
  run.comparison.verdict = Verdict::kInconclusive;
  return run;
}

PlanOptions Wanted(int replicates) {
  PlanOptions options;
  options.replicates = replicates;
  return options;
}

std::vector<std::string> JobsOf(const std::vector<PlannedRerun>& reruns) {
  std::vector<std::string> jobs;
  for (const PlannedRerun& rerun : reruns) jobs.push_back(rerun.job);
  return jobs;
}

class ReplicatesOfTwoRuns : public testing::Test {
 protected:
  ReplicatesOfTwoRuns() {
    runs_["a"] = StateOf(Recorded("a", 1), 1.0, 1);
    runs_["b"] = StateOf(Recorded("b", 2), 1.5, 2);
  }
  // As if these had been made of run a.
  void Make(const std::vector<double>& roundings) {
    for (std::size_t i = 0; i < roundings.size(); ++i) {
      const int number = static_cast<int>(i) + 1;
      Evidence made = Reran(runs_["a"].manifest, kReplicates + number, roundings[i], 1);
      made.environment.variables[kReplicateVariable] = std::to_string(number);
      runs_["a"].replicates[number] = made;
    }
  }

  RunStates runs_;
  const std::vector<std::string> ids_ = {"a", "b"};
};

TEST_F(ReplicatesOfTwoRuns, AreMadeOfTheFirstAndServeBoth) {
  Replicates replicates(Wanted(3));
  EXPECT_THAT(JobsOf(replicates.Missing(ids_, runs_, {})),
              ElementsAre("a.replicate-1", "a.replicate-2", "a.replicate-3"));
  Make({2.0, 3.0, 4.0});
  replicates.Settle(ids_, &runs_);
  for (const char* run_id : {"a", "b"}) {
    const RunState& run = runs_[run_id];
    ASSERT_EQ(run.reruns.at(1).curves.size(), 1U);
    EXPECT_EQ(run.reruns.at(1).curves[0].state, CurveState::kWithin)
        << run.reruns.at(1).curves[0].message;
    EXPECT_THAT(run.reruns.at(1).curves[0].message,
                HasSubstr("the band of 3 replicates made on this stack on 2026-11-20"));
  }
  ASSERT_TRUE(runs_["a"].envelope);
  EXPECT_FALSE(runs_["b"].envelope) << "metrics are held to their own seed alone";
  EXPECT_THAT(replicates.Missing(ids_, runs_, {}), IsEmpty());
  EXPECT_THAT(replicates.Notes(),
              ElementsAre("how far rounding carries mlp is known from 3 replicates made on this "
                          "stack on 2026-11-20"));
}

TEST_F(ReplicatesOfTwoRuns, FindAShiftThatIsMoreThanRounding) {
  Replicates replicates(Wanted(3));
  for (double& value : runs_["a"].evidence[1].metrics.curves[0].values) value *= 1.02;
  Make({2.0, 3.0, 4.0});
  for (auto& [number, made] : runs_["a"].replicates) {
    for (double& value : made.metrics.curves[0].values) value *= 1.02;
  }
  replicates.Settle(ids_, &runs_);
  EXPECT_EQ(runs_["a"].reruns.at(1).curves[0].state, CurveState::kBeyond);
  EXPECT_EQ(runs_["b"].reruns.at(1).curves[0].state, CurveState::kWithin);
}

// Chaos sets in at another step for each seed.
TEST_F(ReplicatesOfTwoRuns, AreMadeOfARunThatLeavesTheBandOfAnotherSeed) {
  Replicates replicates(Wanted(3));
  for (double& value : runs_["b"].evidence[1].metrics.curves[0].values) value *= 1.02;
  Make({2.0, 3.0, 4.0});
  replicates.Settle(ids_, &runs_);
  const CurveComparison& open = runs_["b"].reruns.at(1).curves[0];
  EXPECT_EQ(open.state, CurveState::kUndecided);
  EXPECT_THAT(open.message, HasSubstr("of another seed"));
  EXPECT_THAT(JobsOf(replicates.Missing(ids_, runs_, {})),
              ElementsAre("b.replicate-1", "b.replicate-2", "b.replicate-3"));
  for (int number = 1; number <= 3; ++number) {
    runs_["b"].replicates[number] =
        Reran(runs_["b"].manifest, kReplicates + number, 1.0 + number, 2);
    for (double& value : runs_["b"].replicates[number].metrics.curves[0].values) value *= 1.02;
  }
  replicates.Settle(ids_, &runs_);
  EXPECT_EQ(runs_["b"].reruns.at(1).curves[0].state, CurveState::kBeyond);
  EXPECT_THAT(replicates.Missing(ids_, runs_, {}), IsEmpty());
}

// Two seeds are too few to know their family, and lie far apart themselves.
TEST_F(ReplicatesOfTwoRuns, HoldMetricsToRounding) {
  std::vector<Manifest> recorded;
  for (auto& [run_id, run] : runs_) {
    run.manifest.metrics[0].primary = true;
    recorded.push_back(run.manifest);
  }
  runs_["a"].evidence[1].metrics.metrics["val_loss"] += 0.02;
  const Family family(recorded);
  const std::vector<RunState*> members = {&runs_["a"], &runs_["b"]};
  MergeAndJudgeSiblings(members);
  JudgeTogether(members, family);
  EXPECT_EQ(runs_["a"].comparison.metrics.at(0).verdict, MetricVerdict::kInconclusive);
  Make({2.0, 3.0, 4.0});
  Replicates replicates(Wanted(3));
  replicates.Settle(ids_, &runs_);
  for (auto& [number, made] : runs_["a"].replicates) made.metrics.metrics["val_loss"] += 0.02;
  replicates.Settle(ids_, &runs_);
  MergeAndJudgeSiblings(members);
  JudgeTogether(members, family);
  const MetricDecision& moved = runs_["a"].comparison.metrics.at(0);
  EXPECT_EQ(moved.verdict, MetricVerdict::kNeedsConfirmation);
  EXPECT_EQ(moved.variance_basis, "rounding");
  EXPECT_NEAR(moved.df, 3.0, 1e-12);
}

TEST_F(ReplicatesOfTwoRuns, ThatAreBitEqualAreNoEnvelopeAndAreToldAndNotMadeAgain) {
  Replicates replicates(Wanted(3));
  Make({1.0, 1.0, 1.0});
  runs_["a"].replicates[2].metrics.metrics["seconds"] = 99.0;  // a time is no result
  replicates.Settle(ids_, &runs_);
  EXPECT_FALSE(runs_["a"].envelope);
  EXPECT_THAT(replicates.Missing(ids_, runs_, {}), IsEmpty());
  ASSERT_EQ(replicates.Notes().size(), 1U);
  EXPECT_THAT(
      replicates.Notes()[0],
      HasSubstr(
          "the 3 replicates of a are bit-equal to its rerun: the run ignored RHARNESS_REPLICATE"));
}

TEST_F(ReplicatesOfTwoRuns, ThatFailedAreLeftOut) {
  Replicates replicates(Wanted(3));
  Make({2.0, 3.0, 4.0});
  runs_["a"].replicates[2].outcome.exit_code = 1;
  replicates.Settle(ids_, &runs_);
  EXPECT_FALSE(runs_["a"].envelope) << "two are too few";
  EXPECT_THAT(replicates.Notes()[0], HasSubstr("replicate 2 of a is left out: the run exited"));
  EXPECT_THAT(replicates.Notes()[1], HasSubstr("too few"));
}

TEST_F(ReplicatesOfTwoRuns, AreNeitherMadeNorUsedOnAnotherStack) {
  runs_["b"].evidence[1].environment.variables["OMP_NUM_THREADS"] = "2";
  Replicates replicates(Wanted(3));
  EXPECT_THAT(JobsOf(replicates.Missing(ids_, runs_, {})),
              ElementsAre("a.replicate-1", "a.replicate-2", "a.replicate-3", "b.replicate-1",
                          "b.replicate-2", "b.replicate-3"));
  Make({2.0, 3.0, 4.0});
  replicates.Settle(ids_, &runs_);
  EXPECT_EQ(runs_["a"].reruns.at(1).curves[0].basis, "rounding");
  EXPECT_TRUE(runs_["b"].reruns.at(1).curves.empty());
}

TEST_F(ReplicatesOfTwoRuns, AreNotMadeWhereEverythingIsIdenticalOrBitwise) {
  Replicates replicates(Wanted(3));
  runs_["a"].comparison.verdict = runs_["b"].comparison.verdict = Verdict::kIdentical;
  EXPECT_THAT(replicates.Missing(ids_, runs_, {}), IsEmpty());
  for (auto& [run_id, run] : runs_) {
    run.comparison.verdict = Verdict::kDrifted;
    run.manifest.determinism.declared = "bitwise";
  }
  EXPECT_THAT(replicates.Missing(ids_, runs_, {}), IsEmpty());
}

TEST_F(ReplicatesOfTwoRuns, CountRecordedRepeatsAndFurtherRerunsFirst) {
  Replicates replicates(Wanted(4));
  replicates.AddRecorded({Recorded("a", 1), Recorded("a2", 1, 5.0), Recorded("a3", 1, 6.0),
                          Recorded("a4", 1, 6.0), Recorded("b", 2)});
  runs_["b"].evidence[2] = Reran(runs_["b"].manifest, 2, 7.0, 2);
  EXPECT_THAT(JobsOf(replicates.Missing(ids_, runs_, {})), ElementsAre("a.replicate-1"))
      << "two recorded repeats, one further rerun";
  Make({2.0});
  replicates.Settle(ids_, &runs_);
  ASSERT_TRUE(runs_["a"].envelope);
  EXPECT_EQ(SourceOf(*runs_["a"].envelope),
            "2 recorded repeats, 1 replicate made on this stack on 2026-11-20");
  EXPECT_THAT(replicates.Notes()[0], HasSubstr("2 recorded repeats, 1 further rerun, 1 replicate"));
}

TEST_F(ReplicatesOfTwoRuns, ArePlannedWithTheirCostWithinTheBudget) {
  PlanOptions options = Wanted(3);
  options.slots.cpus = 2;
  Replicates replicates(options);
  const std::vector<Manifest> manifests = {runs_["a"].manifest, runs_["b"].manifest};
  const Plan plan = replicates.PlanWith(manifests, {});
  EXPECT_EQ(plan.reruns.size(), 2U);
  EXPECT_THAT(JobsOf(plan.replicates),
              ElementsAre("a.replicate-1", "a.replicate-2", "a.replicate-3"));
  EXPECT_DOUBLE_EQ(plan.run_seconds, 5 * 600.0);
  EXPECT_THAT(DescribePlan(plan), HasSubstr("3 replicates of the configuration of a: 30 min"));
  options.budget_seconds = 3 * 600.0;
  Replicates frugal(options);
  const Plan cut = frugal.PlanWith(manifests, {});
  EXPECT_THAT(JobsOf(cut.replicates), ElementsAre("a.replicate-1"));
  EXPECT_THAT(cut.left_out, IsEmpty());
  EXPECT_THAT(cut.notes, ElementsAre("a.replicate-2: beyond the budget of 30 min 0 s",
                                     "a.replicate-3: beyond the budget of 30 min 0 s"));
  EXPECT_EQ(JobsOf(frugal.Missing(ids_, runs_, cut)).size(), 1U);
}

class ReplicatesInHistory : public ReplicatesOfTwoRuns {
 protected:
  ReplicatesInHistory() : folder_(*ScopedTempDir::Make("rharness-replicates-")) {
    store_ = HistoryStore::Open((folder_.path() / "runs.db").string()).value();
    for (const auto& [run_id, run] : runs_) {
      EXPECT_TRUE(store_->Add(run.manifest, WallTime()).ok());
    }
  }
  // A drill that made these, with its folder, and kept them.
  void KeepMade(const std::vector<double>& roundings) {
    Replicates replicates(Wanted(3));
    Make(roundings);
    for (const char* name : {"1", "replicate-1", "replicate-2", "replicate-3"}) {
      ASSERT_TRUE(WriteJsonFile(folder_.path() / "runs/a" / name / "evidence.json", Json(1)).ok());
    }
    replicates.Settle(ids_, &runs_);
    const Status kept = replicates.Keep(folder_.path(), store_.get());
    ASSERT_TRUE(kept.ok()) << kept.error().ToString();
    runs_["a"].replicates.clear();
    runs_["a"].envelope.reset();
    runs_["b"].envelope.reset();
  }
  // The next drill.
  Replicates Loaded(int wanted) {
    Replicates replicates(Wanted(wanted));
    const Status loaded =
        replicates.LoadAll({runs_["a"].manifest, runs_["b"].manifest}, store_.get());
    EXPECT_TRUE(loaded.ok()) << loaded.error().ToString();
    return replicates;
  }

  ScopedTempDir folder_;
  std::unique_ptr<HistoryStore> store_;
};

TEST_F(ReplicatesInHistory, CostOnce) {
  KeepMade({2.0, 3.0, 4.0});
  EXPECT_EQ(store_->Replicates(ConfigurationKey(runs_["a"].manifest))->size(), 4U);
  Replicates again = Loaded(3);
  EXPECT_THAT(again.Missing(ids_, runs_, {}), IsEmpty());
  again.Settle(ids_, &runs_);
  ASSERT_TRUE(runs_["a"].envelope);
  EXPECT_EQ(SourceOf(*runs_["a"].envelope), "3 replicates made on this stack on 2026-11-20");
  Replicates more = Loaded(5);
  EXPECT_THAT(JobsOf(more.Missing(ids_, runs_, {})), ElementsAre("a.replicate-4", "a.replicate-5"));
}

TEST_F(ReplicatesInHistory, OfAnotherStackAreMadeAnew) {
  KeepMade({2.0, 3.0, 4.0});
  for (auto& [run_id, run] : runs_) {
    run.evidence[1].environment.software["torch"] = "2.2.0";
  }
  Replicates replicates = Loaded(3);
  EXPECT_EQ(replicates.Missing(ids_, runs_, {}).size(), 3U);
  replicates.Settle(ids_, &runs_);
  EXPECT_FALSE(runs_["a"].envelope);
}

// Rows that a stranger wrote, each whole by its own digest.
TEST_F(ReplicatesInHistory, ThatAreNoEvidenceOfTheirRunAreRefused) {
  const std::string configuration = ConfigurationKey(runs_["a"].manifest);
  Evidence other = Reran(runs_["b"].manifest, 1, 1.0, 2);
  const std::vector<std::string> bodies = {"", "[]", "{}", "{\"schema\": \"rharness.evidence/v9\"}",
                                           ToJson(other).Dump()};
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    const auto store =
        HistoryStore::Open((folder_.path() / fmt::format("{}.db", i)).string()).value();
    ASSERT_TRUE(store->Add(runs_["a"].manifest, WallTime()).ok());
    ASSERT_TRUE(
        store->AddReplicates({{configuration, "s", "a", 1, WallTime(), "e", bodies[i]}}).ok());
    Replicates replicates(Wanted(3));
    const Status loaded = replicates.Load(runs_["a"].manifest, store.get());
    ASSERT_FALSE(loaded.ok()) << bodies[i];
    EXPECT_THAT(loaded.error().ToString(), HasSubstr("replicate 1 of a")) << bodies[i];
  }
}

TEST(Envelope, OfAMetricIsPooledAndNeverZero) {
  Envelope envelope;
  RunMetrics one = Measured(1), two = Measured(2), three = Measured(3);
  one.metrics["accuracy"] = two.metrics["accuracy"] = three.metrics["accuracy"] = 0.5;
  one.metrics["f1"] = 0.1;
  two.metrics["f1"] = 0.3;
  three.metrics["f1"] = 0.2;
  EXPECT_EQ(AddGroup({one, two, three, two}, &envelope), 2);
  EXPECT_EQ(AddGroup({one, one}, &envelope), 0);
  EXPECT_EQ(envelope.groups.size(), 1U);
  EXPECT_EQ(RoundingOf(envelope, "accuracy", 0.01).df, 0.0);
  EXPECT_EQ(RoundingOf(envelope, "none", 0.01).df, 0.0);
  const SeedSpread spread = RoundingOf(envelope, "f1", 0.0);
  EXPECT_EQ(spread.df, 2.0);
  EXPECT_NEAR(spread.deviation, 0.1, 1e-12);
  EXPECT_NEAR(RoundingOf(envelope, "f1", 12.0).deviation, 12.0 / std::sqrt(12.0), 1e-12);
}

TEST(Stack, IsKnownByWhatIsSetAndInstalledAndNotByTheHook) {
  const Manifest manifest = Recorded("a", 1);
  const Evidence evidence = Reran(manifest, 1, 1.0, 1);
  const auto facts = [&](const Evidence& of) { return FactsOf(of, manifest); };
  Evidence hooked = evidence;
  hooked.environment.variables[kReplicateVariable] = "2";
  hooked.environment.variables["CUDA_VISIBLE_DEVICES"] = "3";
  EXPECT_EQ(StackOf(facts(evidence)), StackOf(facts(hooked)));
  Evidence upgraded = evidence;
  upgraded.environment.software["torch"] = "2.2.0";
  EXPECT_NE(StackOf(facts(evidence)), StackOf(facts(upgraded)));
  EXPECT_TRUE(MayBeOneStack(facts(evidence), facts(upgraded))) << "nothing known says otherwise";
  Evidence set = evidence;
  set.environment.variables["OPENBLAS_CORETYPE"] = "Haswell";
  EXPECT_FALSE(MayBeOneStack(facts(evidence), facts(set)));
  EXPECT_FALSE(MayBeOneStack(facts(set), facts(evidence)));
}

}  // namespace
}  // namespace rharness
