// A folder in the place of a history: of manifests, of a drill, and of neither, in each verb.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "tests/cli/drill_program.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

class HistoryPlace : public DrillProgram {
 protected:
  ProcessResult Verb(std::vector<std::string> argv, const std::string& history) const {
    argv.insert(argv.begin(), kRharness);
    argv.insert(argv.end(), {"--history", history});
    return Run(argv);
  }
  ProcessResult DrillFolder(const std::string& out) const {
    return Verb({"drill", "--out", out}, "runs");
  }
};

TEST_F(HistoryPlace, AFolderOfManifestsKeepsTheirVerdicts) {
  Record("a", {});
  Record("b", {});
  const ProcessResult drilled = DrillFolder("out");
  ASSERT_EQ(drilled.outcome.exit_code, 0) << drilled.stdout_text << drilled.stderr_text;
  EXPECT_THAT(drilled.stderr_text, HasSubstr("runs/runs.db: added 2 runs"));
  EXPECT_EQ(StoredReport().history, At("runs/runs.db").string());
  const ProcessResult listed = Verb({"history", "list"}, "runs");
  EXPECT_THAT(listed.stdout_text, HasSubstr("identical"));
  EXPECT_THAT(listed.stderr_text, Not(HasSubstr("added"))) << "nothing is new";
  Record("c", {});
  EXPECT_THAT(Verb({"history", "list"}, "runs").stderr_text, HasSubstr("added 1 run"));
  EXPECT_THAT(Verb({"history", "show", "c"}, "runs").stdout_text, HasSubstr("c"));
  EXPECT_EQ(Verb({"slo"}, "runs").outcome.exit_code, 0);
  // What is stored stays when the manifests go.
  for (const char* name : {"a", "b", "c"}) fs::remove(At(std::string("runs/") + name + ".json"));
  EXPECT_EQ(Verb({"history", "show", "a"}, "runs").outcome.exit_code, 0);
}

TEST_F(HistoryPlace, ADrillsFolderStandsForItsHistory) {
  RecordRuns(2);
  ASSERT_EQ(Drill().outcome.exit_code, 0);
  EXPECT_EQ(Verb({"history", "list", "--json"}, "out").stdout_text,
            Verb({"history", "list", "--json"}, "runs.db").stdout_text);
  EXPECT_EQ(Verb({"drill", "--out", "again"}, "out").outcome.exit_code, 0);
  fs::remove(At("again/report.json"));  // as of a drill that has none yet
  EXPECT_EQ(Verb({"slo"}, "again").outcome.exit_code, 0);
  EXPECT_FALSE(fs::exists(At("out/runs.db")));
  fs::remove(At("runs.db"));
  const ProcessResult gone = Verb({"history", "list"}, "out");
  EXPECT_EQ(gone.outcome.exit_code, 2);
  EXPECT_THAT(gone.stderr_text, HasSubstr("runs.db"));
}

TEST_F(HistoryPlace, EveryVerbReadsIt) {
  Record("a", {});
  const std::vector<std::vector<std::string>> verbs = {
      {"isolate", "zz", "--against", "runs/a.json", "--out", "isolated"},
      {"properties", "zz", "--out", "properties"},
      {"incident", "zz", "--out", "incident"},
      {"gameday", "--select", "run_id = zz", "--out", "gameday"},
      {"drill", "--select", "run_id = zz", "--out", "drill"},
      {"compare", "--trace", "zz", "zz", "--out", "onset"},
  };
  for (const std::vector<std::string>& argv : verbs) {
    SCOPED_TRACE(fmt::format("{}", fmt::join(argv, " ")));
    const ProcessResult result = Verb(argv, "runs");
    EXPECT_EQ(result.outcome.exit_code, 2) << result.stdout_text;
    EXPECT_THAT(result.stderr_text, HasSubstr("zz"));
    EXPECT_TRUE(fs::exists(At("runs/runs.db"))) << result.stderr_text;
    fs::remove(At("runs/runs.db"));
  }
}

TEST_F(HistoryPlace, AFolderWithNothingOfTheKindIsAnError) {
  fs::create_directory(At("empty"));
  Write("empty/notes.json", "{}");
  const std::vector<std::vector<std::string>> verbs = {
      {"drill", "--out", "out"},
      {"isolate", "a", "--against", "b", "--out", "isolated"},
      {"properties", "a", "--out", "properties"},
      {"gameday", "--out", "gameday"},
      {"gate", "--baseline", "a.json", "--candidate", "b.json"},
      {"history", "list"},
      {"history", "show", "a"},
      {"slo"},
      {"serve", "--listen", "127.0.0.1:0"},
      {"incident", "a", "--out", "incident"},
      {"compare", "--trace", "a", "b", "--out", "onset"},
  };
  for (const std::vector<std::string>& argv : verbs) {
    SCOPED_TRACE(fmt::format("{}", fmt::join(argv, " ")));
    const ProcessResult result = Verb(argv, "empty");
    EXPECT_EQ(result.outcome.exit_code, 2) << result.stdout_text;
    EXPECT_THAT(result.stderr_text, HasSubstr("the folder stands for no history; expected *.json"));
    EXPECT_FALSE(fs::exists(At("empty/runs.db")));
  }
}

TEST_F(HistoryPlace, ManifestsThatAreNotCompleteAreStoredByForceAlone) {
  Record("a", {"--determinism", "bitwise"});
  const ProcessResult refused = Verb({"history", "list"}, "runs");
  EXPECT_EQ(refused.outcome.exit_code, 2) << refused.stdout_text;
  EXPECT_THAT(refused.stderr_text,
              HasSubstr("`rharness history add --force --history runs/runs.db"));
  EXPECT_FALSE(fs::exists(At("runs/runs.db")));
  const ProcessResult forced =
      Run({kRharness, "history", "add", "--force", "--history", "runs/runs.db", "runs"});
  ASSERT_EQ(forced.outcome.exit_code, 0) << forced.stderr_text;
  const ProcessResult listed = Verb({"history", "list"}, "runs");
  EXPECT_EQ(listed.outcome.exit_code, 0) << listed.stderr_text;
  EXPECT_EQ(listed.stderr_text, "");
}

}  // namespace
}  // namespace rharness
