// RO-Crates of runs: what a CreateAction says becomes a manifest, with its worth.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/base/digest.h"
#include "tests/records/intake/source_tree.h"

namespace rharness {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

constexpr char kGraph[] = R"json({"@context": "https://w3id.org/ro/crate/1.1/context", "@graph": [
  {"@id": "ro-crate-metadata.json", "@type": "CreativeWork", "about": {"@id": "./"}},
  {"@id": "./", "@type": "Dataset", "name": "digits", "mentions": {"@id": "#run"}},
  {"@id": "#run", "@type": "CreateAction", "startTime": "2026-01-01T00:00:00+00:00",
   "endTime": "2026-01-01T00:01:00+00:00", "instrument": {"@id": "#tool"},
   "containerImage": {"@id": "#image"}, "environment": [{"@id": "#threads"}],
   "object": [{"@id": "data/my%20train.csv"}, {"@id": "#lr"}, {"@id": "#nothing"},
              {"@id": "https://ada:s3cret@example.org/test.csv?key=s3cret"}],
   "result": [{"@id": "model.safetensors"}, {"@id": "#acc"}, {"@id": "../evil"}]},
  {"@id": "#tool", "@type": "SoftwareApplication", "name": "trainer",
   "softwareVersion": "8f1d0c2b6a7e4d3c9b5a1f0e2d4c6b8a7f9e1d3c"},
  {"@id": "#image", "@type": "ContainerImage", "registry": "registry.example", "name": "ml/train",
   "tag": "2.1"},
  {"@id": "#threads", "@type": "PropertyValue", "name": "OMP_NUM_THREADS", "value": "4"},
  {"@id": "data/my%20train.csv", "@type": "File", "sha256": "HASH"},
  {"@id": "https://ada:s3cret@example.org/test.csv?key=s3cret", "@type": "File", "name": "test"},
  {"@id": "#lr", "@type": "PropertyValue", "name": "lr", "value": 0.1},
  {"@id": "model.safetensors", "@type": "File"},
  {"@id": "../evil", "@type": "File"},
  {"@id": "#acc", "@type": "PropertyValue", "name": "accuracy", "value": "0.75"}]})json";

class RoCrateImport : public SourceTree {
 protected:
  void PutCrate(const std::string& stated) {
    std::string text = kGraph;
    text.replace(text.find("HASH"), 4, stated);
    Put("ro-crate-metadata.json", text);
    Put("data/my train.csv", "1,2\n");
    Put("model.safetensors", "weights");
    Put("../evil", "evil");
  }
  Manifest Only() {
    const ImportOutcome outcome = Import();
    EXPECT_TRUE(outcome.status.ok()) << outcome.status.error().ToString();
    EXPECT_THAT(outcome.runs, SizeIs(1));
    return outcome.runs.empty() ? Manifest() : outcome.runs[0];
  }
};

TEST_F(RoCrateImport, TakesTimesToolsFilesAndValuesOfAnAction) {
  PutCrate(Sha256HexOf("1,2\n"));
  const Manifest run = Only();
  EXPECT_EQ(run.family, "digits");
  EXPECT_EQ(run.duration_seconds, 60.0);
  EXPECT_EQ(run.code.commit, "8f1d0c2b6a7e4d3c9b5a1f0e2d4c6b8a7f9e1d3c");
  EXPECT_THAT(WorthOf(run, "code.commit"), HasSubstr("hint "));
  EXPECT_EQ(run.image.repository, "ml/train");
  EXPECT_THAT(WorthOf(run, "image"), HasSubstr("hint "));
  EXPECT_EQ(run.environment.variables.at("OMP_NUM_THREADS"), "4");
  EXPECT_EQ(run.hyperparameters.at("lr").ToDouble(), 0.1);
  EXPECT_EQ(MetricOf(run, "accuracy"), 0.75);
  ASSERT_THAT(run.data, SizeIs(2));
  EXPECT_EQ(run.data[0].path, "data/my train.csv");
  EXPECT_EQ(run.data[0].sha256, Sha256HexOf("1,2\n"));
  EXPECT_EQ(run.data[1].source, "https://example.org/test.csv");
  ASSERT_THAT(run.artifacts, SizeIs(1));
  EXPECT_EQ(run.artifacts[0].role, "weights");
  EXPECT_EQ(run.artifacts[0].sha256, Sha256HexOf("weights"));
  EXPECT_EQ(ToJson(run).Dump().find("s3cret"), std::string::npos);
  EXPECT_EQ(WorthOf(run, "command"), "missing");
}

TEST_F(RoCrateImport, TakesNeitherHashWhereFileAndCrateDisagree) {
  PutCrate(std::string(64, 'a'));
  const Manifest run = Only();
  EXPECT_EQ(run.data.at(0).sha256, "");
  EXPECT_TRUE(HasRemark(run, "and the crate states aaaa"));
}

TEST_F(RoCrateImport, IsTheSameWhenItIsDoneAgainFromItsFileToo) {
  PutCrate("");
  const Manifest run = Only();
  const ImportOutcome file = Import("", "ro-crate-metadata.json");
  ASSERT_THAT(file.runs, SizeIs(1));
  EXPECT_EQ(file.runs[0].run_id, run.run_id);
}

TEST_F(RoCrateImport, SaysWhereThereIsNoRun) {
  Put("ro-crate-metadata.json", R"({"@context": "https://w3id.org/ro/crate/1.1/context",
      "@graph": [{"@id": "./", "@type": "Dataset"}, 7, {"@id": 3}]})");
  const ImportOutcome outcome = Import();
  ASSERT_FALSE(outcome.status.ok());
  EXPECT_THAT(outcome.status.error().ToString(), HasSubstr("holds no CreateAction"));
}

}  // namespace
}  // namespace rharness
