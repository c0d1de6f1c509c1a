// rharness check as a program: of files and of folders.
#include <gmock/gmock.h>

#include <filesystem>
#include <string>
#include <vector>

#include "harness/base/files.h"
#include "harness/base/subprocess.h"
#include "tests/records/manifest/example.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

constexpr char kBare[] =
    R"({"schema": "rharness.manifest/v1", "run_id": "bare", "command": ["true"]})";

constexpr char kNotes[] = R"("notes": ["recorded on the login node"])";

class CheckProgram : public testing::Test {
 protected:
  void Write(const std::string& name, const std::string& content) const {
    ASSERT_TRUE(WriteFileAtomic(folder_.path() / name, content).ok());
  }
  static std::string Complete(const std::string& run_id) {
    return Replaced(Replaced(kExampleManifest, "digits-0007", run_id), kNotes, R"("notes": [])");
  }
  ProcessResult Check(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), "check");
    return Run(std::move(arguments));
  }
  ProcessResult Run(std::vector<std::string> arguments) const {
    ProcessSpec spec;
    spec.argv = {RHARNESS_BIN_DIR "/rharness"};
    spec.argv.insert(spec.argv.end(), arguments.begin(), arguments.end());
    spec.environment = PickEnvironment({"PATH", "HOME", "TMPDIR"});
    spec.working_directory = folder_.path();
    ProcessLimits limits;
    limits.timeout = std::chrono::seconds(60);
    return RunProcess(spec, limits);
  }

 private:
  ScopedTempDir folder_ = std::move(ScopedTempDir::Make()).value();
};

TEST_F(CheckProgram, ChecksEveryFileAndForgesNoLine) {
  Write("bad.json", "{");
  Write("bare.json", R"({"schema": "rharness.manifest/v1", "run_id": "a", "command": ["true"],
                         "rng_sources": ["x"], "hyperparameters": {"a\nb": 1}})");
  const ProcessResult result = Check({"bad.json", "bare.json", "none.json"});
  EXPECT_EQ(result.outcome.exit_code, 2);
  EXPECT_TRUE(result.stdout_text.starts_with("bad.json: byte ")) << result.stdout_text;
  EXPECT_THAT(result.stdout_text, HasSubstr("\nbare.json: $.seeds.x: missing_seed: "));
  EXPECT_THAT(result.stdout_text, HasSubstr("\nnone.json: $: unreadable: "));
  EXPECT_EQ(result.stderr_text, "rharness: 0 of 3 manifests admitted\n");
}

TEST_F(CheckProgram, PrintsFindingsAsJson) {
  Write("bare.json", kBare);
  const ProcessResult result = Check({"--json", "bare.json"});
  EXPECT_EQ(result.outcome.exit_code, 2);
  const auto json = ParseJson(result.stdout_text, "stdout");
  ASSERT_TRUE(json.ok());
  const Json& file = json->Find("admission")->Find("manifests")->AsArray().at(0);
  EXPECT_FALSE(file.Find("admitted")->AsBool());
  EXPECT_EQ(file.Find("findings")->AsArray().at(0).Find("path")->AsString(), "$.family");
}

TEST_F(CheckProgram, IsWhatIsTypedInPlaceOfTheVerbsItReplaced) {
  const auto said = [](const std::string& verb, std::vector<std::string> before = {}) {
    ProcessSpec spec;
    spec.argv = {RHARNESS_BIN_DIR "/rharness"};
    spec.argv.insert(spec.argv.end(), before.begin(), before.end());
    spec.argv.insert(spec.argv.end(), {verb, "x.json"});
    spec.environment = PickEnvironment({"PATH"});
    const ProcessResult result = RunProcess(spec, {});
    EXPECT_EQ(result.outcome.exit_code, 2) << verb;
    EXPECT_EQ(result.stdout_text, "");
    return result.stderr_text;
  };
  EXPECT_EQ(said("admit"),
            "rharness: error: 'admit' is no verb any more; expected `rharness check`\n");
  EXPECT_EQ(said("lint"),
            "rharness: error: 'lint' is no verb any more; expected `rharness check`\n");
  EXPECT_EQ(said("rebuild", {"--quiet"}),
            "rharness: error: 'rebuild' is no verb any more; expected `rharness check "
            "--available`\n");
}

TEST_F(CheckProgram, IsNamedByTheHelpOfTheVerbsItReplaced) {
  ProcessSpec spec;
  spec.argv = {RHARNESS_BIN_DIR "/rharness", "help", "admit"};
  spec.environment = PickEnvironment({"PATH"});
  const ProcessResult result = RunProcess(spec, {});
  EXPECT_EQ(result.outcome.exit_code, 2);
  EXPECT_THAT(result.stderr_text, HasSubstr("expected `rharness check`"));
}

TEST_F(CheckProgram, SaysNothingOfAFileThatIsAdmitted) {
  Write("a.json", Complete("a"));
  const ProcessResult result = Check({"a.json"});
  EXPECT_EQ(result.outcome.exit_code, 0) << result.stdout_text;
  EXPECT_EQ(result.stdout_text, "");
}

TEST_F(CheckProgram, ShowsWhatWasFoundWhenTheRunWasRecorded) {
  Write("a.json",
        Replaced(Complete("a"), R"("notes": [])", R"("notes": ["drawn without a seed"])"));
  const ProcessResult result = Check({"a.json"});
  EXPECT_EQ(result.outcome.exit_code, 0) << result.stdout_text;
  EXPECT_EQ(result.stdout_text, "a.json: note: $.notes[0]: recorded: drawn without a seed\n");
}

TEST_F(CheckProgram, RefusesAChangedTreeWithoutCodeFilesAndSaysWhatToDo) {
  const std::string text = Complete("a");
  const auto files = text.find("\"files\": [");
  const auto end = text.find("}]", files);
  Write("a.json", text.substr(0, files) + "\"files\": [" + text.substr(end + 1));
  const ProcessResult result = Check({"a.json"});
  EXPECT_EQ(result.outcome.exit_code, 2);
  EXPECT_THAT(result.stdout_text, HasSubstr("a.json: $.code.files: unpinned_code: "));
  EXPECT_THAT(result.stdout_text, HasSubstr("--code-file"));
}

TEST_F(CheckProgram, FindsTheManifestsOfAFolderHoweverDeep) {
  Write("runs/b.json", Complete("b"));
  Write("runs/2026/a.json", Complete("a"));
  Write("runs/2026/torn.json", Complete("torn").substr(0, 300));
  Write("runs/bare.json", kBare);
  Write("runs/report.json", R"({"schema": "rharness.report/v1"})");
  Write("runs/notes.txt", "abc");
  const ProcessResult result = Check({"runs"});
  EXPECT_EQ(result.outcome.exit_code, 2);
  EXPECT_TRUE(
      result.stdout_text.starts_with("runs/2026/a.json: admitted\n"
                                     "runs/2026/torn.json: byte "))
      << result.stdout_text;
  EXPECT_THAT(result.stdout_text, HasSubstr("\nruns/b.json: admitted\nruns/bare.json: $.family: "));
  EXPECT_EQ(result.stderr_text,
            "rharness: 2 of 4 manifests admitted; 4 statements cross-checked, 0 contradictions; 2 "
            "other files skipped\n");
}

TEST_F(CheckProgram, TakesAFolderWithoutManifestsForASlip) {
  Write("runs/notes.txt", "abc");
  const ProcessResult result = Check({"runs"});
  EXPECT_EQ(result.outcome.exit_code, 2);
  EXPECT_THAT(result.stderr_text, HasSubstr("runs: the folder holds no manifest"));
}

TEST_F(CheckProgram, SaysInNotesWhatCannotFailAndAdmitsIt) {
  const std::string text =
      Replaced(Replaced(Complete("a"), "\"margin\": 0.01", "\"margin\": 4"),
               R"({"name": "loss", "steps": [0, 10, 20], "values": [2.3, 0.5, 0.03125]})",
               R"({"name": "lr", "steps": [0, 10, 20], "values": [0.1, 0.1, 0.1]})");
  Write("a.json", text);
  const ProcessResult result = Check({"a.json"});
  EXPECT_EQ(result.outcome.exit_code, 0) << result.stdout_text;
  EXPECT_EQ(
      result.stdout_text,
      "a.json: note: $.metrics[0].margin: wide_margin: margin 4 of 'accuracy' lets every "
      "value pass: the metric is 0.991 on a scale from 0 to 1, and no worse value is farther "
      "than 0.991 from it; expected a margin well below that\n"
      "a.json: note: $.curves[0].values: vacuous_curve: curve 'lr' never changes from 0.1: it "
      "shows nothing, and counts neither for a rerun nor against it\n");
  EXPECT_EQ(result.stderr_text,
            "rharness: 1 of 1 manifests admitted; 2 statements cross-checked, 0 contradictions\n");
  EXPECT_EQ(Check({"--quiet", "a.json"}).stdout_text, "");
  const auto json = ParseJson(Check({"--json", "a.json"}).stdout_text, "stdout");
  ASSERT_TRUE(json.ok());
  const Json& one = json->Find("admission")->Find("manifests")->AsArray()[0];
  EXPECT_TRUE(one.Find("admitted")->AsBool());
  EXPECT_TRUE(one.Find("findings")->AsArray().empty());
  ASSERT_EQ(one.Find("notes")->AsArray().size(), 2U);
  EXPECT_EQ(one.Find("notes")->AsArray()[0].Find("code")->AsString(), "wide_margin");
}

TEST_F(CheckProgram, LeavesItToTheHistoryToSayANoteOnceWithItsRuns) {
  for (int i = 0; i < 9; ++i) {
    const std::string run = "run-" + std::to_string(i);
    Write("runs/" + run + ".json", Replaced(Complete(run), "\"margin\": 0.01", "\"margin\": 4"));
  }
  const ProcessResult added = Run({"history", "add", "--history", "runs.db", "runs"});
  EXPECT_EQ(added.outcome.exit_code, 0) << added.stderr_text;
  const std::string& said = added.stderr_text;
  EXPECT_EQ(said.find("wide_margin"), said.rfind("wide_margin")) << said;
  EXPECT_THAT(said, HasSubstr("note: run-0: $.metrics[0].margin: margin 4 of 'accuracy' lets "));
  EXPECT_THAT(said,
              HasSubstr("(wide_margin); so in 9 runs: run-0, run-1, run-2, run-3, run-4, ...\n"));
}

TEST_F(CheckProgram, HoldsMarginsToTheSpreadOfTheFamilyThatIsGiven) {
  std::vector<std::string> files;
  for (int i = 0; i < 4; ++i) {
    const std::string run = "run-" + std::to_string(i);
    Write(run + ".json", Replaced(Replaced(Replaced(Complete(run), R"("--seed", "7")",
                                                    R"("--seed", ")" + std::to_string(i) + "\""),
                                           "\"init\": 7", "\"init\": " + std::to_string(i)),
                                  "\"value\": 0.991", "\"value\": 0.99" + std::to_string(i)));
    files.push_back(run + ".json");
  }
  const ProcessResult result = Check(files);
  EXPECT_EQ(result.outcome.exit_code, 0) << result.stdout_text;
  EXPECT_THAT(result.stdout_text, HasSubstr("is 7.75 standard deviations of its family (0.00129 "
                                            "over 4 runs)"));
  EXPECT_EQ(Check({files[0]}).stdout_text, "") << "one run has no spread";
}

TEST_F(CheckProgram, RefusesTwoRunsOfOneName) {
  Write("runs/a.json", Complete("a"));
  Write("runs/copy.json", Complete("a"));
  EXPECT_EQ(Check({"runs"}).outcome.exit_code, 0) << "the same run twice";
  Write("runs/other.json", Replaced(Complete("a"), "\"init\": 7", "\"init\": 9"));
  const ProcessResult result = Check({"runs"});
  EXPECT_EQ(result.outcome.exit_code, 2);
  EXPECT_THAT(result.stdout_text, HasSubstr("runs/other.json: $.run_id: duplicate_run_id: 'a' is "
                                            "that of runs/a.json"));
}

}  // namespace
}  // namespace rharness
