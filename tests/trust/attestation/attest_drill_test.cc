// A drill's folder that is signed, or is not, because its parts do not agree.
#include "harness/trust/attestation/attest_drill.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/base/digest.h"
#include "harness/drill/journal.h"
#include "harness/drill/told_verdict.h"
#include "harness/execution/rerun/rerun.h"
#include "harness/history/store.h"
#include "tests/records/manifest/example.h"
#include "tests/reports/sample_report.h"
#include "tests/trust/attestation/attested.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

// A drill of one run and one rerun, each part written by itself.
class DrillFolder : public testing::Test {
 protected:
  DrillFolder() {
    report_ = LargeReport(1, 0);
    report_.drill_id = "20261120T010000Z-1";
    report_.history = At("runs.db");
    ReportRun& run = report_.runs[0];
    run.run_id = manifest_.run_id;
    ReportRerun rerun;
    rerun.index = 1;
    rerun.outcome = "exited with 0";
    rerun.state = RerunEnd::State::kCompared;
    rerun.evidence_path = "runs/" + run.run_id + "/1/evidence.json";
    run.reruns = {rerun};
    Evidence evidence = ExampleEvidence();
    evidence.rerun = 1;
    for (Artifact& artifact : evidence.artifacts) artifact.location.clear();
    evidence_ = ToJson(evidence).Dump();
  }
  // With logs and one file that was kept, whose digests evidence and journal have.
  void KeepFiles() {
    Evidence evidence = ExampleEvidence();
    evidence.rerun = 1;
    const std::string folder = "runs/" + manifest_.run_id + "/1/";
    evidence.stdout_path = folder + "stdout.log";
    evidence.stderr_path = "";
    evidence.artifacts.resize(1);
    evidence.artifacts[0].location = folder + "artifacts/model.st";
    evidence.artifacts[0].sha256 = Sha256HexOf("abc");
    Put("drill/" + evidence.stdout_path, "epoch 1\n");
    Put("drill/" + evidence.artifacts[0].location, "abc");
    logs_sha256_ = *LogsSha256(fs::path(At("drill")), evidence);
    evidence_ = ToJson(evidence).Dump();
  }
  std::string At(const std::string& name) const { return (folder_.path() / name).string(); }
  void Put(const std::string& name, const std::string& text) const {
    ASSERT_TRUE(WriteFileAtomic(At(name), text).ok());
  }
  void PutReport() const { Put("drill/report.json", ToJson(report_).Dump()); }
  void PutJournal(AttemptState state) const {
    auto journal = Journal::Create(At("drill/journal.jsonl"), Json::MakeObject());
    ASSERT_TRUE(journal.ok()) << journal.error().ToString();
    RerunStep step{.job = manifest_.run_id + ".1", .state = state};
    if (state == AttemptState::kCollected) {
      step.evidence_sha256 = Sha256HexOf(evidence_);
      step.logs_sha256 = logs_sha256_;
    }
    ASSERT_TRUE(journal->Append(step).ok());
  }
  // `told`: as this version enters verdicts; else as older ones did.
  void PutHistory(const std::string& drill_id, bool told = true) const {
    const auto store = HistoryStore::Open(At("runs.db"));
    ASSERT_TRUE(store.ok());
    ASSERT_TRUE((*store)->Add(manifest_, report_.started).ok());
    const ReportRun& run = report_.runs[0];
    const ToldVerdict kept{run.headline, report_.version,
                           RunDigests(ToJson(report_)).at(run.run_id)};
    const VerdictRecord verdict{
        .drill_id = drill_id,
        .run_id = manifest_.run_id,
        .verdict = run.verdict,
        .decided = report_.ended,
        .reruns = 1,
        .reasons = WriteReasons(run.findings, told ? std::optional(kept) : std::nullopt)};
    const RerunRecord rerun{.drill_id = drill_id,
                            .run_id = manifest_.run_id,
                            .rerun = 1,
                            .outcome = run.reruns[0].outcome,
                            .wall_seconds = 1.0,
                            .evidence_sha256 = Sha256HexOf(evidence_)};
    ASSERT_TRUE((*store)->AddDrill(drill_id, report_.started, {rerun}, {verdict}).ok());
  }
  void PutAll() const {
    Put("drill/" + report_.runs[0].reruns[0].evidence_path, evidence_);
    PutJournal(AttemptState::kCollected);
    PutHistory(report_.drill_id);
    PutReport();
  }
  std::string Attest(ErrorCode code = ErrorCode::kIntegrity) const {
    const auto files =
        AttestDrill({.drill = At("drill"), .history = "", .out = At("out")}, world_.ada.get());
    if (files.ok()) return std::string(AttestStateName(files->at(0).state));
    EXPECT_EQ(files.error().code, code) << files.error().ToString();
    EXPECT_FALSE(fs::exists(At("out")));
    return files.error().ToString();
  }
  Result<AttestedVerdict> Attested() const {
    ASSIGN_OR_RETURN(const std::string text,
                     ReadFile(At("out/" + AttestationName(manifest_.run_id))));
    ASSIGN_OR_RETURN(const SignedEnvelope envelope, ParseEnvelope(text, "e"));
    ASSIGN_OR_RETURN(const SignedStatement statement, ParseStatement(envelope.payload, "s"));
    return ReadVerdictStatement(statement, "s");
  }

  const ScopedTempDir folder_ = *ScopedTempDir::Make("rharness-attest-");
  const AttestedWorld world_;
  const Manifest manifest_ = ExampleManifest();
  Report report_;
  std::string evidence_;
  std::string logs_sha256_;  // empty: not journalled
};

TEST_F(DrillFolder, WhoseRecordsAgreeIsSigned) {
  PutAll();
  EXPECT_EQ(Attest(), "written");
  EXPECT_EQ(Attest(), "unchanged");
  const auto verdict = Attested();
  ASSERT_TRUE(verdict.ok()) << verdict.error().ToString();
  EXPECT_EQ(verdict->reruns.at(0).evidence_sha256, Sha256HexOf(evidence_));
  // Also from a history that has it as a resumed drill's.
  fs::remove(At("runs.db"));
  std::string& outcome = report_.runs[0].reruns[0].outcome;
  outcome = "exited with 1";
  PutHistory(report_.drill_id);
  outcome = "exited with 0";
  PutHistory(report_.drill_id);
  EXPECT_EQ(Attest(), "unchanged");
}

TEST_F(DrillFolder, WhoseLogsOrKeptFilesWereChangedOrRemovedIsNot) {
  KeepFiles();
  PutAll();
  const std::string folder = "drill/runs/" + manifest_.run_id + "/1/";
  const std::string log = folder + "stdout.log";
  const std::string kept = folder + "artifacts/model.st";
  Put(log, "epoch 2\n");
  EXPECT_THAT(Attest(), HasSubstr("stdout.log or stderr.log is not the one that was journalled"));
  fs::remove(At(log));
  EXPECT_THAT(Attest(), HasSubstr("its logs: "));
  Put(log, "epoch 1\n");
  Put(kept, "abd");
  EXPECT_THAT(Attest(), HasSubstr("model.st: is not the checkpoint that was kept"));
  fs::remove(At(kept));
  EXPECT_THAT(Attest(), HasSubstr("a kept checkpoint: "));
  Put(kept, "abc");
  EXPECT_EQ(Attest(), "written");
}

TEST_F(DrillFolder, WithARerunThatWasLostIsSignedWithoutItsEvidence) {
  report_.runs[0].reruns[0].state = RerunEnd::State::kInfra;
  report_.runs[0].reruns[0].reason = "the node did not answer";
  PutJournal(AttemptState::kStarted);
  PutHistory(report_.drill_id);
  PutReport();
  EXPECT_EQ(Attest(), "written");
  const auto verdict = Attested();
  ASSERT_TRUE(verdict.ok()) << verdict.error().ToString();
  EXPECT_EQ(verdict->reruns.at(0).evidence_sha256, "");
  EXPECT_EQ(verdict->reruns.at(0).reason, "the node did not answer");
}

TEST_F(DrillFolder, OfWhichARerunWasComparedThatNobodyCollectedIsNot) {
  Put("drill/" + report_.runs[0].reruns[0].evidence_path, evidence_);
  PutJournal(AttemptState::kStarted);
  PutHistory(report_.drill_id);
  PutReport();
  EXPECT_THAT(Attest(), HasSubstr("digits-0007.1 was compared, and the journal has no evidence"));
}

TEST_F(DrillFolder, WithAnotherRunsEvidenceIsNot) {
  const std::string path = "drill/" + report_.runs[0].reruns[0].evidence_path;
  evidence_ = Replaced(evidence_, R"("rerun":1)", R"("rerun":2)");
  PutAll();
  EXPECT_THAT(Attest(), HasSubstr("is the evidence of another rerun than digits-0007.1"));
  fs::remove(At(path));
  EXPECT_THAT(Attest(ErrorCode::kNotFound), HasSubstr("evidence.json"));
  fs::create_symlink("/dev/null", At(path));
  EXPECT_THAT(Attest(), HasSubstr("evidence.json"));
}

TEST_F(DrillFolder, ThatAnOlderVersionEnteredIsHeldToWhatItKept) {
  report_.runs[0].findings = {{.code = "bit_equal", .message = "all are equal", .decisive = true}};
  PutAll();
  fs::remove(At("runs.db"));
  PutHistory(report_.drill_id, false);
  const Report good = report_;
  report_.runs[0].findings[0].message = "nothing to see";
  PutReport();
  EXPECT_THAT(Attest(), HasSubstr("of run digits-0007 the report has the decisive reason "
                                  "'bit_equal: nothing to see'; the history has 'bit_equal: all"));
  report_ = good;
  report_.runs[0].reruns[0].outcome = "exited with 7";
  PutReport();
  EXPECT_THAT(Attest(), HasSubstr("of rerun 1 of run digits-0007 the report has the outcome "
                                  "'exited with 7'; the history has 'exited with 0'"));
  report_ = good;
  PutReport();
  EXPECT_EQ(Attest(), "written");
}

TEST_F(DrillFolder, WhoseJournalHasMoreReleasesNothing) {
  PutAll();
  JournalContent past;
  auto journal = Journal::Open(At("drill/journal.jsonl"), &past);
  ASSERT_TRUE(journal.ok());
  RerunStep step{.job = manifest_.run_id + ".replicate-1", .state = AttemptState::kCollected};
  step.evidence_sha256 = std::string(64, 'a');
  ASSERT_TRUE(journal->Append(step).ok());
  EXPECT_EQ(Attest(), "written") << "no verdict speaks of replicates";
  fs::remove_all(At("out"));
  step.job = manifest_.run_id + ".2";
  ASSERT_TRUE(journal->Append(step).ok());
  EXPECT_THAT(Attest(), HasSubstr("rerun digits-0007.2 is in the journal, and neither in"));
}

TEST_F(DrillFolder, WhoseEvidenceTheHistoryHasOtherwiseIsNot) {
  PutAll();
  fs::remove(At("runs.db"));
  const std::string evidence = evidence_;
  evidence_ += " ";
  PutHistory(report_.drill_id);
  evidence_ = evidence;
  EXPECT_THAT(Attest(), HasSubstr("rerun digits-0007.1: the journal has evidence of sha256 "));
}

TEST_F(DrillFolder, OfAnotherHistoryIsNot) {
  PutAll();
  report_.drill_id += "x";
  PutReport();
  EXPECT_THAT(Attest(ErrorCode::kNotFound), HasSubstr("the history has no verdict on run"));
  report_.drill_id.pop_back();
  report_.ended += std::chrono::seconds(1);
  PutReport();
  EXPECT_THAT(Attest(), HasSubstr("; the history has "));
  report_.ended -= std::chrono::seconds(1);
  report_.runs.push_back(report_.runs[0]);
  Tally(&report_);
  PutReport();
  EXPECT_THAT(Attest(), HasSubstr("run digits-0007 is there twice"));
  report_.runs.clear();
  Tally(&report_);
  PutReport();
  EXPECT_THAT(Attest(ErrorCode::kInvalidInput), HasSubstr("a drill without runs"));
}

}  // namespace
}  // namespace rharness
