// A history in a file, with one run of a file of weights, and its log; Ada and Bob, who may sign.
#ifndef RHARNESS_TESTS_TRUST_AUDIT_ANSWER_WORLD_H_
#define RHARNESS_TESTS_TRUST_AUDIT_ANSWER_WORLD_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "harness/base/digest.h"
#include "harness/trust/audit/answer.h"
#include "harness/trust/audit/audit.h"
#include "tests/history/store_fixture.h"
#include "tests/trust/approval/people.h"

namespace rharness {

class AnswerWorld : public HistoryFileTest {
 protected:
  AnswerWorld() : store_(OpenStore()) { manifest_.artifacts = {Weights()}; }

  static Artifact Weights() {
    Artifact artifact;
    artifact.role = "weights";
    artifact.path = "model.bin";
    artifact.location = "a.bin";
    artifact.size_bytes = 7;
    artifact.sha256 = std::string(64, 'c');
    return artifact;
  }
  std::string Put(const std::string& name, const std::string& text) const {
    EXPECT_TRUE(WriteFileAtomic(folder_.path() / name, text).ok());
    return (folder_.path() / name).string();
  }
  void AddRun() const {
    const auto added = store_->Add(manifest_, At(kDay1));
    ASSERT_TRUE(added.ok()) << added.error().ToString();
  }
  // One rerun of it, on "node-7".
  void Judge(const std::string& verdict, const std::string& day,
             const Surroundings& surroundings = {}) const {
    DrillResults results;
    VerdictRecord record = MakeVerdict("drill-" + verdict, "a", verdict, day);
    record.measures.emplace();
    record.measures->node = "node-7";
    results.verdicts = {record};
    results.reruns = {
        {record.drill_id, "a", 1, "exited with 0", 1.0, "e", [=] { return surroundings; }}};
    ASSERT_TRUE(store_->AddDrill({record.drill_id, At(day), At(day), 0}, results).ok());
  }
  void Append() {
    const auto done = AppendRecords({.history = Path().string(), .baselines = {}, .policies = {}},
                                    {.folder = folder_.path() / "log",
                                     .begin = !std::filesystem::exists(folder_.path() / "log"),
                                     .signer = people_.ada.get(),
                                     .clock = &clock_});
    ASSERT_TRUE(done.ok()) << done.error().ToString();
  }
  AuditReport Show(const std::vector<std::string>& policies = {},
                   const TrustPolicy* trust = nullptr) {
    Append();
    return ShowAsItIs(policies, trust);
  }
  AuditReport ShowAsItIs(const std::vector<std::string>& policies = {},
                         const TrustPolicy* trust = nullptr) const {
    auto report = AnswerFor({.history = Path().string(),
                             .log = folder_.path() / "log",
                             .run_id = "a",
                             .policies = policies,
                             .statements = {},
                             .trust = trust,
                             .now = clock_.Now()});
    EXPECT_TRUE(report.ok()) << report.error().ToString();
    return report.ok() ? std::move(*report) : AuditReport();
  }
  SigningPerson By(Signer* signer, int hours = 0) const {
    return {signer, &trust_, At(kDay2) + std::chrono::hours(hours)};
  }
  // Past the store, and its triggers.
  void Force(const std::string& statement) {
    store_.reset();
    EXPECT_EQ(RawDatabase(Path()).RunPastTriggers(statement), "");
    store_ = OpenStore();
  }
  static std::string FactOf(const AuditReport& report, const std::string& name) {
    for (const AuditFact& fact : report.made) {
      if (fact.name == name) return fact.value;
    }
    return "";
  }

  const People people_{};
  const TrustPolicy trust_ = people_.Trust();
  Manifest manifest_ = MakeManifest("a", kDay1);
  mutable FakeClock clock_{At("2026-02-01T00:00:00.000Z")};
  std::unique_ptr<HistoryStore> store_;
};

}  // namespace rharness

#endif  // RHARNESS_TESTS_TRUST_AUDIT_ANSWER_WORLD_H_
