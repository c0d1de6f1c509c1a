// Where the verbs write: folders that are missing, in the way, or somebody's input.
#include <gmock/gmock.h>

#include <filesystem>
#include <string>
#include <vector>

#include "harness/base/files.h"
#include "harness/base/subprocess.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

class Outputs : public testing::Test {
 protected:
  Outputs() {
    EXPECT_TRUE(WriteFileAtomic(At("a.csv"), "step,loss\n1,2.5\n2,1.5\n3,1\n").ok());
    EXPECT_TRUE(WriteFileAtomic(At("b.csv"), "step,loss\n1,2.5\n2,1.5\n3,1\n").ok());
    Run({"compare", "a.csv", "b.csv", "--json-file", "c.json"});
  }
  fs::path At(const std::string& name) const { return folder_.path() / name; }
  ProcessResult Run(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), RHARNESS_BIN_DIR "/rharness");
    ProcessLimits limits;
    limits.timeout = std::chrono::seconds(60);
    return RunProcess(
        ProcessSpec{arguments, PickEnvironment({"PATH", "HOME", "TMPDIR"}), folder_.path()},
        limits);
  }
  // Every verb's words up to the name of its output.
  static std::vector<std::vector<std::string>> Commands() {
    return {{"report", "c.json", "--html"},           {"report", "c.json", "--junit"},
            {"report", "c.json", "--json-file"},      {"report", "c.json", "--markdown"},
            {"compare", "a.csv", "b.csv", "--html"},  {"compare", "a.csv", "b.csv", "--json-file"},
            {"compare", "a.csv", "b.csv", "--bundle"}};
  }

 private:
  ScopedTempDir folder_ = std::move(ScopedTempDir::Make()).value();
};

TEST_F(Outputs, SayWhichFolderWasMade) {
  int count = 0;
  for (std::vector<std::string> command : Commands()) {
    const std::string folder = "new/" + std::to_string(++count);
    command.push_back(folder + "/x.tar.zst");
    const ProcessResult made = Run(command);
    EXPECT_THAT(made.stderr_text, HasSubstr("made the folder " + At(folder).string() + "\n"))
        << command[3];
    EXPECT_TRUE(fs::exists(At(folder + "/x.tar.zst"))) << command[3];
    EXPECT_THAT(Run(command).stderr_text, Not(HasSubstr("made the folder"))) << "it is there now";
  }
  const ProcessResult recorded = Run({"record", "--out", "runs/a.json", "--", "true"});
  EXPECT_THAT(recorded.stderr_text, HasSubstr("made the folder " + At("runs").string() + "\n"));
  EXPECT_THAT(Run({"--quiet", "report", "c.json", "--html", "quiet/x.html"}).stderr_text, "");
}

TEST_F(Outputs, RefuseAFileInTheWayBeforeAnythingIsMade) {
  for (std::vector<std::string> command : Commands()) {
    command.emplace_back("a.csv/x.tar.zst");
    const ProcessResult result = Run(command);
    EXPECT_EQ(result.outcome.exit_code, 2) << command[3];
    EXPECT_THAT(result.stderr_text, HasSubstr("a.csv is no folder; expected one to write in"));
    EXPECT_EQ(result.stdout_text, "");
  }
  const ProcessResult folder = Run({"report", "c.json", "--html", "."});
  EXPECT_EQ(folder.outcome.exit_code, 2);
  EXPECT_THAT(folder.stderr_text, HasSubstr("is a folder; expected the name of a file"));
  EXPECT_EQ(Run({"record", "--out", "a.csv/a.json", "--", "touch", "ran"}).outcome.exit_code, 2);
  EXPECT_FALSE(fs::exists(At("ran")));
}

TEST_F(Outputs, RefuseANameOfTheSystemThatLeadsToAFile) {
  const ProcessResult result = Run({"report", "c.json", "--html", "/proc/self/exe"});
  EXPECT_EQ(result.outcome.exit_code, 2);
  EXPECT_THAT(result.stderr_text, HasSubstr("is no regular file; expected a file, a name that is "
                                            "free, or - for stdout"));
}

TEST_F(Outputs, OfAReportWantAReport) {
  ASSERT_TRUE(WriteFileAtomic(At("started/journal.jsonl"), "").ok());
  ASSERT_TRUE(WriteFileAtomic(At("empty/a.txt"), "").ok());
  ASSERT_TRUE(WriteFileAtomic(At("m.json"), R"({"schema": "rharness.manifest/v1"})").ok());
  ASSERT_TRUE(WriteFileAtomic(At("list.json"), "[]").ok());
  const std::vector<std::pair<const char*, const char*>> refused = {
      {"none", "none: is not there; expected a drill's folder"},
      {"empty", "empty: a folder without a report.json; expected a drill's folder"},
      {"started",
       "started: a drill that has no report yet; `rharness drill --resume --out started`"},
      {"m.json", "m.json: is a rharness.manifest; expected a drill's folder"},
      {"list.json", "list.json: is JSON of another kind; expected a drill's folder"}};
  for (const auto& [source, expected] : refused) {
    const ProcessResult result = Run({"report", source, "--html", "x.html"});
    EXPECT_EQ(result.outcome.exit_code, 2) << source;
    EXPECT_THAT(result.stderr_text, HasSubstr(expected));
    EXPECT_FALSE(fs::exists(At("x.html"))) << source;
  }
}

TEST_F(Outputs, OfAComparisonNameTheMembersThatWereLeftOut) {
  ASSERT_TRUE(WriteFileAtomic(At("m.json"), R"({"metrics": {"a": 1}, "epochs": 3})").ok());
  const ProcessResult result = Run({"compare", "m.json", "m.json"});
  EXPECT_NE(result.outcome.exit_code, 2) << result.stderr_text;
  EXPECT_THAT(result.stdout_text, HasSubstr("unknown member \"epochs\"; left out"));
}

}  // namespace
}  // namespace rharness
