// `rharness retention`: shown first, deleted with two signatures, by exactly the list they are for.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "harness/base/clock.h"
#include "harness/base/json.h"
#include "harness/history/store.h"
#include "tests/cli/signed_program.h"
#include "tests/history/raw_history.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

// Runs "a", "b" and "c", recorded in this order, each with a log of its own.
class Retention : public SignedProgram {
 protected:
  void SetUp() override {
    SignedProgram::SetUp();
    Write("train.sh",
          kScript + std::string("[ -z \"$2\" ] || printf 'log of %s' \"$2\" > $2.log\n"));
    for (const std::string run : {"a", "b", "c"}) {
      Record(run, {"--artifact", "log=" + run + ".log", "--keep", "outputs"},
             {"sh", "train.sh", At("").string(), run});
    }
    Add();
    Policy("");
  }
  void Policy(const std::string& rest) const {
    Write("policy.yaml", "version: 1\nretention:\n  - {families: \"*\", keep_last: 1}\n" + rest);
  }
  ProcessResult Retain(const std::vector<std::string>& words,
                       const std::vector<std::string>& options = {}) const {
    std::vector<std::string> argv = {kRharness, "retention"};
    argv.insert(argv.end(), words.begin(), words.end());
    argv.insert(argv.end(), {"--history", "runs.db"});
    argv.insert(argv.end(), options.begin(), options.end());
    return Run(argv);
  }
  ProcessResult Plan(const std::vector<std::string>& options = {}) const {
    std::vector<std::string> all = {"--policy", "policy.yaml", "--root", "."};
    all.insert(all.end(), options.begin(), options.end());
    return Retain({}, all);
  }
  ProcessResult Step(const std::string& step, const std::string& key = "",
                     const std::vector<std::string>& options = {}) const {
    std::vector<std::string> all = {"--policy", "policy.yaml", "--root",
                                    ".",        "--trust",     "trust.yaml"};
    if (!key.empty()) all.insert(all.end(), {"--key", key + ".pem"});
    all.insert(all.end(), options.begin(), options.end());
    return Retain({step}, all);
  }
  ProcessResult Ask(const std::string& key = "ada") const {
    return Step("request", key, {"--reason", "disk is full"});
  }
  void ExpectRefused(const ProcessResult& result, int code, const std::string& says) const {
    EXPECT_EQ(result.outcome.exit_code, code) << result.stdout_text << result.stderr_text;
    EXPECT_THAT(result.stderr_text, HasSubstr(says));
  }
  bool IsThere(const std::string& name) const { return fs::exists(At(name)); }
  std::string Digest() const {
    const auto json = ParseJson(Plan({"--json"}).stdout_text, "plan");
    return json.ok() ? json->Find("list_sha256")->AsString() : "";
  }
};

TEST_F(Retention, ShowsFilesBytesReasonsAndLossesAndDeletesNothing) {
  const ProcessResult shown = Plan({"--dry-run", "--list", "list.json"});
  EXPECT_EQ(shown.outcome.exit_code, 0) << shown.stderr_text;
  EXPECT_THAT(shown.stdout_text, HasSubstr("outputs/a/a.log  8 B, log of a\n  why   recorded "));
  EXPECT_THAT(shown.stdout_text, HasSubstr("not the last of family tiny (policy.yaml:3)"));
  EXPECT_THAT(shown.stdout_text, HasSubstr("lost  rharness lint cannot hold the record to it"));
  EXPECT_THAT(shown.stdout_text, HasSubstr("c: the last of family tiny"));
  EXPECT_TRUE(IsThere("outputs/a/a.log"));
  const ProcessResult hashed = Run({"sha256sum", "list.json"});
  EXPECT_EQ(hashed.stdout_text.substr(0, 64), Digest());
  ExpectRefused(Step("apply"), 2, "nobody asked for its deletion");
  ExpectRefused(Retain({}), 2, "--policy is required");
  const ProcessResult dry = Retain(
      {"--dry-run", "apply"}, {"--policy", "policy.yaml", "--root", ".", "--trust", "trust.yaml"});
  EXPECT_EQ(dry.outcome.exit_code, 0) << dry.stderr_text;
}

TEST_F(Retention, DeletesWhatTwoPeopleSignedForAndKeepsTheRecords) {
  EXPECT_EQ(Ask().outcome.exit_code, 0);
  ExpectRefused(Step("apply"), 2, "somebody else has to approve");
  ExpectRefused(Step("approve", "home"), 2, "somebody else has to approve");
  ExpectRefused(Step("approve", "eve"), 5, "no key of the policy");
  const ProcessResult approved = Step("approve", "bob");
  EXPECT_EQ(approved.outcome.exit_code, 0) << approved.stderr_text;
  EXPECT_THAT(approved.stdout_text, HasSubstr("approved, 2 files, 16 B: disk is full"));
  EXPECT_TRUE(IsThere("outputs/a/a.log"));
  const ProcessResult dry = Retain(
      {"--dry-run", "apply"}, {"--policy", "policy.yaml", "--root", ".", "--trust", "trust.yaml"});
  EXPECT_THAT(dry.stdout_text, HasSubstr("Ada and Bob signed for"));
  EXPECT_TRUE(IsThere("outputs/a/a.log"));
  const ProcessResult applied = Step("apply");
  EXPECT_EQ(applied.outcome.exit_code, 0) << applied.stderr_text;
  EXPECT_THAT(applied.stdout_text, HasSubstr("done, 2 files"));
  EXPECT_THAT(applied.stdout_text, HasSubstr("2 of 2 files are gone"));
  EXPECT_FALSE(IsThere("outputs/a/a.log"));
  EXPECT_FALSE(IsThere("outputs/b/b.log"));
  EXPECT_TRUE(IsThere("outputs/c/c.log"));
  EXPECT_TRUE(IsThere("runs/a.json"));
  EXPECT_EQ(Drill({"--select", "run_id = a"}).outcome.exit_code, 0) << "it can still be rerun";
  EXPECT_THAT(Retain({"list"}, {"--trust", "trust.yaml"}).stdout_text, HasSubstr(": done, "));
  EXPECT_THAT(Plan().stdout_text, HasSubstr("Nothing would be deleted."));
}

TEST_F(Retention, ThatWasDoneSaysSoWhenAndByWhom) {
  EXPECT_EQ(Ask().outcome.exit_code, 0);
  EXPECT_EQ(Step("approve", "bob").outcome.exit_code, 0);
  EXPECT_EQ(Step("apply").outcome.exit_code, 0);
  const ProcessResult again = Step("apply");
  EXPECT_EQ(again.outcome.exit_code, 0) << again.stderr_text;
  EXPECT_THAT(again.stderr_text,
              testing::ContainsRegex("nothing is to be deleted; the last list was carried out at "
                                     "20[0-9T:.-]+Z: 2 of 2 files are gone; asked for by Ada, "
                                     "approved by Bob"));
  EXPECT_THAT(again.stdout_text, HasSubstr(": done, 2 files"));
  // Restored, and so a deletion that nobody signed for.
  Write("outputs/a/a.log", "log of a");
  Write("outputs/b/b.log", "log of b");
  ExpectRefused(Step("apply"), 2, "approved by Bob; what lies there again is another deletion");
  ExpectRefused(Ask(), 2, "was carried out at 20");
  EXPECT_TRUE(IsThere("outputs/a/a.log"));
  fs::remove(At("outputs/a/a.log"));
  ExpectRefused(Step("apply"), 2, "nobody asked for its deletion");
  ExpectRefused(Step("apply"), 2, ", was carried out at 20");
  EXPECT_TRUE(IsThere("outputs/b/b.log"));
}

// What somebody does who can write to the history's file: an approval that was spent is one that
// waits again, and what was restored would go by it.
class SpentApproval : public Retention {
 protected:
  void SetUp() override {
    Retention::SetUp();
    ASSERT_EQ(Ask().outcome.exit_code, 0);
    ASSERT_EQ(Step("approve", "bob").outcome.exit_code, 0);
  }
  ProcessResult Audit(const std::string& verb, const std::vector<std::string>& options = {}) const {
    std::vector<std::string> argv = {kRharness, "audit", verb, "--history", "runs.db"};
    argv.insert(argv.end(), options.begin(), options.end());
    return Run(argv);
  }
  ProcessResult Apply(const std::vector<std::string>& options = {}) const {
    std::vector<std::string> all = {"--audit", "runs.db.audit"};
    all.insert(all.end(), options.begin(), options.end());
    return Step("apply", "", all);
  }
  void Replay() const {
    RawHistory raw(At("runs.db").string());
    EXPECT_EQ(raw.RunPastTriggers("DELETE FROM deleted_items; DELETE FROM deletions"), "");
    Write("outputs/a/a.log", "log of a");
    Write("outputs/b/b.log", "log of b");
  }
};

TEST_F(SpentApproval, IsRefusedWhereTheAuditLogHasTheDeletion) {
  const std::string digest = Digest();
  ExpectRefused(Apply(), 2, "holds no audit log; is its volume mounted?");
  EXPECT_TRUE(IsThere("outputs/a/a.log"));
  ASSERT_EQ(Audit("append", {"--begin"}).outcome.exit_code, 0);
  const ProcessResult applied = Apply();
  EXPECT_EQ(applied.outcome.exit_code, 0) << applied.stderr_text;
  EXPECT_FALSE(IsThere("outputs/a/a.log"));
  EXPECT_THAT(Read(At("runs.db.audit/entries.jsonl")),
              HasSubstr("\"kind\":\"deletion\",\"name\":\"" + digest))
      << "it was entered by this";
  EXPECT_EQ(Audit("verify", {"--complete", "--policy", "policy.yaml"}).outcome.exit_code, 0);
  EXPECT_EQ(Apply().outcome.exit_code, 0) << "nothing is left to do";
  Replay();
  const ProcessResult again = Apply();
  EXPECT_THAT(again.stderr_text,
              testing::ContainsRegex("audit log runs.db.audit: entry [0-9]+ \\(deletion " + digest +
                                     "\\) is not there any more.*; nothing was deleted"));
  EXPECT_EQ(again.outcome.exit_code, 5) << again.stderr_text;
  EXPECT_TRUE(IsThere("outputs/a/a.log"));
  EXPECT_TRUE(IsThere("outputs/b/b.log"));
  // Without the log nothing tells that it was spent.
  EXPECT_EQ(Step("apply").outcome.exit_code, 0);
  EXPECT_FALSE(IsThere("outputs/a/a.log"));
}

TEST_F(SpentApproval, IsRefusedByAKeptHeadWhereTheLogWasPutBack) {
  ASSERT_EQ(Audit("append", {"--begin"}).outcome.exit_code, 0);
  fs::copy(At("runs.db.audit"), At("before"), fs::copy_options::recursive);
  ASSERT_EQ(Apply({"--key", "ada.pem"}).outcome.exit_code, 0);
  fs::copy(At("runs.db.audit/heads.jsonl"), At("kept.json"));
  fs::remove_all(At("runs.db.audit"));
  fs::rename(At("before"), At("runs.db.audit"));
  Replay();
  const ProcessResult held = Apply({"--head", "kept.json"});
  EXPECT_EQ(held.outcome.exit_code, 5) << held.stderr_text;
  EXPECT_THAT(held.stderr_text, HasSubstr("nothing was deleted"));
  EXPECT_TRUE(IsThere("outputs/a/a.log"));
  ExpectRefused(Step("apply", "", {"--head", "kept.json"}), 2, "goes with --audit");
  ExpectRefused(Step("apply", "", {"--key", "ada.pem"}), 2, "goes with --audit");
}

// One that was begun, and killed, goes on: the history has what the log has.
TEST_F(SpentApproval, GoesOnWithWhatWasBegun) {
  ASSERT_EQ(Step("apply").outcome.exit_code, 0);
  RawHistory raw(At("runs.db").string());
  EXPECT_EQ(raw.RunPastTriggers("DELETE FROM deleted_items WHERE item = 1 AND step <> 'about'"),
            "");
  Write("outputs/b/b.log", "log of b");
  ASSERT_EQ(Audit("append", {"--begin"}).outcome.exit_code, 0);
  const ProcessResult on = Apply();
  EXPECT_EQ(on.outcome.exit_code, 0) << on.stderr_text;
  EXPECT_THAT(on.stderr_text, HasSubstr("goes on with the list "));
  EXPECT_FALSE(IsThere("outputs/b/b.log"));
}

TEST_F(Retention, IsRefusedWhereTheListChangedSinceItWasApproved) {
  EXPECT_EQ(Ask().outcome.exit_code, 0);
  EXPECT_EQ(Step("approve", "bob").outcome.exit_code, 0);
  Policy("holds:\n  - {runs: a, reason: case 7}\n");
  ExpectRefused(Step("apply"), 2, "what would be deleted has changed since");
  EXPECT_TRUE(IsThere("outputs/a/a.log"));
  EXPECT_TRUE(IsThere("outputs/b/b.log"));
  Policy("");
  EXPECT_EQ(Step("apply").outcome.exit_code, 0) << "the same list again";
}

TEST_F(Retention, LeavesAndNamesWhatIsSomethingElseByNow) {
  EXPECT_EQ(Ask().outcome.exit_code, 0);
  EXPECT_EQ(Step("approve", "bob").outcome.exit_code, 0);
  Write("outputs/b/b.log", "log of x");
  const ProcessResult applied = Step("apply");
  EXPECT_EQ(applied.outcome.exit_code, 5) << applied.stderr_text;
  EXPECT_THAT(applied.stderr_text,
              HasSubstr("1 file stays; the first: outputs/b/b.log is not what was recorded"));
  const ProcessResult list = Retain({"list"}, {"--trust", "trust.yaml"});
  for (const std::string& told : {applied.stdout_text, list.stdout_text}) {
    EXPECT_THAT(told, HasSubstr(": ended, 2 files"));
    EXPECT_THAT(told, HasSubstr("; 1 of 2 files is gone, 1 stays (it was changed)"));
  }
  EXPECT_FALSE(IsThere("outputs/a/a.log"));
  EXPECT_TRUE(IsThere("outputs/b/b.log"));
}

TEST_F(Retention, IsTakenBackByTheDigestOfTheList) {
  EXPECT_EQ(Ask().outcome.exit_code, 0);
  EXPECT_EQ(Step("approve", "bob").outcome.exit_code, 0);
  const ProcessResult back =
      Retain({"withdraw", Digest()},
             {"--key", "bob.pem", "--trust", "trust.yaml", "--reason", "still needed"});
  EXPECT_EQ(back.outcome.exit_code, 0) << back.stderr_text;
  EXPECT_THAT(back.stdout_text, HasSubstr("withdrawn"));
  EXPECT_THAT(back.stdout_text, HasSubstr("; taken back by Bob: still needed"));
  ExpectRefused(Step("apply"), 2, "was taken back by Bob");
  EXPECT_TRUE(IsThere("outputs/a/a.log"));
}

// Approved by both, and begun by an apply that was killed before its first file. `noted`: in this
// folder.
class BegunRetention : public Retention {
 protected:
  void Begin(bool noted = true) {
    EXPECT_EQ(Ask().outcome.exit_code, 0);
    EXPECT_EQ(Step("approve", "bob").outcome.exit_code, 0);
    digest_ = Digest();
    EXPECT_EQ(Plan({"--list", "list.json"}).outcome.exit_code, 0);
    const WallTime now = SystemClock().Now();
    const auto store = HistoryStore::OpenExisting(At("runs.db").string());
    ASSERT_TRUE(store.ok());
    ASSERT_TRUE((*store)
                    ->BeginDeletion({digest_, now, "Ada", "Bob", rharness::Read(At("list.json"))})
                    .ok());
    fs::remove(At("list.json"));
    if (noted) Write(".rharness-deletions", digest_ + " " + FormatTime(now) + "\n");
  }

  std::string digest_;
};

TEST_F(BegunRetention, SkipsWhatIsHeldMeanwhileAndDeletesTheRest) {
  Begin();
  Policy("holds:\n  - {runs: a, reason: case 7}\n");
  const ProcessResult applied = Step("apply");
  ExpectRefused(applied, 2,
                "1 of 2 files is gone; 1 file was to be deleted, and is kept by now; the first: "
                "outputs/a/a.log: run a is kept: hold: case 7 (policy.yaml:5). `rharness retention "
                "apply` goes on once nothing keeps it, `rharness retention withdraw " +
                    digest_ + "` ends it");
  EXPECT_TRUE(IsThere("outputs/a/a.log"));
  EXPECT_FALSE(IsThere("outputs/b/b.log"));
  ExpectRefused(Step("apply"), 2, "1 of 2 files is gone");
  Policy("");
  EXPECT_EQ(Step("apply").outcome.exit_code, 0);
  EXPECT_FALSE(IsThere("outputs/a/a.log"));
}

TEST_F(BegunRetention, ThatIsHeldStopsNoOtherListOfTheFolder) {
  Begin();
  Policy("holds:\n  - {runs: a, reason: case 7}\n");
  ExpectRefused(Step("apply"), 2, "1 of 2 files is gone");
  for (const std::string run : {"d", "e"}) {
    Record(run, {"--artifact", "log=" + run + ".log", "--keep", "outputs"},
           {"sh", "train.sh", At("").string(), run});
  }
  Add();
  EXPECT_EQ(Ask().outcome.exit_code, 0);
  EXPECT_EQ(Step("approve", "bob").outcome.exit_code, 0);
  const ProcessResult applied = Step("apply");
  EXPECT_EQ(applied.outcome.exit_code, 0) << applied.stderr_text;
  EXPECT_THAT(applied.stderr_text, HasSubstr("retention withdraw " + digest_ + "` ends it"));
  EXPECT_TRUE(IsThere("outputs/a/a.log"));
  EXPECT_FALSE(IsThere("outputs/c/c.log"));
  EXPECT_FALSE(IsThere("outputs/d/d.log"));
  EXPECT_TRUE(IsThere("outputs/e/e.log"));
}

TEST_F(BegunRetention, StopsNothingBelowAnotherRoot) {
  Begin();
  fs::create_directories(At("second/outputs/a"));
  Write("second/outputs/a/a.log", "log of a");
  const auto step = [&](const std::string& name, const std::vector<std::string>& options) {
    std::vector<std::string> all = {"--policy", "policy.yaml", "--root",
                                    "second",   "--trust",     "trust.yaml"};
    all.insert(all.end(), options.begin(), options.end());
    const ProcessResult result = Retain({name}, all);
    EXPECT_EQ(result.outcome.exit_code, 0) << result.stderr_text;
  };
  step("request", {"--reason", "full", "--key", "ada.pem"});
  step("approve", {"--key", "bob.pem"});
  step("apply", {});
  EXPECT_FALSE(IsThere("second/outputs/a/a.log"));
  EXPECT_TRUE(IsThere("outputs/a/a.log"));
  step("apply", {});
  EXPECT_EQ(Step("apply").outcome.exit_code, 0);
  EXPECT_FALSE(IsThere("outputs/a/a.log"));
}

TEST_F(BegunRetention, IsLeftToTheFolderInWhichItWasBegun) {
  Begin(false);
  ExpectRefused(Step("apply"), 2, "in another folder of this path");
  ExpectRefused(Step("apply"), 2, "retention withdraw " + digest_);
  EXPECT_TRUE(IsThere("outputs/a/a.log"));
  EXPECT_TRUE(IsThere("outputs/b/b.log"));
  const ProcessResult list = Retain({"list"}, {"--trust", "trust.yaml"});
  EXPECT_EQ(list.outcome.exit_code, 0) << list.stderr_text;
  EXPECT_THAT(list.stdout_text, Not(HasSubstr("gone")));
}

TEST_F(Retention, KeepsWhatARunNeedsThroughALink) {
  fs::create_symlink("outputs/a", At("latest"));
  Record("tuned", {"--family", "other", "--data", "init=latest"});
  Add();
  Write("policy.yaml", "version: 1\nretention:\n  - {families: tiny, keep_last: 1}\n");
  const ProcessResult shown = Plan();
  EXPECT_THAT(shown.stdout_text, HasSubstr("outputs/a/a.log of a: is data 'init' of run tuned"));
  EXPECT_THAT(shown.stdout_text, HasSubstr("outputs/b/b.log  8 B, log of b"));
  EXPECT_THAT(shown.stdout_text, Not(HasSubstr("outputs/a/a.log  8 B")));
}

TEST_F(Retention, KeepsWhatAMapSaysARunNeeds) {
  fs::create_symlink("outputs/a", At("far"));
  Record("tuned", {"--family", "other", "--data", "init=far"});
  std::string manifest = rharness::Read(At("runs/tuned.json"));
  const std::string here = "\"location\": \"far\"";
  const auto at = manifest.find(here);
  ASSERT_NE(at, std::string::npos) << manifest;
  Write("runs/tuned.json", manifest.replace(at, here.size(), "\"location\": \"s3://far/x\""));
  Add();
  Write("policy.yaml", "version: 1\nretention:\n  - {families: tiny, keep_last: 1}\n");
  EXPECT_THAT(Plan().stdout_text, HasSubstr("outputs/a/a.log  8 B, log of a"));
  EXPECT_THAT(Plan({"--map", "s3://far=" + At("").string()}).stdout_text,
              HasSubstr("outputs/a/a.log  8 B, log of a"));
  EXPECT_THAT(Plan({"--map", "s3://far/x=" + At("far").string()}).stdout_text,
              Not(HasSubstr("outputs/a/a.log  8 B")));
  ExpectRefused(Plan({"--map", "far"}), 2, "expected FROM=TO, found 'far'");
}

TEST_F(Retention, IsTakenBackWithOneKeyWhereItTakesTwo) {
  std::string trust = rharness::Read(At("trust.yaml"));
  trust.replace(trust.find("bob]}"), 5, "bob], threshold: 2}");
  Write("trust.yaml", trust);
  EXPECT_EQ(Ask().outcome.exit_code, 0);
  EXPECT_EQ(Retain({"withdraw", Digest()},
                   {"--key", "bob.pem", "--trust", "trust.yaml", "--reason", "still needed"})
                .outcome.exit_code,
            0);
  const ProcessResult list = Retain({"list"}, {"--trust", "trust.yaml"});
  EXPECT_EQ(list.outcome.exit_code, 0) << list.stderr_text;
  EXPECT_THAT(list.stdout_text, HasSubstr(": withdrawn, 2 files"));
  EXPECT_EQ(Ask().outcome.exit_code, 0);
  EXPECT_EQ(Step("approve", "bob").outcome.exit_code, 0);
  EXPECT_EQ(Step("apply").outcome.exit_code, 0);
  EXPECT_FALSE(IsThere("outputs/a/a.log"));
}

TEST_F(Retention, SaysWhatItsDocumentsAre) {
  EXPECT_THAT(Plan({"--json"}).stdout_text, HasSubstr("\"schema\": \"rharness.retention/v1\""));
  EXPECT_EQ(Ask().outcome.exit_code, 0);
  EXPECT_THAT(Retain({"list"}, {"--json"}).stdout_text,
              HasSubstr("\"schema\": \"rharness.deletions/v1\""));
  Write("policy.yaml", "version: 1\n");
  ExpectRefused(Plan(), 2, "has no rules of retention");
  Write("policy.yaml", "version: 1\nretention:\n  - {families: \"*\"}\n");
  ExpectRefused(Plan(), 2, "policy.yaml:3");
}

}  // namespace
}  // namespace rharness
