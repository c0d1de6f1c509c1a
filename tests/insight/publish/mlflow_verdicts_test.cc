// What is written of a run, and where an alias goes: no server.
#include "harness/insight/publish/mlflow_verdicts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/insight/publish/mlflow_aliases.h"
#include "tests/reports/sample_report.h"

namespace rharness {
namespace {

using testing::Each;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

std::string TagOf(const MlflowVerdict& verdict, std::string_view name) {
  for (const auto& [key, value] : verdict.tags) {
    if (key == name) return value;
  }
  return "(none)";
}

std::map<std::string, std::string> IdsOf(const Report& report) {
  std::map<std::string, std::string> ids;
  for (const ReportRun& run : report.runs) ids[run.run_id] = "id-of-" + run.run_id;
  return ids;
}

TEST(MlflowVerdicts, SayOneZeroOrNothingByTheVerdict) {
  const Report report = SampleReport();
  const auto verdicts = MlflowVerdictsOf(report, std::string(64, 'a'), IdsOf(report));
  ASSERT_THAT(verdicts, SizeIs(report.runs.size()));
  std::set<Verdict> seen;
  for (const MlflowVerdict& one : verdicts) {
    seen.insert(one.verdict);
    const std::optional<double> expected =
        one.verdict == Verdict::kIdentical || one.verdict == Verdict::kEquivalent
            ? std::optional(1.0)
        : one.verdict == Verdict::kDrifted ? std::optional(0.0)
                                           : std::nullopt;
    EXPECT_EQ(one.reproduced, expected) << VerdictName(one.verdict);
    EXPECT_EQ(TagOf(one, "rharness.verdict"), VerdictName(one.verdict));
    EXPECT_EQ(TagOf(one, "rharness.report_sha256"), std::string(64, 'a'));
    EXPECT_EQ(one.timestamp_ms, report.ended.time_since_epoch().count());
  }
  EXPECT_THAT(seen, SizeIs(7));
}

TEST(MlflowVerdicts, AreOfTheRunsThatAreThereAlone) {
  const Report report = SampleReport();
  const auto verdicts = MlflowVerdictsOf(report, "", {{report.runs[3].run_id, "abc"}});
  ASSERT_THAT(verdicts, SizeIs(1));
  EXPECT_EQ(verdicts[0].run_id, report.runs[3].run_id);
  EXPECT_EQ(verdicts[0].mlflow_id, "abc");
}

TEST(MlflowVerdicts, HoldNoControlCharactersAndNoMoreThanATagMay) {
  const Report report = HostileReport("\x1b[31m" + std::string(20'000, 'x') + "\n\xff");
  for (const MlflowVerdict& one : MlflowVerdictsOf(report, "", IdsOf(report))) {
    for (const auto& [name, value] : one.tags) {
      EXPECT_LE(value.size(), 4'900u) << name;
      EXPECT_THAT(value, Not(HasSubstr("\x1b"))) << name;
      EXPECT_THAT(value, Not(HasSubstr("\n"))) << name;
    }
  }
}

TEST(MlflowIds, AreOfImportedRunsAndCarryNothingIntoAFilter) {
  Manifest manifest;
  EXPECT_EQ(MlflowIdOf(manifest), "");
  manifest.origin = Origin{.kind = "wandb", .source = "x", .id = "abc"};
  EXPECT_EQ(MlflowIdOf(manifest), "");
  manifest.origin->kind = "mlflow";
  EXPECT_EQ(MlflowIdOf(manifest), "abc");
  manifest.origin->id = "x' OR name != '";
  EXPECT_EQ(MlflowIdOf(manifest), "");
}

struct AliasCase {
  DrilledVersions drilled;
  std::optional<std::int64_t> current;
  AliasChange change;
  std::int64_t version;
};

TEST(Alias, GoesForwardToWhatReproducedAndOffWhatDrifted) {
  const AliasCase cases[] = {
      {{{3}, {}}, std::nullopt, AliasChange::kSet, 3},
      {{{3, 5}, {}}, std::nullopt, AliasChange::kSet, 5},
      {{{3}, {}}, 3, AliasChange::kNone, 0},
      {{{3}, {}}, 7, AliasChange::kNone, 0},  // an old version, drilled again
      {{{3}, {7}}, 7, AliasChange::kSet, 3},  // back, where the newer one drifted
      {{{}, {7}}, 7, AliasChange::kRemove, 7},
      {{{}, {6}}, 7, AliasChange::kNone, 0},
      {{{}, {6}}, std::nullopt, AliasChange::kNone, 0},
      {{{7}, {7}}, 7, AliasChange::kRemove, 7},  // two runs of one version
  };
  for (const AliasCase& one : cases) {
    const AliasDecision decision = DecideAlias(one.drilled, one.current);
    EXPECT_EQ(decision.change, one.change);
    EXPECT_EQ(decision.version, one.version);
  }
}

}  // namespace
}  // namespace rharness
