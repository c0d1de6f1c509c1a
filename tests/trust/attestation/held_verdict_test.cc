// A signed verdict beside a manifest, and beside what a history has of its drill.
#include "harness/trust/attestation/held_verdict.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "harness/trust/attestation/approval_statements.h"
#include "tests/records/manifest/example.h"
#include "tests/trust/attestation/attested.h"
#include "tests/trust/attestation/told_drills.h"

namespace rharness {
namespace {

using testing::HasSubstr;

class HeldVerdicts : public testing::Test {
 protected:
  HeldVerdicts() {
    manifest_.artifacts = {
        {.role = "weights", .path = "model.safetensors", .sha256 = std::string(64, '2')},
        {.role = "metrics", .path = "metrics.json", .sha256 = std::string(64, '7')}};
    said_.run_id = manifest_.run_id;
    said_.family = manifest_.family;
    said_.manifest = ManifestSubject(manifest_);
    said_.artifacts = {{"model.safetensors", std::string(64, '2')}};
  }
  // "ID", "ID superseded", or why it is refused.
  std::string Held(const AttestedVerdict& said, ToldDrills drills) const {
    const auto held = HoldToHistory(said, manifest_, &drills, "signed.jsonl");
    if (held.ok()) return held->drill_id + (held->superseded ? " superseded" : "");
    EXPECT_EQ(held.error().code, ErrorCode::kIntegrity);
    EXPECT_EQ(held.error().where, "signed.jsonl");
    return held.error().message;
  }
  std::string Held(const std::function<void(AttestedVerdict*)>& edit) const {
    AttestedVerdict said = said_;
    edit(&said);
    return Held(said, ToldDrills(said_));
  }

  Manifest manifest_ = ExampleManifest();
  AttestedVerdict said_ = ExampleVerdict();
};

TEST_F(HeldVerdicts, HoldWhereTheyAreTheRecordsAndTheHistorys) {
  EXPECT_EQ(Held(said_, ToldDrills(said_)), said_.drill_id);
}

TEST_F(HeldVerdicts, AreOfTheRunTheFamilyAndTheManifestOfTheRecord) {
  EXPECT_THAT(Held([](AttestedVerdict* said) { said->family = "toy"; }),
              HasSubstr("signed for run digits-0007 of family 'toy'; the manifest is of run "
                        "digits-0007 of family 'digits-mlp/epyc'"));
  EXPECT_THAT(Held([](AttestedVerdict* said) { said->run_id = "mlp-9"; }),
              HasSubstr("signed for run mlp-9 of family"));
  EXPECT_THAT(Held([](AttestedVerdict* said) { said->manifest.sha256 = std::string(64, '0'); }),
              HasSubstr("a manifest of run digits-0007 with sha256 0000"));
}

TEST_F(HeldVerdicts, SpeakOfCheckpointsThatWereRecorded) {
  EXPECT_THAT(Held([](AttestedVerdict* said) { said->artifacts[0].sha256 = std::string(64, '3'); }),
              HasSubstr("model.safetensors with sha256 3333"));
  EXPECT_THAT(Held([](AttestedVerdict* said) { said->artifacts[0].name = "other"; }),
              HasSubstr("no checkpoint that the manifest records"));
  EXPECT_EQ(Held([](AttestedVerdict* said) { said->artifacts.clear(); }), said_.drill_id);
}

TEST_F(HeldVerdicts, SayWhatTheHistoryHasOfTheDrill) {
  EXPECT_THAT(Held([](AttestedVerdict* said) { said->verdict = Verdict::kIdentical; }),
              HasSubstr("identical, decided 2026-06-01T12:00:00.000Z; the history has drifted, "
                        "decided 2026-06-01T12:00:00.000Z"));
  EXPECT_THAT(
      Held([](AttestedVerdict* said) { said->decided += std::chrono::milliseconds(1); }),
      HasSubstr("12:00:00.001Z; the history has drifted, decided 2026-06-01T12:00:00.000Z"));
  EXPECT_THAT(Held([](AttestedVerdict* said) { said->drill_id = "another"; }),
              HasSubstr("the history has no verdict of that drill on it"));
  ToldDrills other(said_);
  other.drill->verdicts[0].run_id = "mlp-9";
  EXPECT_THAT(Held(said_, other), HasSubstr("the history has no verdict of that drill on it"));
}

TEST_F(HeldVerdicts, AreSupersededWhereADrillSaidOtherwiseWhenItWasResumed) {
  ToldDrills resumed(said_);
  resumed.drill->superseded = resumed.drill->verdicts;
  VerdictRecord& now = resumed.drill->verdicts[0];
  resumed.drill->drill.drill_id = now.drill_id += ".2";
  now.verdict = Verdict::kIdentical;
  now.decided += std::chrono::hours(1);
  EXPECT_EQ(Held(said_, resumed), said_.drill_id + ".2 superseded");
  AttestedVerdict later = said_;
  later.verdict = Verdict::kIdentical;
  EXPECT_THAT(Held(later, resumed), HasSubstr("the history has identical"));
  later.decided += std::chrono::hours(1);
  EXPECT_EQ(Held(later, resumed), said_.drill_id + ".2");
}

}  // namespace
}  // namespace rharness
