// rharness drill as a program: what it prints and how it ends.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "tests/cli/drill_program.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

TEST_F(DrillProgram, PrintsATableAndTheReportsPlace) {
  RecordRuns(2);
  const ProcessResult result = Drill();
  EXPECT_EQ(result.outcome.exit_code, 0) << result.stdout_text << result.stderr_text;
  EXPECT_THAT(result.stdout_text, HasSubstr("identical"));
  EXPECT_THAT(result.stdout_text, HasSubstr(At("out/report.html").string()));
  for (const char* name :
       {"report.html", "report.json", "junit.xml", "summary.md", "metrics.prom"}) {
    EXPECT_TRUE(fs::exists(At("out") / name)) << name;
  }
}

TEST_F(DrillProgram, PrintsThePlanOfADryRunAndTouchesNothing) {
  RecordRuns(2);
  const ProcessResult result = Drill({"--dry-run"});
  EXPECT_EQ(result.outcome.exit_code, 0) << result.stderr_text;
  EXPECT_THAT(result.stdout_text, HasSubstr("a"));
  EXPECT_THAT(result.stdout_text, HasSubstr("2 reruns"));
  EXPECT_FALSE(fs::exists(At("out")));
  EXPECT_EQ(Calls(), 0);
}

TEST_F(DrillProgram, IsSilentWhenQuietAndNothingMoved) {
  RecordRuns(1);
  const ProcessResult result =
      Run({kRharness, "--quiet", "drill", "--history", "runs.db", "--out", "out"});
  EXPECT_EQ(result.outcome.exit_code, 0);
  EXPECT_EQ(result.stdout_text, "");
  EXPECT_EQ(result.stderr_text, "");
}

TEST_F(DrillProgram, SaysOneLineWhenQuietAndSomethingMoved) {
  RecordRuns(1);
  Write("value", "0.5");
  const ProcessResult result =
      Run({kRharness, "--quiet", "drill", "--history", "runs.db", "--out", "out"});
  EXPECT_EQ(result.outcome.exit_code, 3);
  EXPECT_EQ(result.stdout_text, fmt::format("rharness drill: 1 not_comparable; see {}\n",
                                            At("out/report.html").string()));
  EXPECT_EQ(result.stderr_text, "");
}

TEST_F(DrillProgram, PrintsTheReportAsJson) {
  RecordRuns(1);
  const ProcessResult result = Drill({"--json"});
  EXPECT_EQ(result.stdout_text, Read(At("out/report.json")));
  const auto json = ParseJson(result.stdout_text, "stdout");
  ASSERT_TRUE(json.ok()) << result.stdout_text;
  const auto report = ParseReport(*json, "stdout");
  ASSERT_TRUE(report.ok()) << report.error().ToString();
  EXPECT_EQ(report->exit_code, 0);
  EXPECT_EQ(report->runs.at(0).verdict, Verdict::kIdentical);
}

TEST_F(DrillProgram, TakesItsHistoryFromTheEnvironment) {
  RecordRuns(1);
  environment_["RHARNESS_HISTORY"] = "runs.db";
  EXPECT_EQ(Run({kRharness, "drill", "--out", "out"}).outcome.exit_code, 0);
  environment_.erase("RHARNESS_HISTORY");
  const ProcessResult result = Run({kRharness, "drill", "--out", "other"});
  EXPECT_EQ(result.outcome.exit_code, 2);
  EXPECT_THAT(result.stderr_text, HasSubstr("RHARNESS_HISTORY"));
}

TEST_F(DrillProgram, RefusesTheFolderOfAnotherDrillWithAHint) {
  RecordRuns(1);
  ASSERT_EQ(Drill().outcome.exit_code, 0);
  const std::string report = Read(At("out/report.json"));
  const ProcessResult result = Drill();
  EXPECT_EQ(result.outcome.exit_code, 2);
  EXPECT_THAT(result.stderr_text, HasSubstr("--resume"));
  EXPECT_EQ(Read(At("out/report.json")), report);
}

TEST_F(DrillProgram, StrewsNothingAmongSomebodyElsesFiles) {
  RecordRuns(1);
  ASSERT_TRUE(WriteFileAtomic(At("out/mine.txt"), "mine").ok());
  const ProcessResult result = Drill();
  EXPECT_EQ(result.outcome.exit_code, 2);
  EXPECT_THAT(result.stderr_text, HasSubstr("do not belong to a drill"));
  EXPECT_FALSE(fs::exists(At("out/journal.jsonl")));
}

TEST_F(DrillProgram, SaysWhatTheBudgetLeftOutAndIsNoPass) {
  RecordRuns(1);
  const ProcessResult result = Drill({"--budget", "0.000000001h"});
  EXPECT_EQ(result.outcome.exit_code, 3);
  EXPECT_THAT(result.stdout_text, HasSubstr("No selected run could be rerun within the budget"));
  EXPECT_EQ(StoredReport().left_out.size(), 1U);
}

TEST_F(DrillProgram, SaysOfEachRerunHowItEndedWhenVerbose) {
  RecordRuns(1);
  const ProcessResult result =
      Run({kRharness, "--verbose", "drill", "--history", "runs.db", "--out", "out"});
  EXPECT_THAT(result.stderr_text, HasSubstr("exited with 0"));
}

TEST_F(DrillProgram, ResumesNothingElseThanTheDrillThatWasInterrupted) {
  const ProcessResult result = Run({kRharness, "drill", "--resume", "--dry-run", "--out", "out"});
  EXPECT_EQ(result.outcome.exit_code, 2);
  EXPECT_THAT(result.stderr_text, HasSubstr("--dry-run"));
}

TEST_F(DrillProgram, NamesAWordThatIsNoVerb) {
  const ProcessResult result = Run({kRharness, "dril", "--history", "x"});
  EXPECT_EQ(result.outcome.exit_code, 2);
  EXPECT_THAT(result.stderr_text, HasSubstr("'dril' is no verb"));
  EXPECT_THAT(result.stderr_text, HasSubstr("check, history, fetch, drill, "
                                            "isolate, properties, gameday, compare, hash"));
}

TEST_F(DrillProgram, RefusesNumbersThatAreNone) {
  RecordRuns(1);
  const std::vector<std::vector<std::string>> refused = {
      {"--seed", "-1"},           {"--seed", "18446744073709551616"},
      {"--sample", "-1"},         {"--rerun-disk", "-5"},
      {"--memory", "-1"},         {"--budget", "nan"},
      {"--timeout-floor", "nan"}, {"--timeout-factor", "inf"}};
  for (const auto& options : refused) {
    EXPECT_EQ(Drill(options).outcome.exit_code, 2) << options[0] << ' ' << options[1];
  }
  EXPECT_FALSE(fs::exists(At("out")));
}

TEST_F(DrillProgram, RefusesEmptyFolders) {
  RecordRuns(1);
  for (const char* option : {"--out", "--root"}) {
    EXPECT_EQ(Run({kRharness, "drill", "--history", "runs.db", option, ""}).outcome.exit_code, 2);
  }
}

TEST_F(DrillProgram, ReadsTheConfigurationThatTheEnvironmentNames) {
  RecordRuns(1);
  environment_["RHARNESS_CONFIG"] = At("rharness.ini").string();
  EXPECT_EQ(Drill().outcome.exit_code, 2) << "it is not there";
  ASSERT_TRUE(WriteFileAtomic(At("rharness.ini"), "[drill]\nreruns=2\n").ok());
  EXPECT_EQ(Drill().outcome.exit_code, 0);
  EXPECT_EQ(StoredReport().runs.at(0).reruns.size(), 2U);
}

TEST_F(DrillProgram, SetsNoLimitWhereOneIsLargerThanAnyFile) {
  RecordRuns(1);
  EXPECT_EQ(Drill({"--rerun-disk", "18446744073709551615B"}).outcome.exit_code, 0);
}

TEST_F(DrillProgram, RefusesAnUnknownKeyInAConfiguration) {
  RecordRuns(1);
  ASSERT_TRUE(WriteFileAtomic(At("rharness.ini"), "[drill]\nrerunz=3\n").ok());
  const ProcessResult result =
      Run({kRharness, "--config", "rharness.ini", "drill", "--history", "runs.db", "--out", "out"});
  EXPECT_EQ(result.outcome.exit_code, 2);
  EXPECT_THAT(result.stderr_text, HasSubstr("rerunz"));
}

TEST_F(DrillProgram, RefusesAHistoryThatIsNotThereAndMakesNone) {
  for (const char* option : {"--dry-run", "--json"}) {
    const ProcessResult result =
        Run({kRharness, "drill", "--history", "misspelled.db", "--out", "out", option});
    EXPECT_EQ(result.outcome.exit_code, 2);
    EXPECT_THAT(result.stderr_text, HasSubstr("no such history"));
  }
  EXPECT_FALSE(fs::exists(At("misspelled.db")));
}

TEST_F(DrillProgram, LeavesNoTraceWhereNothingIsSelected) {
  RecordRuns(2);
  const std::vector<std::pair<std::vector<std::string>, std::string>> refused = {
      {{"--select", "family = tinny"}, "no run's family is \"tinny\"; expected \"tiny\""},
      {{"--select", "family = tiny or run_id = c"}, "expected \"a\", \"b\""},
      {{"--select", "verified > 30d and not verified = never"}, "none of the 2 runs"},
      {{"--sample", "0"}, "expected at least 1"}};
  for (const auto& [options, expected] : refused) {
    for (const bool dry : {false, true}) {
      std::vector<std::string> all = options;
      if (dry) all.emplace_back("--dry-run");
      const ProcessResult result = Drill(all);
      EXPECT_EQ(result.outcome.exit_code, 2) << options[1];
      EXPECT_THAT(result.stderr_text, HasSubstr(expected));
      EXPECT_FALSE(fs::exists(At("out"))) << options[1];
    }
  }
  EXPECT_EQ(Drill().outcome.exit_code, 0) << "the folder is as good as new";
}

TEST_F(DrillProgram, ReproducesARunWhoseMetricsHaveAMemberThatWasLeftOut) {
  Write("value", R"(0.75}, "extra": {"a": 1)");
  RecordRuns(1);
  EXPECT_EQ(Drill().outcome.exit_code, 0);
  EXPECT_EQ(EvidenceOf("a").metrics.metrics.at("accuracy"), 0.75);
  EXPECT_TRUE(EvidenceOf("a").remarks.empty()) << "its manifest says it already";
}

TEST_F(DrillProgram, NamesTheColumnOfABadExpression) {
  RecordRuns(1);
  const ProcessResult result = Drill({"--select", "family = tiny and colour = red"});
  EXPECT_EQ(result.outcome.exit_code, 2);
  EXPECT_THAT(result.stderr_text, HasSubstr("column 19"));
}

TEST_F(DrillProgram, LeavesUnsetWhatWasUnset) {
  environment_.erase("LANG");
  environment_["TZ"] = "UTC";
  Record("a", {});
  environment_["LANG"] = "en_GB.UTF-8";
  environment_.erase("TZ");
  Record("b", {});
  Add();
  EXPECT_EQ(Drill().outcome.exit_code, 0);
  EXPECT_EQ(EvidenceOf("a").environment.variables.at("LANG"), std::nullopt);
  EXPECT_EQ(EvidenceOf("a").environment.variables.at("TZ"), "UTC");
  EXPECT_EQ(EvidenceOf("b").environment.variables.at("LANG"), "en_GB.UTF-8");
  EXPECT_EQ(EvidenceOf("b").environment.variables.at("TZ"), std::nullopt);
  for (const ReportRun& run : StoredReport().runs) {
    EXPECT_EQ(run.layers[2].state, LayerState::kSame) << run.run_id;
  }
}

TEST_F(DrillProgram, ReadsDataThatWereRecordedByAnAbsolutePathWhereTheyLie) {
  const std::string script = "printf '{\"metrics\": {\"accuracy\": %s}}' \"$(cat " +
                             At("link").string() + ")\" > metrics.json";
  fs::create_symlink(At("value"), At("link"));
  Record("a", {"--data", "absolute=" + At("link").string()}, {"sh", "-c", script});
  Add();
  const ProcessResult result = Drill();
  EXPECT_EQ(result.outcome.exit_code, 0) << result.stdout_text << result.stderr_text;
}

TEST_F(DrillProgram, DrillsTheRestWhenOneRunCannotBePutInPlace) {
  Record("a", {"--data", "absolute=" + At("value").string()});
  Record("b", {});
  Add();
  fs::copy(At("value"), At("moved"));
  // "a" finds its data elsewhere, where a command on the host would not look.
  const ProcessResult result = Drill({"--map", "value=" + At("moved").string()});
  EXPECT_EQ(result.outcome.exit_code, 4) << result.stdout_text << result.stderr_text;
  const Report report = StoredReport();
  EXPECT_EQ(report.counts.at("infra"), 1);
  EXPECT_EQ(report.counts.at("identical"), 1);
}

// The workers of a PyTorch loader hand tensors over by sockets there, whose addresses have 107
// bytes.
TEST_F(DrillProgram, ARunCanMakeSocketsInItsTemporaryFolderHoweverDeepTheDrillLies) {
  Write("train.sh",
        "python3 -c 'import os, socket, tempfile\n"
        "place = tempfile.mkdtemp(prefix=\"pymp-\")\n"
        "socket.socket(socket.AF_UNIX).bind(place + \"/listener-01234567\")\n"
        "print(os.path.realpath(place))' && echo run >> \"$1/calls\" && "
        "echo '{\"metrics\": {\"accuracy\": 0.75}}' > metrics.json\n");
  RecordRuns(1);
  ASSERT_TRUE(std::filesystem::create_directory(At("tmp")));
  environment_["TMPDIR"] = At("tmp").string();
  const std::string deep = "drills/" + std::string(60, 'd') + "/" + std::string(60, 'e');
  const ProcessResult drill = Run({kRharness, "drill", "--history", "runs.db", "--out", deep});
  EXPECT_EQ(drill.outcome.exit_code, 0) << drill.stdout_text << drill.stderr_text;
  EXPECT_THAT(Read(At(deep + "/runs/a/1/stdout.log")), HasSubstr(deep + "/runs/a/1/workspace/.tmp"))
      << "they lie in the workspace all the same, where limits hold";
  EXPECT_TRUE(std::filesystem::is_empty(At("tmp"))) << "nothing stays behind";
}

}  // namespace
}  // namespace rharness
