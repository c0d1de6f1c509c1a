// rharness check --available as a program, and what record keeps so that a run can be had again.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "harness/base/digest.h"
#include "tests/cli/drill_program.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class CheckAvailable : public DrillProgram {
 protected:
  ProcessResult Available(std::vector<std::string> options) const {
    std::vector<std::string> argv = {kRharness, "check", "--available"};
    argv.insert(argv.end(), options.begin(), options.end());
    return Run(argv);
  }
};

TEST_F(CheckAvailable, SaysWhatIsHadGoneAndUnknown) {
  Record("a", {});
  const ProcessResult had = Available({"runs"});
  EXPECT_EQ(had.outcome.exit_code, 0) << had.stdout_text << had.stderr_text;
  EXPECT_EQ(had.stdout_text, "runs/a.json: admitted, had\n");
  EXPECT_EQ(had.stderr_text.find("; 1 had\n"), had.stderr_text.size() - 8) << had.stderr_text;
  EXPECT_THAT(Run({kRharness, "-v", "check", "--available", "runs"}).stdout_text,
              HasSubstr("runs/a.json: had: code file train.sh: below"));
  fs::remove(At("value"));
  const ProcessResult gone = Available({"runs/a.json"});
  EXPECT_EQ(gone.outcome.exit_code, 1);
  EXPECT_THAT(gone.stdout_text, StartsWith("runs/a.json: gone: data value: not at"));
  auto manifest = LoadManifest(At("runs/a.json"));
  manifest->data.at(0).source = "https://data.example/value";
  ASSERT_TRUE(WriteJsonFile(At("runs/a.json"), ToJson(*manifest)).ok());
  const ProcessResult unknown = Available({"--json", "runs/a.json"});
  EXPECT_EQ(unknown.outcome.exit_code, 3) << unknown.stdout_text;
  const auto json = ParseJson(unknown.stdout_text, "stdout");
  ASSERT_TRUE(json.ok());
  EXPECT_EQ(json->Find("schema")->AsString(), "rharness.check/v1");
  EXPECT_EQ(json->Find("exit_code")->ToInt64(), 3);
  EXPECT_EQ(json->Find("available")->Find("schema")->AsString(), "rharness.rebuild/v1");
  EXPECT_EQ(json->Find("available")->Find("state")->AsString(), "unknown");
}

TEST_F(CheckAvailable, RefusesWhatItCannotAnswer) {
  EXPECT_EQ(Available({}).outcome.exit_code, 2) << "neither manifests nor a history";
  EXPECT_EQ(Available({"--select", "run_id = a", "runs/a.json"}).outcome.exit_code, 2);
  const ProcessResult network = Run({kRharness, "check", "--network", "runs/a.json"});
  EXPECT_EQ(network.outcome.exit_code, 2);
  EXPECT_THAT(network.stderr_text, HasSubstr("--available: is missing, and goes with --network"));
}

TEST_F(CheckAvailable, TakesManifestsBeforeAHistoryOfTheEnvironment) {
  Record("a", {});
  const ProcessResult result = Run({"env", "RHARNESS_HISTORY=none.db", kRharness, "check", "runs"});
  EXPECT_EQ(result.outcome.exit_code, 0) << result.stderr_text;
  EXPECT_EQ(Run({kRharness, "check", "runs", "--history", "none.db"}).outcome.exit_code, 2);
}

// The one exit code is that of the worst part.
TEST_F(CheckAvailable, SaysOfAnIncompleteRecordWhatIsGoneToo) {
  Record("a", {});
  fs::remove(At("value"));
  auto manifest = LoadManifest(At("runs/a.json"));
  manifest->family.clear();
  ASSERT_TRUE(WriteJsonFile(At("runs/a.json"), ToJson(*manifest)).ok());
  const ProcessResult result = Available({"runs/a.json"});
  EXPECT_EQ(result.outcome.exit_code, 2);
  EXPECT_THAT(result.stdout_text, HasSubstr("runs/a.json: $.family: "));
  EXPECT_THAT(result.stdout_text, HasSubstr("\nruns/a.json: gone: data value: "));
}

TEST_F(CheckAvailable, TellsAHistoryWhichSelectsByIt) {
  Write("other", "0.75");
  Record("a", {});
  Record("b", {"--data", "other"});
  Add();
  fs::remove(At("other"));
  EXPECT_EQ(Available({"--history", "runs.db"}).outcome.exit_code, 1);
  const ProcessResult list = Run({kRharness, "history", "list", "--history", "runs.db"});
  EXPECT_THAT(list.stdout_text, testing::ContainsRegex("a\ttiny.*\thad\nb\ttiny.*\tgone\n"));
  const ProcessResult plan = Drill({"--dry-run", "--select", "rebuild = gone"});
  EXPECT_THAT(plan.stdout_text, HasSubstr("\nb.1 "));
  EXPECT_THAT(plan.stdout_text, Not(HasSubstr("\na.1 ")));
  Write("other", "0.75");
  EXPECT_EQ(Available({"--history", "runs.db", "--select", "run_id = b"}).outcome.exit_code, 0);
  const ProcessResult now =
      Run({kRharness, "history", "list", "--history", "runs.db", "--select", "rebuild = gone"});
  EXPECT_EQ(now.stdout_text.find("\nb\t"), std::string::npos) << now.stdout_text;
}

// The whole folder is a repository, in which the trainer was changed and never committed.
class ChangedTree : public CheckAvailable {
 protected:
  void SetUp() override {
    Write("uv.lock", "locked\n");
    const ProcessResult made =
        Sh("git init -q . && git add train.sh value uv.lock && "
           "git -c user.name=a -c user.email=b commit -qm c");
    if (!made.outcome.Succeeded()) GTEST_SKIP() << "git is not installed: " << made.stderr_text;
    Write("train.sh", "printf '{\"metrics\": {\"accuracy\": 0.5}}' > metrics.json\n");
  }
  ProcessResult Sh(const std::string& script) const { return Run({"sh", "-c", script}); }
  ProcessResult RecordTree(std::vector<std::string> options = {}) {
    std::vector<std::string> argv = {kRharness,   "record",
                                     "--out",     "runs/a.json",
                                     "--family",  "tiny",
                                     "--root",    ".",
                                     "--data",    "value",
                                     "--metrics", "metrics.json",
                                     "--metric",  "accuracy,direction=higher,margin=0.01,primary",
                                     "--seed",    "init=1"};
    argv.insert(argv.end(), options.begin(), options.end());
    argv.insert(argv.end(), {"--", "sh", "train.sh"});
    return Run(argv);
  }
};

TEST_F(ChangedTree, IsRerunFromItsDiff) {
  const ProcessResult recorded = RecordTree();
  ASSERT_EQ(recorded.outcome.exit_code, 0) << recorded.stderr_text;
  const auto manifest = LoadManifest(At("runs/a.json"));
  EXPECT_TRUE(manifest->code.dirty);
  EXPECT_EQ(manifest->kept, "runs/kept");
  ASSERT_TRUE(IsSha256Hex(manifest->code.kept_diff_sha256));
  ASSERT_TRUE(Sh("git checkout -q train.sh").outcome.Succeeded());
  EXPECT_EQ(Available({"runs"}).outcome.exit_code, 0);
  Add();
  const ProcessResult drilled = Drill();
  EXPECT_EQ(drilled.outcome.exit_code, 0) << drilled.stdout_text << drilled.stderr_text;
  EXPECT_EQ(EvidenceOf("a").code_diff_sha256, manifest->code.kept_diff_sha256);
  EXPECT_EQ(EvidenceOf("a").metrics.metrics.at("accuracy"), 0.5);
  EXPECT_EQ(EvidenceOf("a").environment.lock_files.at("uv.lock"), Sha256HexOf("locked\n"));
}

TEST_F(ChangedTree, WithoutItsDiffIsNotAdmitted) {
  const ProcessResult recorded = RecordTree({"--no-diff"});
  ASSERT_EQ(recorded.outcome.exit_code, 0) << recorded.stderr_text;
  EXPECT_TRUE(LoadManifest(At("runs/a.json"))->code.kept_diff_sha256.empty());
  EXPECT_NE(Run({kRharness, "check", "runs/a.json"}).outcome.exit_code, 0);
  const ProcessResult asked = Available({"runs/a.json"});
  EXPECT_EQ(asked.outcome.exit_code, 2) << "the record is incomplete, too";
  EXPECT_THAT(asked.stdout_text, HasSubstr(": gone: diff"));
}

TEST_F(ChangedTree, ASecretIsNotKeptAndSaidToBeThere) {
  Write("train.sh", "API_TOKEN='abc123def456ghi7'\n" + Read(At("train.sh")));
  const ProcessResult recorded = RecordTree();
  ASSERT_EQ(recorded.outcome.exit_code, 0) << recorded.stderr_text;
  EXPECT_THAT(recorded.stderr_text, HasSubstr("looks like a secret"));
  EXPECT_THAT(recorded.stderr_text, Not(HasSubstr("abc123")));
  EXPECT_TRUE(LoadManifest(At("runs/a.json"))->code.kept_diff_sha256.empty());
  EXPECT_EQ(Sh("grep -r abc123 runs").stdout_text, "");
}

TEST_F(ChangedTree, LockFilesAreKeptByTheirHash) {
  ASSERT_EQ(RecordTree().outcome.exit_code, 0);
  const std::string sha256 = Sha256HexOf("locked\n");
  EXPECT_EQ(LoadManifest(At("runs/a.json"))->environment.lock_files.at("uv.lock"), sha256);
  const fs::path kept = At("runs/kept/sha256/" + sha256.substr(0, 2) + "/" + sha256);
  EXPECT_EQ(Read(kept), "locked\n");
  EXPECT_EQ(fs::status(kept).permissions(), fs::perms::owner_read);
}

TEST_F(ChangedTree, FilesThatGitDoesNotKnowAreKeptWhereAskedFor) {
  Write("new.sh", "printf '{\"metrics\": {\"accuracy\": 0.25}}' > metrics.json\n");
  Write("train.sh", "sh new.sh\n");
  const ProcessResult recorded = RecordTree({"--untracked"});
  ASSERT_EQ(recorded.outcome.exit_code, 0) << recorded.stderr_text;
  ASSERT_TRUE(Sh("git checkout -q train.sh && rm new.sh").outcome.Succeeded());
  Add();
  const ProcessResult drilled = Drill();
  EXPECT_EQ(drilled.outcome.exit_code, 0) << drilled.stdout_text << drilled.stderr_text;
  EXPECT_EQ(EvidenceOf("a").metrics.metrics.at("accuracy"), 0.25);
}

}  // namespace
}  // namespace rharness
