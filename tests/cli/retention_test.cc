// `rharness history prune`: shown first, deleted with two signatures, by exactly the list they are
// for.
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

TEST_F(Retention, ShowsFilesBytesReasonsAndLossesAndDeletesNothing) {
  const ProcessResult shown = Plan({"--dry-run", "--list", "list.json"});
  EXPECT_EQ(shown.outcome.exit_code, 0) << shown.stderr_text;
  EXPECT_THAT(shown.stdout_text, HasSubstr("outputs/a/a.log  8 B, log of a\n  why   recorded "));
  EXPECT_THAT(shown.stdout_text, HasSubstr("not the last of family tiny (policy.yaml:3)"));
  EXPECT_THAT(shown.stdout_text, HasSubstr("lost  rharness check cannot hold the record to it"));
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
  const std::string here = "\"location\": \"outputs/a\"";  // to which the link leads
  const auto at = manifest.find(here);
  ASSERT_NE(at, std::string::npos) << manifest;
  Write("runs/tuned.json", manifest.replace(at, here.size(), "\"location\": \"s3://far/x\""));
  Add();
  Write("policy.yaml", "version: 1\nretention:\n  - {families: tiny, keep_last: 1}\n");
  EXPECT_THAT(Plan().stdout_text, HasSubstr("outputs/a/a.log  8 B, log of a"));
  EXPECT_THAT(Plan({"--map", "s3://far=" + At("").string()}).stdout_text,
              HasSubstr("outputs/a/a.log  8 B, log of a"));
  const ProcessResult mapped = Plan({"--map", "s3://far/x=" + At("far").string()});
  EXPECT_THAT(mapped.stdout_text, Not(HasSubstr("outputs/a/a.log  8 B")));
  EXPECT_THAT(mapped.stdout_text, HasSubstr("outputs/b/b.log  8 B"));
  ExpectRefused(Plan({"--map", "far"}), 2, "expected FROM=TO, found 'far'");
  ExpectRefused(Plan({"--map", "s3://fra/x=" + At("far").string()}), 2,
                "--map: no run of the history locates ");
}

TEST_F(Retention, WarnsOfRulesAndHoldsThatMatchNothing) {
  Write(
      "policy.yaml",
      "version: 1\nretention:\n  - {families: tyni, keep_last: 9}\n  - {families: '*', keep_last: "
      "1}\nholds:\n  - {families: tiny, runs: nobody, reason: a lawsuit}\n");
  const ProcessResult plan = Plan();
  EXPECT_EQ(plan.outcome.exit_code, 0) << plan.stderr_text;
  EXPECT_THAT(plan.stderr_text,
              HasSubstr("policy.yaml:3: the rule of 'tyni' matches no run of the history"));
  EXPECT_THAT(
      plan.stderr_text,
      HasSubstr("policy.yaml:6: the hold of 'tiny', 'nobody' matches no run of the history"));
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
