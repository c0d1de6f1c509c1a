// `rharness incident` as a program: a history with good, drifted and broken runs, files that were
// tampered with, interruptions, hostile names.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "tests/attestation/attested.h"
#include "tests/cli/drill_program.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

// Writes one tensor of four bytes, the value's text. While "kill_at" is there, the rerun kills
// whoever started it.
constexpr char kIncidentTrainer[] = R"sh(value=$(cat value)
if [ -e "$KILL_AT" ]; then
  rm "$KILL_AT"
  kill -9 $PPID
  sleep 600
fi
[ "$CRASH" = 1 ] && exit 7
[ "$SHIFT" = 1 ] && value=0.71
printf '\064\0\0\0\0\0\0\0{"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}%s' "$value" > w.safetensors
printf '{"metrics": {"accuracy": %s}}' "$value" > metrics.json
)sh";

class IncidentProgram : public DrillProgram {
 protected:
  IncidentProgram() {
    Write("train.sh", kIncidentTrainer);
    environment_["KILL_AT"] = At("kill_at").string();
  }
  void RecordKept(const std::string& name, const std::vector<std::string>& more = {}) {
    std::vector<std::string> options = {"--determinism", "bitwise",       "--no-observe",
                                        "--weights",     "w.safetensors", "--keep",
                                        "kept",          "--variable",    "KILL_AT"};
    options.insert(options.end(), more.begin(), more.end());
    Record(name, options, {"sh", "train.sh"});
  }
  // Runs a, b, c in this order; all were good, then b drifted and c broke.
  void MakeHistory() {
    for (const char* name : {"a", "b", "c"}) RecordKept(name);
    Add();
    ASSERT_EQ(DrillInto("first", ""), 0);
    ASSERT_EQ(DrillInto("second", "b", "SHIFT=1"), 1);
    ASSERT_EQ(DrillInto("third", "c", "CRASH=1"), 4);
  }
  int DrillInto(const std::string& out, const std::string& run, const std::string& variable = "") {
    std::vector<std::string> argv = {kRharness, "--quiet", "drill", "--history",
                                     "runs.db", "--out",   out,     "--no-confirm"};
    if (!run.empty()) argv.insert(argv.end(), {"--select", "run_id = '" + run + "'"});
    if (!variable.empty()) argv.insert(argv.end(), {"--env", variable});
    return Run(argv).outcome.exit_code;
  }
  ProcessResult IncidentOf(const std::string& run, const std::vector<std::string>& more = {}) {
    std::vector<std::string> argv = {kRharness, "incident", run, "--history", "runs.db"};
    argv.insert(argv.end(), {"--out", "inc"});
    argv.insert(argv.end(), more.begin(), more.end());
    return Run(argv);
  }
  Json Told(const std::string& out = "inc") const {
    auto json = ReadJsonFile(At(out + "/incident.json"));
    EXPECT_TRUE(json.ok()) << json.error().ToString();
    return json.ok() ? std::move(*json) : Json();
  }
  std::string Text(const Json& json, const char* key) const {
    const Json* value = json.Find(key);
    return value == nullptr ? "" : value->IsString() ? value->AsString() : value->Dump();
  }
  std::string History(const std::string& name) const {
    return Run({kRharness, "history", "show", "--history", "runs.db", name}).stdout_text;
  }
};

std::string Answer(const Json& told, const std::string& key) {
  for (const Json& answer : told.Find("answers")->AsArray()) {
    if (answer.Find("key")->AsString() == key) return answer.Dump();
  }
  return "";
}

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
  EXPECT_THAT(Answer(told, "affected"), HasSubstr("1 of 2 other runs of the family are bad: b"));
  EXPECT_THAT(Answer(told, "affected"), HasSubstr("ada owns the family tiny"));
  EXPECT_THAT(Answer(told, "way_back"), HasSubstr("rerun now, it is identical"));
  EXPECT_THAT(Text(told, "runbook"), HasSubstr("run_failed"));
  EXPECT_THAT(Text(told, "candidates"), HasSubstr("called it drifted"));
  for (const char* file : {"index.html", "manifests/good.json", "manifests/run.json",
                           "comparison/report.html", "comparison/comparison.json",
                           "rollback/report.html", "rollback/report.json", "history/run.html",
                           "history/good.html", "history/family.html", "runbook/run_failed.html"}) {
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
  EXPECT_FALSE(fs::exists(At("inc/rollback/runs/a/1/artifacts")));
  EXPECT_TRUE(fs::exists(At("inc.work/drill/runs/a/1/artifacts/w.safetensors")));
}

TEST_F(IncidentProgram, PlansWithoutATraceAndProvesNothingWithoutARerun) {
  MakeHistory();
  const ProcessResult plan = IncidentOf("c", {"--dry-run"});
  EXPECT_EQ(plan.outcome.exit_code, 0) << plan.stderr_text;
  EXPECT_THAT(plan.stdout_text, HasSubstr("it would be rerun, 1 rerun"));
  EXPECT_FALSE(fs::exists(At("inc")));
  EXPECT_FALSE(fs::exists(At("inc.work")));
  const ProcessResult without = IncidentOf("c", {"--no-rerun"});
  EXPECT_EQ(without.outcome.exit_code, 3) << without.stderr_text;
  EXPECT_THAT(without.stdout_text, HasSubstr("the way back is not proven"));
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
  EXPECT_THAT(History("a"), HasSubstr("rollback: not_judged on"));
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
  const ProcessResult attested = Run({kRharness, "attest", "first", "--key", "ada.pem", "--out",
                                      "signed", "--history", "runs.db"});
  ASSERT_TRUE(attested.outcome.Succeeded()) << attested.stderr_text;
  const std::string statement = "a.verdict.intoto.jsonl";
  fs::copy_file(At("signed/" + statement), At("kept/a/" + statement));
  const ProcessResult good =
      IncidentOf("c", {"--no-rerun", "--trust", "trust.yaml", "--signatures", "signed"});
  EXPECT_EQ(good.outcome.exit_code, 3) << good.stdout_text << good.stderr_text;
  EXPECT_THAT(Text(Told(), "signatures"), HasSubstr(R"("state":"verified")"));
  EXPECT_THAT(Text(Told(), "signatures"), HasSubstr("signed by ada (Ada)"));
  // Without a policy it is named, and nobody calls it verified.
  EXPECT_EQ(IncidentOf("c", {"--no-rerun", "--out", "plain"}).outcome.exit_code, 3);
  EXPECT_THAT(Text(Told("plain"), "signatures"), HasSubstr(R"("state":"not_checked")"));
  // Signed for another run.
  fs::copy_file(At("signed/b.verdict.intoto.jsonl"), At("kept/a/" + statement),
                fs::copy_options::overwrite_existing);
  const ProcessResult other =
      IncidentOf("c", {"--no-rerun", "--trust", "trust.yaml", "--out", "o"});
  EXPECT_EQ(other.outcome.exit_code, 5) << other.stdout_text << other.stderr_text;
  EXPECT_THAT(Text(Told("o"), "signatures"), HasSubstr("signed for another run"));
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
  EXPECT_NE(killed.outcome.exit_code, 0);
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

TEST_F(IncidentProgram, SaysWhatThereIsWhereNoRunIsGood) {
  RecordKept("a");
  RecordKept("b");
  Add();
  const ProcessResult result = IncidentOf("b");
  EXPECT_EQ(result.outcome.exit_code, 3) << result.stderr_text;
  EXPECT_THAT(result.stdout_text, HasSubstr("No run of the family of b can be gone back to"));
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
    RecordKept(name, {"--family", family, "--variable", "API_TOKEN"});
  }
  Add();
  ASSERT_EQ(DrillInto("first", ""), 0);
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
    // Reports name the history; nothing else of this machine's folders is in it.
    for (auto at = text.find(history); at != text.npos; at = text.find(history, at)) {
      text.erase(at, history.size());
    }
    EXPECT_THAT(text, Not(HasSubstr(At("").string()))) << entry.path();
  }
  for (const char* name : {"../../etc/passwd", "b' or '1' = '1", "-x", ""}) {
    const ProcessResult refused = IncidentOf(name, {"--out", "other"});
    EXPECT_EQ(refused.outcome.exit_code, 2) << name;
    EXPECT_FALSE(fs::exists(At("other"))) << name;
  }
}

TEST_F(IncidentProgram, WritesTheRunbookWhereAlertsLinkTo) {
  const ProcessResult written = Run({kRharness, "runbook", "--out", "book"});
  EXPECT_EQ(written.outcome.exit_code, 0) << written.stderr_text;
  EXPECT_THAT(Read(At("book/RharnessBudgetBurning/index.html")), HasSubstr("rharness incident"));
  EXPECT_THAT(Read(At("book/index.html")), HasSubstr("./RharnessBudgetBurning/index.html"));
  EXPECT_EQ(Run({kRharness, "runbook", "tree_changed", "--format", "markdown", "--out", "md"})
                .outcome.exit_code,
            0);
  EXPECT_THAT(Read(At("md/tree_changed.md")), HasSubstr("# tree_changed\n"));
  EXPECT_EQ(Run({kRharness, "runbook", "no_such_code"}).outcome.exit_code, 2);
  EXPECT_THAT(Run({kRharness, "runbook", "bit_equal", "--json"}).stdout_text,
              HasSubstr("rharness.runbook/v1"));
}

}  // namespace
}  // namespace rharness
