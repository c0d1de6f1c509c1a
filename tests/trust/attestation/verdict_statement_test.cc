// A drill's verdict as a statement: all seven, what they are about, and read as they were written.
#include "harness/trust/attestation/verdict_statement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "harness/base/digest.h"
#include "tests/records/manifest/example.h"
#include "tests/records/manifest/schema_check.h"
#include "tests/reports/sample_report.h"
#include "tests/trust/attestation/attested.h"

namespace rharness {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

Result<AttestedVerdict> ReadBack(const SignedStatement& statement) {
  ASSIGN_OR_RETURN(const SignedStatement read, ParseStatement(ToJson(statement).Dump(), "s"));
  return ReadVerdictStatement(read, "s");
}

TEST(VerdictStatement, IsMadeOfEveryVerdictGoodOrBadAndReadsBack) {
  const Report report = SampleReport();
  std::set<Verdict> seen;
  for (const ReportRun& run : report.runs) {
    const auto made =
        AttestedVerdictOf({&report, std::string(64, 'a')}, run, ExampleManifest(), {}, {});
    seen.insert(made.verdict);
    const SignedStatement statement = VerdictStatement(made);
    EXPECT_EQ(statement.predicate_type, "urn:rharness:verdict:v1");
    const auto read = ReadBack(statement);
    ASSERT_TRUE(read.ok()) << read.error().ToString();
    EXPECT_EQ(read->verdict, run.verdict);
    EXPECT_EQ(read->decided, report.ended);
    EXPECT_EQ(ToJson(VerdictStatement(*read)).Dump(), ToJson(statement).Dump());
    std::size_t reasons = made.reasons.size() + made.reasons_left_out;
    for (std::size_t i = 0; i < kLayers.size(); ++i) {
      EXPECT_EQ(made.layers[i].state, run.layers[i].state);
      for (const Finding& reason : made.layers[i].reasons) EXPECT_EQ(reason.layer, kLayers[i]);
      reasons += made.layers[i].reasons.size();
    }
    EXPECT_EQ(reasons, run.findings.size());
  }
  EXPECT_EQ(seen.size(), 7U);
}

TEST(VerdictStatement, IsAboutTheCheckpointsOfTheRecordAndItsManifest) {
  Manifest manifest = ExampleManifest();
  Artifact index{.role = "weights", .path = "big/index.json", .sha256 = std::string(64, 'a')};
  index.parts = {{"one.st", 1, std::string(64, 'b')}, {"sub/two.st", 1, std::string(64, 'c')}};
  Artifact log{.role = "log", .path = "log.txt", .sha256 = std::string(64, 'd')};
  Artifact unread{.role = "optimizer", .path = "opt.pt"};
  manifest.artifacts.insert(manifest.artifacts.end(), {index, log, unread});
  const Report report = LargeReport(1, 0);
  const auto verdict =
      AttestedVerdictOf({&report, std::string(64, 'a')}, report.runs[0], manifest, {}, {});
  const SignedStatement statement = VerdictStatement(verdict);
  // The bytes of the manifest's file.
  const ScopedTempDir folder = *ScopedTempDir::Make();
  ASSERT_TRUE(WriteJsonFile(folder.path() / "m.json", ToJson(manifest)).ok());
  EXPECT_THAT(
      statement.subjects,
      ElementsAre(SignedSubject{"out/model.safetensors", std::string(64, '5')},
                  SignedSubject{"big/index.json", std::string(64, 'a')},
                  SignedSubject{"big/one.st", std::string(64, 'b')},
                  SignedSubject{"big/sub/two.st", std::string(64, 'c')},
                  SignedSubject{"digits-0007.json", HashFile(folder.path() / "m.json")->sha256}));
}

TEST(VerdictStatement, HoldsReruns) {
  const auto read = ReadBack(VerdictStatement(ExampleVerdict()));
  ASSERT_TRUE(read.ok()) << read.error().ToString();
  ASSERT_EQ(read->reruns.size(), 1U);
  EXPECT_EQ(read->reruns[0].evidence_sha256, std::string(64, '5'));
  EXPECT_THAT(read->reruns[0].artifacts,
              ElementsAre(SignedSubject{"model.safetensors", std::string(64, '6')}));
  EXPECT_THAT(read->layers[2].differs, ElementsAre("driver.version"));
  EXPECT_EQ(read->layers[2].reasons[0].message, "the driver is another one");
}

TEST(VerdictStatement, IsBoundedAndSafeToShow) {
  Report report = HostileReport("\x1b[31m\xe2\x80\xae" + std::string(5'000, 'x') + "\n\xff");
  ASSERT_FALSE(report.runs.empty());
  ReportRun& run = report.runs[0];
  run.findings.assign(1'000, run.findings.empty() ? Finding{.code = "c"} : run.findings[0]);
  const auto verdict =
      AttestedVerdictOf({&report, std::string(64, 'a')}, run, ExampleManifest(), {}, {});
  EXPECT_EQ(verdict.reasons_left_out, 800U);
  const std::string text = ToJson(VerdictStatement(verdict)).Dump();
  EXPECT_LT(text.size(), std::size_t{4} << 20);
  EXPECT_THAT(text, Not(HasSubstr("\\u001b")));
  EXPECT_THAT(text, Not(HasSubstr("\xe2\x80\xae")));
  EXPECT_EQ(ReadBack(VerdictStatement(verdict))->reasons_left_out, 800U);
}

// in-toto's rule of parsing: what is not known is ignored, so that a later version may say more.
TEST(VerdictStatement, MayHoldMembersThatAreNotKnown) {
  SignedStatement statement = VerdictStatement(ExampleVerdict());
  statement.predicate.Set("more", Json::MakeObject({{"a", 1}}));
  Json json = ToJson(statement);
  json.Set("annotations", "x");
  const auto read = ParseStatement(json.Dump(), "s");
  ASSERT_TRUE(read.ok());
  EXPECT_TRUE(ReadVerdictStatement(*read, "s").ok());
}

constexpr char kSchema[] = RHARNESS_SOURCE_DIR "/harness/trust/attestation/verdict.schema.json";

bool IsVerdict(const Json& json) {
  const auto statement = ParseStatement(json.Dump(), "s");
  return statement.ok() && ReadVerdictStatement(*statement, "s").ok();
}

TEST(VerdictSchema, DescribesWhatIsWrittenAndRequiresWhatTheReaderRequires) {
  AttestedVerdict verdict = ExampleVerdict();
  verdict.reasons_left_out = 1;
  verdict.reruns[0].state =
      RerunEnd::State::kFailed;  // of a compared one, evidence is required, too
  verdict.reruns[0].reason = "none";
  std::set<std::string> missing;
  CollectDescribed(LoadSchemaFile(kSchema), &missing);
  EXPECT_EQ(missing, std::set<std::string>{});
  const Json json = ToJson(VerdictStatement(verdict));
  ExpectDescribed(LoadSchemaFile(kSchema), json);
  ExpectSameRequirements(LoadSchemaFile(kSchema), json, IsVerdict);
}

TEST(VerdictSchema, AgreesWithAnIndependentValidator) {
  const Json json = ToJson(VerdictStatement(ExampleVerdict()));
  const int good = Validate(kSchema, json);
  if (good == 77) GTEST_SKIP() << "python3 with the package jsonschema is not installed";
  EXPECT_EQ(good, 0);
  AttestedVerdict without = ExampleVerdict();
  without.reruns[0].evidence_sha256.clear();
  EXPECT_EQ(Validate(kSchema, ToJson(VerdictStatement(without))), 1);
  Json wrong = json;
  wrong.Set("predicateType", "urn:other");
  EXPECT_EQ(Validate(kSchema, wrong), 1);
}

}  // namespace
}  // namespace rharness
