// Evidence: read, refused with file and path, and written back without loss.
#include "harness/records/manifest/evidence.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/records/manifest/example.h"

namespace rharness {
namespace {

TEST(Evidence, ReadsEveryField) {
  const Evidence e = ExampleEvidence();
  EXPECT_EQ(e.run_id, "digits-0007");
  EXPECT_EQ(e.rerun, 2);
  EXPECT_EQ(e.attempt, 3);
  EXPECT_EQ(e.ended - e.started, std::chrono::milliseconds(91250));
  EXPECT_EQ(e.outcome.kind, OutcomeKind::kSignalled);
  EXPECT_EQ(e.outcome.signal, 11);
  EXPECT_EQ(e.outcome.wall, std::chrono::milliseconds(91250));
  EXPECT_EQ(e.outcome.cpu, std::chrono::nanoseconds(180000000001));
  EXPECT_EQ(e.outcome.peak_memory_bytes, 123456789u);
  EXPECT_EQ(e.outcome.not_held, "memory was watched: no control groups");
  EXPECT_EQ(e.obstacle_layer, Layer::kEnvironment);
  EXPECT_EQ(e.code_files.at(0).path, "train.py");
  EXPECT_EQ(e.data.at(0).name, "digits");
  EXPECT_EQ(e.remarks.at(0).limit, "present");
  EXPECT_EQ(e.environment.variables.at("TZ"), std::nullopt);
  EXPECT_EQ(e.seeds.at("init"), 7);
  EXPECT_TRUE(std::isnan(e.metrics.metrics.at("loss")));
  EXPECT_TRUE(std::isinf(e.metrics.curves.at(0).values.at(1)));
  EXPECT_EQ(e.artifacts.at(0).location, "runs/log.txt");
  EXPECT_EQ(e.stderr_path, "runs/2/stderr.txt");
}

TEST(Evidence, SurvivesWritingAndReading) {
  const std::string once = ToJson(ExampleEvidence()).Dump(2);
  const auto again = ParseEvidenceText(once);
  ASSERT_TRUE(again.ok()) << again.error().ToString();
  EXPECT_EQ(ToJson(*again).Dump(2), once);
  const Json source = *ParseJson(kExampleEvidence, "source");
  const Json written = *ParseJson(once, "written");
  for (const auto& [name, value] : source.AsObject()) {
    ASSERT_NE(written.Find(name), nullptr) << name;
  }
}

TEST(Evidence, KeepsTheTextOfWhatWasNotReadOrThatItIsNotKnown) {
  Evidence evidence = ExampleEvidence();
  EXPECT_EQ(evidence.unread_metrics, std::nullopt);
  EXPECT_EQ(ParseEvidenceText(ToJson(evidence).Dump())->unread_metrics, std::nullopt);
  for (const UnreadMembers& members : {UnreadMembers{}, {{"metrics.a\tb", "[1]"}}}) {
    evidence.unread_metrics = members;
    EXPECT_EQ(ParseEvidenceText(ToJson(evidence).Dump())->unread_metrics, members);
  }
  evidence.unread_metrics = {{"eval", std::string(81, '1')}};
  const auto refused = ParseEvidenceText(ToJson(evidence).Dump());
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().ToString().find("$.unread_metrics"), std::string::npos);
}

TEST(Evidence, KeepsNanosecondsForThreeWeeks) {
  Evidence evidence = ExampleEvidence();
  evidence.outcome.wall = std::chrono::hours(21 * 24) - std::chrono::nanoseconds(1);
  EXPECT_EQ(ParseEvidenceText(ToJson(evidence).Dump())->outcome.wall, evidence.outcome.wall);
}

TEST(Evidence, NamesFileAndJsonPathOfWhatItRefuses) {
  struct {
    std::string_view from, to, path;
  } const refusals[] = {
      {"rharness.evidence/v1", "rharness.manifest/v1", "$.schema"},
      {"\"digits-0007\"", "\"..\"", "$.run_id"},
      {"\"rerun\": 2", "\"rerun\": \"2\"", "$.rerun"},
      {"\"attempt\": 3", "\"atempt\": 3", "$"},
      {"\"signalled\"", "\"exploded\"", "$.outcome.kind"},
      {"91.25,", "-1,", "$.outcome.wall_seconds"},
      {"91.25,", "1e300,", "$.outcome.wall_seconds"},
      {"\"layer\": \"code\"", "\"layer\": \"cloud\"", "$.remarks[0].layer"},
      {"\"loss\": \"nan\"", "\"loss\": \"NaN\"", "$.metrics.metrics.loss"},
      {"\"out/log.txt\"", "\"../log.txt\"", "$.artifacts[0].path"},
      {"runs/2/stdout.txt", "/runs/2/stdout.txt", "$.stdout_path"},
  };
  for (const auto& refusal : refusals) {
    const auto evidence = ParseEvidenceText(Replaced(kExampleEvidence, refusal.from, refusal.to));
    ASSERT_FALSE(evidence.ok()) << refusal.to;
    EXPECT_EQ(evidence.error().where, "evidence.json: " + std::string(refusal.path));
  }
}

}  // namespace
}  // namespace rharness
