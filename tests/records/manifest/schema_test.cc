// The JSON Schemas against the code: what is written is described, what is required is required by
// both, and (with Python's jsonschema) the examples are valid and their faults are not.
#include <gtest/gtest.h>

#include <set>

#include "harness/records/manifest/record_schemas.h"
#include "tests/records/manifest/example.h"
#include "tests/records/manifest/schema_check.h"

namespace rharness {
namespace {

Json LoadSchema(std::string_view record) {
  return record == "manifest" ? ManifestSchema() : EvidenceSchema();
}

bool AcceptsManifest(const Json& json) { return ParseManifest(json, "m").ok(); }
bool AcceptsEvidence(const Json& json) { return ParseEvidence(json, "e").ok(); }

TEST(ManifestSchema, DescribesEveryMemberThatIsWritten) {
  ExpectDescribed(LoadSchema("manifest"), ToJson(ExampleManifest()));
}

TEST(ManifestSchema, RequiresWhatTheReaderRequires) {
  ExpectSameRequirements(LoadSchema("manifest"), ToJson(ExampleManifest()), AcceptsManifest);
}

TEST(EvidenceSchema, DescribesEveryMemberThatIsWritten) {
  ExpectDescribed(LoadSchema("evidence"), ToJson(ExampleEvidence()));
}

TEST(EvidenceSchema, RequiresWhatTheReaderRequires) {
  ExpectSameRequirements(LoadSchema("evidence"), ToJson(ExampleEvidence()), AcceptsEvidence);
}

TEST(Schemas, DescribeThePythonEnvironmentOfARunAndOfARerun) {
  Manifest run = ExampleManifest();
  run.environment.python = PythonEnvironment{.kind = PythonKind::kUv,
                                             .prefix = "/srv/lab/digits/.venv",
                                             .place = ".venv",
                                             .program = "bin/python",
                                             .interpreter = "/usr/bin/python3.11",
                                             .version = "3.11.2",
                                             .activated = true,
                                             .search_path = {"src"},
                                             .user_base = "/srv/lab/.local"};
  Evidence rerun = ExampleEvidence();
  rerun.environment.python = run.environment.python;
  ExpectDescribed(LoadSchema("manifest"), ToJson(run));
  ExpectDescribed(LoadSchema("evidence"), ToJson(rerun));
  ExpectSameRequirements(LoadSchema("manifest"), ToJson(run), AcceptsManifest);
  ExpectSameRequirements(LoadSchema("evidence"), ToJson(rerun), AcceptsEvidence);
  EXPECT_EQ(ToJson(*ParseManifest(ToJson(run), "m")).Dump(), ToJson(run).Dump());
}

TEST(Schemas, DescribeEveryFieldAndGiveValidExamples) {
  for (const char* record : {"manifest", "evidence"}) {
    const Json schema = LoadSchema(record);
    std::set<std::string> missing;
    CollectDescribed(schema, &missing);
    EXPECT_EQ(missing, std::set<std::string>{});
    for (const Json& example : schema.Find("examples")->AsArray()) {
      EXPECT_TRUE(record[0] == 'm' ? AcceptsManifest(example) : AcceptsEvidence(example));
    }
  }
}

TEST(Schemas, AgreeWithAnIndependentValidator) {
  const int manifest = ValidateBy(ManifestSchema(), ToJson(ExampleManifest()));
  if (manifest == 77) GTEST_SKIP() << "python3 with the package jsonschema is not installed";
  EXPECT_EQ(manifest, 0);
  EXPECT_EQ(ValidateBy(EvidenceSchema(), ToJson(ExampleEvidence())), 0);
  Json wrong = ToJson(ExampleManifest());
  wrong.Set("command", "python3 train.py");
  EXPECT_EQ(ValidateBy(ManifestSchema(), wrong), 1);
  wrong = ToJson(ExampleManifest());
  wrong.Set("familly", "x");
  EXPECT_EQ(ValidateBy(ManifestSchema(), wrong), 1);
}

}  // namespace
}  // namespace rharness
