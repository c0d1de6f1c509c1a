// What made data, and on which of them metrics were measured: read, written, refused, told.
#include "harness/records/manifest/lineage.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/records/manifest/record_schemas.h"
#include "tests/records/manifest/example.h"
#include "tests/records/manifest/schema_check.h"

namespace rharness {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const std::string kHash(64, 'a');
const std::string kCommit(40, 'c');

std::string WithData(const std::string& more) {
  return R"({"schema": "rharness.manifest/v1", "run_id": "r", "command": ["true"],
    "data": [{"name": "test", "path": "test.csv", "sha256": ")" +
         kHash + R"("}, {"name": "loose", "path": "loose.csv"}])" + more + "}";
}

std::string WithMaker(const std::string& made_by) {
  return R"({"schema": "rharness.manifest/v1", "run_id": "r", "command": ["true"],
    "data": [{"name": "test", "path": "test.csv", "made_by": )" +
         made_by + "}]}";
}

TEST(Lineage, IsTheSameAfterWritingAndReading) {
  const auto manifest = ParseManifestText(
      WithData(R"(, "metrics": [{"name": "accuracy", "value": 1, "evaluated_on": "test"}])"));
  ASSERT_TRUE(manifest.ok()) << manifest.error().ToString();
  EXPECT_EQ(manifest->metrics[0].evaluated_on, "test");
  const Json json = ToJson(*manifest);
  ExpectDescribed(ManifestSchema(), json);
  const auto again = ParseManifest(json, "again");
  ASSERT_TRUE(again.ok()) << again.error().ToString();
  EXPECT_EQ(ToJson(*again).Dump(), json.Dump());
  const MadeBy maker = ExampleManifest().data[0].made_by.value();
  EXPECT_EQ(maker.repository, "https://git.example.org/etl");
  EXPECT_EQ(maker.version, "2.3.1");
  EXPECT_EQ(maker.commit, "89abcdef0123456789abcdef0123456789abcdef");
}

TEST(Lineage, LeavesRecordsOfBeforeAsTheyWere) {
  const auto manifest =
      ParseManifestText(WithData(R"(, "metrics": [{"name": "accuracy", "value": 1}])"));
  ASSERT_TRUE(manifest.ok());
  const std::string text = ToJson(*manifest).Dump();
  EXPECT_EQ(text.find("made_by"), std::string::npos);
  EXPECT_EQ(text.find("evaluated_on"), std::string::npos);
  // As it was before either could be said: by Python's hashlib over the same identity.
  EXPECT_EQ(ConfigurationKey(*manifest),
            "871e5d55cb2e03ce19d01735352aa0ca2a796e99e5bc26e4f0dc6147711ff5c2");
}

TEST(Lineage, OfMetricsMakesAnotherConfigurationAndThatOfDataDoesNot) {
  Manifest manifest =
      *ParseManifestText(WithData(R"(, "metrics": [{"name": "accuracy", "value": 1}])"));
  const std::string before = ConfigurationKey(manifest);
  manifest.data[0].made_by = MadeBy{.repository = "etl", .commit = {}, .version = {}};
  EXPECT_EQ(ConfigurationKey(manifest), before);
  manifest.metrics[0].evaluated_on = "test";
  const std::string on_test = ConfigurationKey(manifest);
  EXPECT_NE(on_test, before);
  manifest.data[0].name = "other";  // another name of the same data
  manifest.metrics[0].evaluated_on = "other";
  Manifest renamed = manifest;
  EXPECT_NE(ConfigurationKey(renamed), before);
}

TEST(Lineage, OfAMetricMustNameDataThatHasADigest) {
  for (const auto& [name, why] : std::vector<std::pair<std::string, std::string>>{
           {"tset", "there is no 'tset'"}, {"loose", "has no digest"}}) {
    const auto manifest = ParseManifestText(
        WithData(R"(, "metrics": [{"name": "loss", "value": 1}, {"name": "accuracy", "value": 1,
                                  "evaluated_on": ")" +
                 name + R"("}])"));
    ASSERT_FALSE(manifest.ok()) << name;
    EXPECT_EQ(manifest.error().where, "run.json: $.metrics[1].evaluated_on");
    EXPECT_THAT(manifest.error().message, HasSubstr(why));
  }
}

TEST(Lineage, OfDataRefusesWhatIsNoMaker) {
  const std::vector<std::array<std::string, 3>> cases = {
      {"{}", "", "is empty"},
      {R"({"repository": "", "version": ""})", "", "is empty"},
      {R"({"commit": "c0ffee"})", ".commit", "full commit"},
      {R"({"commit": ")" + std::string(40, 'C') + R"("})", ".commit", "lower-case"},
      {R"({"repository": "https://ada:secret@git.example/etl"})", ".repository", "without user"},
      {R"({"repository": "--upload-pack=x"})", ".repository", "leading '-'"},
      {R"({"repository": "ext::sh -c x"})", ".repository", "'::'"},
      {R"({"repository": "../../etc"})", ".repository", ""},
      {R"({"version": "1\u0007"})", ".version", "control"},
      {R"({"author": "x"})", "", "unknown member"},
      {R"("etl")", "", "object"},
      {R"([])", "", "object"}};
  for (const auto& [json, member, why] : cases) {
    const auto manifest = ParseManifestText(WithMaker(json));
    ASSERT_FALSE(manifest.ok()) << json;
    EXPECT_EQ(manifest.error().where, "run.json: $.data[0].made_by" + member) << json;
    EXPECT_THAT(manifest.error().message, HasSubstr(why)) << json;
    EXPECT_EQ(manifest.error().ToString().find("secret"), std::string::npos);
  }
  EXPECT_TRUE(ParseManifestText(WithMaker(R"({"version": "1", "x-note": 1})")).ok());
}

TEST(Lineage, IsParsedFromTheWordsOfACommandLine) {
  const std::vector<std::pair<std::string, MadeBy>> cases = {
      {"https://git.example/etl@" + kCommit, {"https://git.example/etl", kCommit, ""}},
      {"../etl@" + kCommit + ",version=2", {"../etl", kCommit, "2"}},
      {"git@git.example:team/etl@" + kCommit, {"git@git.example:team/etl", kCommit, ""}},
      {"git@git.example:team/etl", {"git@git.example:team/etl", "", ""}},
      {"ssh://git@git.example/etl", {"ssh://git@git.example/etl", "", ""}},
      {"@" + kCommit, {"", kCommit, ""}},
      {"version=2.3", {"", "", "2.3"}},
      {"etl,version=2", {"etl", "", "2"}}};
  for (const auto& [text, expected] : cases) {
    const auto made_by = ParseMadeBy(text);
    ASSERT_TRUE(made_by.ok()) << text << made_by.error().ToString();
    EXPECT_EQ(*made_by, expected) << text;
  }
  for (const std::string text : {"", "version=", "etl@main", "etl@c0ffee", "etl@"}) {
    EXPECT_FALSE(ParseMadeBy(text).ok()) << text;
  }
}

TEST(Lineage, HoldsDigestsOfOneKindAgainstEachOther) {
  DataItem a, b;
  EXPECT_EQ(CompareContent(a, b), SameContent::kNotKnown);
  a.sha256 = b.sha256 = kHash;
  b.other_digest = "md5:1";
  EXPECT_EQ(CompareContent(a, b), SameContent::kYes);
  b.sha256 = std::string(64, 'b');
  EXPECT_EQ(CompareContent(a, b), SameContent::kNo);
  b.sha256.clear();
  EXPECT_EQ(CompareContent(a, b), SameContent::kNotKnown);
  a.other_digest = "md5:1";
  EXPECT_EQ(CompareContent(a, b), SameContent::kYes);
  a.other_digest = "mlflow:1";
  EXPECT_EQ(CompareContent(a, b), SameContent::kNotKnown);
}

TEST(Lineage, IsToldInASentenceEach) {
  EXPECT_THAT(TellLineage(ExampleManifest()),
              ElementsAre("'digits' (sha256:444444444444...) was made by "
                          "https://git.example.org/etl at "
                          "89abcdef0123456789abcdef0123456789abcdef, version 2.3.1"));
  EXPECT_THAT(TellLineage(Manifest()), IsEmpty());
}

}  // namespace
}  // namespace rharness
