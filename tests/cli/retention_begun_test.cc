// Deletions that were approved once: spent, or begun and not carried out to their end.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "harness/base/clock.h"
#include "harness/base/json.h"
#include "harness/history/store.h"
#include "tests/cli/retention_program.h"
#include "tests/history/raw_history.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

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
  ExpectRefused(
      applied, 2,
      "1 of 2 files is gone; 1 file was to be deleted, and is kept by now; the first: "
      "outputs/a/a.log: run a is kept: hold: case 7 (policy.yaml:5). `rharness history prune "
      "apply` goes on once nothing keeps it, `rharness history prune withdraw " +
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
  EXPECT_THAT(applied.stderr_text, HasSubstr("history prune withdraw " + digest_ + "` ends it"));
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
  ExpectRefused(Step("apply"), 2, "history prune withdraw " + digest_);
  EXPECT_TRUE(IsThere("outputs/a/a.log"));
  EXPECT_TRUE(IsThere("outputs/b/b.log"));
  const ProcessResult list = Retain({"list"}, {"--trust", "trust.yaml"});
  EXPECT_EQ(list.outcome.exit_code, 0) << list.stderr_text;
  EXPECT_THAT(list.stdout_text, Not(HasSubstr("gone")));
}

}  // namespace
}  // namespace rharness
