// `rharness incident` as a program: a history with good, drifted and broken runs, files that were
// tampered with, interruptions, hostile names.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "harness/history/store.h"
#include "tests/cli/incident_program.h"
#include "tests/trust/attestation/attested.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

TEST_F(IncidentProgram, FindsTheLastGoodRunProvesTheWayBackAndBundlesIt) {
  MakeHistory();
  Write("policy.yaml",
        "version: 1\nobjectives:\n  - {families: tiny, reproducible: 0.9, owner: ada}\n");
  const ProcessResult result = IncidentOf("c", {"--policy", "policy.yaml"});
  ASSERT_EQ(result.outcome.exit_code, 0) << result.stdout_text << result.stderr_text;
  const Json told = Told();
  EXPECT_EQ(told.Find("good")->Find("run_id")->AsString(), "a");  // b is newer, and drifted
  EXPECT_THAT(Text(told, "headline"), HasSubstr("its 1 checkpoint file is as recorded"));
  EXPECT_THAT(Text(told, "rollback"), HasSubstr(R"("state":"proven")"));
  EXPECT_THAT(Answer(told, "what_happened"), HasSubstr("c was rerun and is failed"));
  EXPECT_THAT(Answer(told, "since_when"), HasSubstr("c last reproduced on"));
  EXPECT_THAT(Answer(told, "what_changed"), HasSubstr("CRASH was not set and is 1 now"));
  EXPECT_THAT(Answer(told, "what_happened"),
              HasSubstr("1 of 2 other runs of the family are bad: b"));
  EXPECT_THAT(Answer(told, "what_happened"), HasSubstr("ada owns the family tiny"));
  EXPECT_THAT(Answer(told, "way_back"), HasSubstr("rerun now, it is identical"));
  EXPECT_THAT(Answer(told, "prevent"), HasSubstr("go back to a"));
  EXPECT_THAT(Answer(told, "prevent"), HasSubstr("runbook: run_failed"));
  EXPECT_THAT(Answer(told, "prevent"), HasSubstr("rharness gate"));  // the environment changed
  EXPECT_THAT(Text(told, "runbook"), HasSubstr("run_failed"));
  EXPECT_THAT(Text(told, "candidates"), HasSubstr("called it drifted"));
  for (const char* file :
       {"index.html", "junit.xml", "summary.md", "manifests/good.json", "manifests/run.json",
        "comparison/report.html", "comparison/comparison.json", "rollback/report.html",
        "rollback/report.json", "history/run.html", "history/good.html", "history/family.html",
        "runbook/run_failed.html"}) {
    EXPECT_GT(Read(At(std::string("inc/") + file)).size(), 100U) << file;
  }
  const std::string page = Read(At("inc/index.html"));
  for (const Json& one : told.Find("bundle")->AsArray()) {
    const std::string file = one.Find("file")->AsString();
    EXPECT_THAT(page, HasSubstr("href=\"./" + file + "\""));
    EXPECT_TRUE(fs::exists(At("inc/" + file))) << file;
  }
  EXPECT_THAT(page, HasSubstr("href=\"./runbook/run_failed.html\""));
  // It counts as a rollback that succeeded.
  EXPECT_THAT(History("a"), HasSubstr("rollback: held on"));
  const Json family = Objectives();
  EXPECT_EQ(Text(family, "rollbacks"), "1");
  EXPECT_EQ(Text(family, "rollbacks_held"), "1");
  EXPECT_EQ(Text(family, "rollback_rate"), "1.0");
  // Of one of one; Wilson's lower end is n / (n + z^2).
  EXPECT_NEAR(*family.Find("rollback_low")->ToDouble(), 1.0 / (1.0 + 1.959963985 * 1.959963985),
              1e-9);
  EXPECT_EQ(
      Run({"sh", "-c", "cd inc && sha256sum --strict --quiet -c SHA256SUMS"}).outcome.exit_code, 0);
  std::ptrdiff_t files = 0;
  for (const auto& one : fs::recursive_directory_iterator(At("inc")))
    files += one.is_regular_file() ? 1 : 0;
  const std::string sums = Read(At("inc/SHA256SUMS"));
  EXPECT_EQ(std::count(sums.begin(), sums.end(), '\n'), files - 1);  // all but itself
  EXPECT_FALSE(fs::exists(At("inc/rollback/runs/a/1/artifacts")));
  EXPECT_TRUE(fs::exists(At("inc.work/drill/runs/a/1/artifacts/w.safetensors")));
}

TEST_F(IncidentProgram, PlansWithoutATraceAndProvesNothingWithoutARerun) {
  MakeHistory();
  const ProcessResult plan = IncidentOf("c", {"--dry-run"});
  EXPECT_EQ(plan.outcome.exit_code, 0) << plan.stderr_text;
  EXPECT_THAT(plan.stdout_text, HasSubstr("it would be rerun, 1 rerun"));
  EXPECT_THAT(plan.stdout_text, Not(HasSubstr("no good run to compare with")));
  EXPECT_THAT(plan.stdout_text, HasSubstr("rharness incident c --history runs.db --out inc"));
  EXPECT_FALSE(fs::exists(At("inc")));
  EXPECT_FALSE(fs::exists(At("inc.work")));
  const ProcessResult without = IncidentOf("c", {"--no-rerun"});
  EXPECT_EQ(without.outcome.exit_code, 3) << without.stderr_text;
  EXPECT_THAT(Text(Told(), "headline"), HasSubstr("the way back is not proven"));
  EXPECT_THAT(History("a"), Not(HasSubstr("rollback")));
  EXPECT_EQ(IncidentOf("c").outcome.exit_code, 2);  // it is there already
}

TEST_F(IncidentProgram, SaysSoWhereTheRollbackDriftsOrFails) {
  MakeHistory();
  const ProcessResult drifts = IncidentOf("c", {"--env", "SHIFT=1"});
  EXPECT_EQ(drifts.outcome.exit_code, 1) << drifts.stdout_text << drifts.stderr_text;
  EXPECT_THAT(Text(Told(), "rollback"), HasSubstr(R"("state":"refuted")"));
  EXPECT_THAT(History("a"), HasSubstr("rollback: lost on"));
  // That drill made a bad: no run is left to go back to, unless a is named, which is refused.
  const ProcessResult none = IncidentOf("c", {"--out", "none"});
  EXPECT_EQ(none.outcome.exit_code, 3) << none.stdout_text << none.stderr_text;
  EXPECT_THAT(none.stdout_text, HasSubstr("2 are bad"));
  EXPECT_EQ(IncidentOf("c", {"--out", "named", "--good", "a"}).outcome.exit_code, 2);
  ASSERT_EQ(DrillInto("again", "a"), 0);
  const ProcessResult fails = IncidentOf("c", {"--out", "fails", "--env", "CRASH=1"});
  EXPECT_EQ(fails.outcome.exit_code, 4) << fails.stdout_text << fails.stderr_text;
  EXPECT_THAT(Text(Told("fails"), "rollback"), HasSubstr(R"("state":"failed")"));
  EXPECT_EQ(Text(Objectives(), "rollbacks"), "1");  // of one run
  EXPECT_EQ(Text(Objectives(), "rollbacks_held"), "0");
}

TEST_F(IncidentProgram, ShowsNothingWhereTheRollbackCannotBeCarriedOutAsRecorded) {
  MakeHistory();
  Write("value", "0.99");
  const ProcessResult other = IncidentOf("c");
  EXPECT_EQ(other.outcome.exit_code, 3) << other.stdout_text << other.stderr_text;
  EXPECT_THAT(Text(Told(), "headline"), HasSubstr("'value' is not the recorded one"));
  EXPECT_THAT(Text(Told(), "rollback"), HasSubstr(R"("state":"open")"));
  EXPECT_THAT(History("a"), HasSubstr("rollback: not judged on"));
  EXPECT_EQ(Text(Objectives(), "rollbacks"), "0");
  EXPECT_EQ(Text(Objectives(), "rollbacks_open"), "1");
}

TEST_F(IncidentProgram, SaysWhyItCannotBeRerunWhereAnotherDrillHasTheRun) {
  MakeHistory();
  {
    const auto store = HistoryStore::OpenExisting(At("runs.db").string());
    ASSERT_TRUE(store.ok()) << store.error().ToString();
    const auto taken = (*store)->TakeClaims(
        {"20260101T000000Z-0badcafe", "node7", 4711, "elsewhere", std::chrono::minutes(10)}, {"a"},
        1);
    ASSERT_TRUE(taken.ok()) << taken.error().ToString();
  }
  const ProcessResult result = IncidentOf("c");
  EXPECT_EQ(result.outcome.exit_code, 4) << result.stdout_text << result.stderr_text;
  const Json told = Told();
  EXPECT_THAT(Text(told, "headline"), HasSubstr("it could not be rerun"));
  EXPECT_THAT(Text(told, "headline"), HasSubstr("node7"));
  EXPECT_THAT(Text(told, "rollback"), HasSubstr(R"("state":"failed")"));
  EXPECT_FALSE(fs::exists(At("inc/rollback")));
  EXPECT_THAT(History("a"), Not(HasSubstr("rollback")));
}

TEST_F(IncidentProgram, PassesOverDamagedFilesToTheNextOlderRun) {
  for (const char* name : {"a", "b", "c"}) RecordKept(name);
  Add();
  ASSERT_EQ(DrillInto("first", ""), 0);
  ASSERT_EQ(DrillInto("third", "c", "CRASH=1"), 4);
  const fs::path kept = At("kept/b/w.safetensors");
  const std::string whole = Read(kept);
  std::string text = whole;
  text.back() = '6';
  ASSERT_TRUE(WriteFileAtomic(kept, text).ok());
  const ProcessResult changed = IncidentOf("c");
  EXPECT_EQ(changed.outcome.exit_code, 5) << changed.stdout_text << changed.stderr_text;
  const Json told = Told();
  EXPECT_EQ(told.Find("good")->Find("run_id")->AsString(), "a");
  EXPECT_THAT(Text(told, "headline"),
              HasSubstr("b is newer, but its file w.safetensors is not the recorded one"));
  EXPECT_THAT(Text(told, "candidates"), HasSubstr("it is good, but its file w.safetensors"));
  EXPECT_THAT(Text(told, "next"), HasSubstr("go back to a, find out who changed the files of b"));
  EXPECT_THAT(Text(told, "rollback"), HasSubstr(R"("state":"proven")"));
  // Named, it is taken as it is.
  const ProcessResult named = IncidentOf("c", {"--good", "b", "--no-rerun", "--out", "named"});
  EXPECT_EQ(named.outcome.exit_code, 5) << named.stderr_text;
  EXPECT_EQ(Told("named").Find("good")->Find("run_id")->AsString(), "b");
  EXPECT_THAT(Text(Told("named"), "headline"), HasSubstr("b is the run that --good names"));
  // What is gone was not tampered with.
  fs::remove(kept);
  const ProcessResult gone = IncidentOf("c", {"--out", "gone"});
  EXPECT_EQ(gone.outcome.exit_code, 0) << gone.stdout_text << gone.stderr_text;
  EXPECT_THAT(gone.stdout_text, HasSubstr("w.safetensors is gone"));
  ASSERT_TRUE(WriteFileAtomic(kept, whole).ok());
  EXPECT_EQ(IncidentOf("c", {"--out", "back", "--no-rerun"}).outcome.exit_code, 3);
  EXPECT_EQ(Told("back").Find("good")->Find("run_id")->AsString(), "b");
}

TEST_F(IncidentProgram, EndsWithFiveWhereACheckpointWasTamperedWith) {
  MakeHistory();
  const fs::path kept = At("kept/a/w.safetensors");
  std::string text = Read(kept);
  text.back() = '6';
  ASSERT_TRUE(WriteFileAtomic(kept, text).ok());
  const ProcessResult result = IncidentOf("c");
  EXPECT_EQ(result.outcome.exit_code, 5) << result.stdout_text << result.stderr_text;
  const Json told = Told();
  EXPECT_THAT(Text(told, "headline"), HasSubstr("w.safetensors is not the recorded one"));
  EXPECT_THAT(Text(told, "files"), HasSubstr(R"("state":"changed")"));
  EXPECT_THAT(Text(told, "next"), HasSubstr("do not go back to these files"));
  EXPECT_THAT(Text(told, "rollback"), HasSubstr(R"("state":"proven")"));  // the rerun has them
  fs::remove(kept);
  const ProcessResult gone = IncidentOf("c", {"--out", "gone", "--no-rerun"});
  EXPECT_EQ(gone.outcome.exit_code, 3) << gone.stderr_text;
  EXPECT_THAT(Text(Told("gone"), "files"), HasSubstr(R"("state":"missing")"));
}

TEST_F(IncidentProgram, HoldsSignedStatementsToTheTrustPolicy) {
  MakeHistory();
  ASSERT_TRUE(WriteFileAtomic(At("ada.pem"), Ed25519Pem(kAdaSeed)).ok());
  fs::permissions(At("ada.pem"), fs::perms::owner_read | fs::perms::owner_write);
  Write("ada.pub", PublicPem(std::string(kEd25519Head) + kAdaPublic));
  Write(
      "trust.yaml",
      "version: 1\nkeys: [{name: ada, owner: Ada, public_key: ada.pub}]\nrules: [{keys: [ada]}]\n");
  const ProcessResult attested = Run(
      {kRharness, "sign", "first", "--key", "ada.pem", "--out", "signed", "--history", "runs.db"});
  ASSERT_TRUE(attested.outcome.Succeeded()) << attested.stderr_text;
  const std::string statement = "a.verdict.intoto.jsonl";
  fs::copy_file(At("signed/" + statement), At("kept/a/" + statement));
  const ProcessResult good =
      IncidentOf("c", {"--no-rerun", "--trust", "trust.yaml", "--signatures", "signed"});
  EXPECT_EQ(good.outcome.exit_code, 3) << good.stdout_text << good.stderr_text;
  EXPECT_THAT(Text(Told(), "signatures"), HasSubstr(R"("state":"verified")"));
  EXPECT_THAT(Text(Told(), "signatures"), HasSubstr("signed by ada (Ada)"));
  // A line by a key that the policy does not know counts for nothing beside one that does.
  ASSERT_TRUE(WriteFileAtomic(At("bob.pem"), P256Pem(kBobScalar)).ok());
  fs::permissions(At("bob.pem"), fs::perms::owner_read | fs::perms::owner_write);
  const ProcessResult by_bob = Run(
      {kRharness, "sign", "first", "--key", "bob.pem", "--out", "by-bob", "--history", "runs.db"});
  ASSERT_TRUE(by_bob.outcome.Succeeded()) << by_bob.stderr_text;
  Write("kept/a/" + statement, Read(At("by-bob/" + statement)) + Read(At("signed/" + statement)));
  const ProcessResult beside =
      IncidentOf("c", {"--no-rerun", "--trust", "trust.yaml", "--out", "beside"});
  EXPECT_EQ(beside.outcome.exit_code, 3) << beside.stdout_text << beside.stderr_text;
  EXPECT_THAT(Text(Told("beside"), "signatures"), HasSubstr("signed by ada (Ada)"));
  EXPECT_THAT(Text(Told("beside"), "signatures"), HasSubstr("not counted: no key of the policy"));
  // Without a policy it is named, and nobody calls it verified.
  EXPECT_EQ(IncidentOf("c", {"--no-rerun", "--out", "plain"}).outcome.exit_code, 3);
  EXPECT_THAT(Text(Told("plain"), "signatures"), HasSubstr(R"("state":"not_checked")"));
  // Signed for another run.
  fs::copy_file(At("signed/b.verdict.intoto.jsonl"), At("kept/a/" + statement),
                fs::copy_options::overwrite_existing);
  const ProcessResult other =
      IncidentOf("c", {"--no-rerun", "--trust", "trust.yaml", "--out", "o"});
  EXPECT_EQ(other.outcome.exit_code, 5) << other.stdout_text << other.stderr_text;
  EXPECT_THAT(Text(Told("o"), "signatures"), HasSubstr("was signed for run b of family"));
  // Tampered with.
  std::string text = Read(At("signed/" + statement));
  text[text.find("payload") + 30] ^= 1;
  ASSERT_TRUE(WriteFileAtomic(At("kept/a/" + statement), text).ok());
  const ProcessResult bad = IncidentOf("c", {"--no-rerun", "--trust", "trust.yaml", "--out", "t"});
  EXPECT_EQ(bad.outcome.exit_code, 5) << bad.stdout_text << bad.stderr_text;
  EXPECT_THAT(Text(Told("t"), "signatures"), HasSubstr(R"("state":"refused")"));
}

TEST_F(IncidentProgram, GoesOnWhereItWasKilled) {
  MakeHistory();
  Write("kill_at", "");
  const ProcessResult killed = IncidentOf("c");
  EXPECT_FALSE(killed.outcome.Succeeded());
  EXPECT_FALSE(fs::exists(At("kill_at")));
  EXPECT_FALSE(fs::exists(At("inc"))) << "half of a bundle";
  EXPECT_EQ(IncidentOf("c").outcome.exit_code, 2);                // it was begun
  EXPECT_EQ(IncidentOf("b", {"--resume"}).outcome.exit_code, 2);  // it is another one's
  const ProcessResult resumed =
      Run({kRharness, "incident", "--resume", "--history", "runs.db", "--out", "inc"});
  EXPECT_EQ(resumed.outcome.exit_code, 0) << resumed.stdout_text << resumed.stderr_text;
  EXPECT_EQ(Told().Find("run")->Find("run_id")->AsString(), "c");
  EXPECT_THAT(History("a"), HasSubstr("rollback: held on"));
  EXPECT_EQ(IncidentOf("", {"--resume", "--out", "nowhere"}).outcome.exit_code, 2);
}

// As if it was killed after the drill's verdict was kept, which calls its run bad.
TEST_F(IncidentProgram, GoesOnWithTheRunThatItBeganWith) {
  MakeHistory();
  ASSERT_EQ(IncidentOf("c", {"--env", "SHIFT=1"}).outcome.exit_code, 1);
  fs::remove_all(At("inc"));
  const ProcessResult resumed = IncidentOf("c", {"--resume"});
  EXPECT_EQ(resumed.outcome.exit_code, 1) << resumed.stdout_text << resumed.stderr_text;
  EXPECT_EQ(Told().Find("good")->Find("run_id")->AsString(), "a");
  EXPECT_EQ(Text(Objectives(), "rollbacks"), "1");
}

TEST_F(IncidentProgram, SaysWhatThereIsWhereNoRunIsGood) {
  RecordKept("a");
  RecordKept("b");
  Add();
  const ProcessResult result = IncidentOf("b");
  EXPECT_EQ(result.outcome.exit_code, 3) << result.stderr_text;
  EXPECT_THAT(result.stdout_text, HasSubstr("The family of b has no usable last good run"));
  EXPECT_THAT(result.stdout_text, HasSubstr("1 was never drilled"));
  EXPECT_THAT(result.stdout_text, HasSubstr("drill a: rharness drill"));
  EXPECT_THAT(Text(Told(), "candidates"), HasSubstr("no drill has judged it"));
  EXPECT_EQ(Text(Told(), "good"), "null");
  EXPECT_FALSE(fs::exists(At("inc/rollback")));
}

TEST_F(IncidentProgram, LetsNoHostileNameOutAndTellsNoSecret) {
  environment_["API_TOKEN"] = "hunter2-hunter2";
  const std::string family = "<script>alert(1)</script>'; drop --";
  for (const char* name : {"a", "b"}) {
    RecordKept(name, {"--variable", "API_TOKEN"});
    const std::string file = std::string("runs/") + name + ".json";
    std::string text = Read(At(file));
    const std::string tiny = R"("tiny")";
    ASSERT_NE(text.find(tiny), text.npos);
    Write(file, text.replace(text.find(tiny), tiny.size(), '"' + family + '"'));
  }
  Add();
  ASSERT_EQ(DrillInto("first", ""), 0);
  ASSERT_EQ(DrillInto("second", "b", "CRASH=1"), 4);
  const ProcessResult result = IncidentOf("b");
  ASSERT_EQ(result.outcome.exit_code, 0) << result.stdout_text << result.stderr_text;
  const std::string history = At("runs.db").string();
  for (const auto& entry : fs::recursive_directory_iterator(At("inc"))) {
    if (!entry.is_regular_file()) continue;
    std::string text = Read(entry.path());
    EXPECT_THAT(text, Not(HasSubstr("hunter2"))) << entry.path();
    if (entry.path().extension() == ".html") {
      EXPECT_THAT(text, Not(HasSubstr("<script>alert"))) << entry.path();
    }
    // Reports name the history and manifests hold the recorded variable; nothing else of this
    // machine's folders is in it.
    for (const std::string& named : {history, environment_["KILL_AT"]}) {
      for (auto at = text.find(named); at != text.npos; at = text.find(named, at)) {
        text.erase(at, named.size());
      }
    }
    EXPECT_THAT(text, Not(HasSubstr(At("").string()))) << entry.path();
  }
  for (const char* name : {"../../etc/passwd", "b' or '1' = '1", "-x", ""}) {
    const ProcessResult refused = IncidentOf(name, {"--out", "other"});
    EXPECT_EQ(refused.outcome.exit_code, 2) << name;
    EXPECT_FALSE(fs::exists(At("other"))) << name;
  }
}

}  // namespace
}  // namespace rharness
