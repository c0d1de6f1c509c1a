// report --to: from a drill's folder to the server that its runs came from.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/base/digest.h"
#include "tests/cli/imported_runs.h"
#include "tests/insight/publish/registry_world.h"

namespace rharness {
namespace {

using testing::HasSubstr;
using testing::Not;

class ReportTo : public ImportedRuns {
 protected:
  void SetUp() override {
    if (!FakeRegistry::CanRun()) GTEST_SKIP() << "no python3 here";
    Record("ours", {});
    RecordImported("theirs", "abc");
    RecordImported("other", "bad");
    Add();
    Drill();
  }
  ProcessResult WriteBack(std::vector<std::string> options = {}) const {
    std::vector<std::string> argv = {kRharness, "report", "out", "--to", "mlflow=" + server_.url()};
    argv.insert(argv.end(), options.begin(), options.end());
    return Run(argv);
  }

  FakeRegistry server_;
};

TEST_F(ReportTo, WritesTheVerdictsOfImportedRunsAndChangesNothingInTheDrill) {
  server_.Start("good", RunsOfRegistry({"abc", "bad"}));
  const std::string before = HashTree(At("out"))->sha256;
  const ProcessResult planned = WriteBack({"--dry-run"});
  EXPECT_EQ(planned.outcome.exit_code, 0) << planned.stderr_text;
  EXPECT_THAT(planned.stdout_text, HasSubstr("theirs: would_write; rharness.reproduced: 1 at"));
  EXPECT_EQ(server_.Writes(), 0u);

  const ProcessResult written = WriteBack();
  EXPECT_EQ(written.outcome.exit_code, 0) << written.stderr_text;
  EXPECT_THAT(written.stdout_text, HasSubstr("2 written; 1 of other sources left out"));
  EXPECT_EQ(server_.At({"runs", "abc", "tags", "rharness.verdict"}).AsString(), "identical");
  EXPECT_EQ(server_.At({"runs", "abc", "tags", "rharness.report_sha256"}).AsString(),
            Sha256HexOf(Read(At("out/report.json"))));
  EXPECT_THAT(WriteBack().stdout_text, HasSubstr("2 unchanged"));
  EXPECT_EQ(HashTree(At("out"))->sha256, before);
}

TEST_F(ReportTo, EndsWithFourWhereSomeWasNotWrittenAndTellsEachRun) {
  server_.Start("half", RunsOfRegistry({"abc", "bad"}));
  const ProcessResult result = WriteBack();
  EXPECT_EQ(result.outcome.exit_code, 4);
  EXPECT_THAT(result.stdout_text, HasSubstr("theirs: written; "));
  EXPECT_THAT(result.stdout_text, HasSubstr("other: failed: "));
  EXPECT_THAT(result.stdout_text, HasSubstr("disk full"));
  server_.Become("good");
  EXPECT_THAT(WriteBack({"--json"}).stdout_text, HasSubstr("\"state\": \"unchanged\""));
  EXPECT_EQ(server_.At({"runs", "bad", "tags", "rharness.verdict"}).AsString(), "identical");
}

TEST_F(ReportTo, WritesNothingOfAReportThatTheHistoryWasNotToldOf) {
  server_.Start("good", RunsOfRegistry({"abc", "bad"}));
  Report told = StoredReport();
  for (ReportRun& run : told.runs) run.verdict = Verdict::kEquivalent;
  Tally(&told);
  ASSERT_TRUE(WriteJsonFile(At("out/report.json"), ToJson(told)).ok());
  const ProcessResult refused = WriteBack();
  EXPECT_EQ(refused.outcome.exit_code, 5) << refused.stdout_text;
  EXPECT_THAT(refused.stderr_text, HasSubstr("the report says equivalent of run other"));
  EXPECT_EQ(server_.Writes(), 0u);
}

TEST_F(ReportTo, TakesTheTokenFromTheEnvironmentAndSaysItNowhere) {
  server_.Start("forbidden", RunsOfRegistry({"abc", "bad"}));
  environment_["MLFLOW_TRACKING_TOKEN"] = "s3cret-t0ken";
  const ProcessResult result = WriteBack();
  EXPECT_EQ(result.outcome.exit_code, 4);
  EXPECT_THAT(result.stdout_text, HasSubstr("Permission denied: Bearer ***"));
  EXPECT_THAT(result.stdout_text + result.stderr_text, Not(HasSubstr("s3cret")));
  environment_["MLFLOW_TRACKING_TOKEN"] = "";
  Write(".mlflow/credentials", "[mlflow]\nmlflow_tracking_username = ada\n");
  std::filesystem::permissions(At(".mlflow/credentials"), std::filesystem::perms(0644));
  const ProcessResult refused = WriteBack();
  EXPECT_EQ(refused.outcome.exit_code, 2);
  EXPECT_THAT(refused.stderr_text, HasSubstr("others may read it"));
}

TEST_F(ReportTo, RefusesWhatIsNoDrillAndWhatHasNoRunOfMlflows) {
  const ProcessResult none =
      Run({kRharness, "report", "runs", "--to", "mlflow=http://127.0.0.1:1"});
  EXPECT_EQ(none.outcome.exit_code, 2);
  EXPECT_THAT(none.stderr_text, HasSubstr("expected a drill's folder or its report.json"));
  std::filesystem::remove_all(At("out"));
  Drill({"--select", "run_id = ours"});
  const ProcessResult ours = Run({kRharness, "report", "out", "--to", "mlflow=http://127.0.0.1:1"});
  EXPECT_EQ(ours.outcome.exit_code, 2);
  EXPECT_THAT(ours.stderr_text, HasSubstr("none of the drill's runs was imported from MLflow"));
}

TEST_F(ReportTo, RefusesOptionsThatDoNotGoTogether) {
  const ProcessResult other = Run({kRharness, "report", "out", "--to", "wandb=http://x"});
  EXPECT_EQ(other.outcome.exit_code, 2);
  EXPECT_THAT(other.stderr_text, HasSubstr("'wandb=http://x' names no tracker; expected mlflow="));
  server_.Start("good", RunsOfRegistry({"abc", "bad"}));
  EXPECT_THAT(WriteBack({"--html", "page.html"}).stderr_text, HasSubstr("renders the drill"));
  EXPECT_EQ(server_.Writes(), 0u);
  const ProcessResult alone = Run({kRharness, "report", "out", "--alias", "good"});
  EXPECT_EQ(alone.outcome.exit_code, 2);
  EXPECT_THAT(alone.stderr_text, HasSubstr("goes with --to, which is not given"));
}

TEST_F(ReportTo, WritesWhatWasWrittenToAFile) {
  server_.Start("good", RunsOfRegistry({"abc", "bad"}));
  const ProcessResult written = WriteBack({"--json-file", "written.json"});
  EXPECT_EQ(written.outcome.exit_code, 0) << written.stderr_text;
  EXPECT_THAT(written.stdout_text, HasSubstr("2 written"));
  EXPECT_THAT(Read(At("written.json")), HasSubstr("\"rharness.publish/v1\""));
}

TEST_F(ReportTo, MakesACrateOfADrillBesideItAndNothingOfAComparison) {
  const ProcessResult made = Run({kRharness, "report", "out", "--ro-crate", "crate"});
  EXPECT_EQ(made.outcome.exit_code, 0) << made.stderr_text;
  EXPECT_THAT(Read(At("crate/ro-crate-metadata.json")), HasSubstr("\"#rerun/theirs/1\""));
  EXPECT_EQ(Read(At("crate/report.json")), Read(At("out/report.json")));
  const ProcessResult again = Run({kRharness, "report", "out", "--ro-crate", "crate"});
  EXPECT_EQ(again.outcome.exit_code, 2);
  EXPECT_THAT(again.stderr_text, HasSubstr("expected a new folder for the crate"));
}

}  // namespace
}  // namespace rharness
