// Which run made a file, and where drills reran it.
#include <gmock/gmock.h>

#include "tests/history/store_fixture.h"

namespace rharness {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class MadeFiles : public HistoryTest {
 protected:
  void SetUp() override {
    HistoryTest::SetUp();
    if (IsSkipped()) return;
    store_ = OpenStore();
    Manifest made = MakeManifest("made", kDay1);
    Artifact artifact;
    artifact.role = "weights";
    artifact.path = "model.bin";
    artifact.sha256 = std::string(64, '1');
    artifact.tensor_digest = std::string(64, '2');
    artifact.parts = {{.path = "part", .size_bytes = 1, .sha256 = std::string(64, '3')}};
    made.artifacts = {artifact};
    Manifest again = MakeManifest("again", kDay2);
    artifact.tensor_digest = std::string(64, '4');
    again.artifacts = {artifact};
    Manifest read = MakeManifest("read", kDay3);
    DataItem item;
    item.name = "init";
    item.path = "init.bin";
    item.kind = DataKind::kFile;
    item.sha256 = std::string(64, '1');
    read.data = {item};
    for (const Manifest& one : {made, again, read}) {
      const auto added = store_->Add(one, At(kDay3));
      ASSERT_TRUE(added.ok()) << added.error().ToString();
    }
  }
  std::vector<std::string> RunsOf(char digit) {
    const auto runs = store_->RunsOfArtifact(std::string(64, digit));
    EXPECT_TRUE(runs.ok()) << runs.error().ToString();
    return runs.ok() ? *runs : std::vector<std::string>();
  }

  std::unique_ptr<HistoryStore> store_;
};

TEST_P(MadeFiles, AreFoundByTheirDigestsAndNotByWhatOthersRead) {
  EXPECT_THAT(RunsOf('1'), ElementsAre("again", "made"));
  EXPECT_THAT(RunsOf('2'), ElementsAre("made")) << "the digest of its tensors";
  EXPECT_THAT(RunsOf('3'), ElementsAre("again", "made")) << "a part";
  EXPECT_THAT(RunsOf('9'), IsEmpty());
}

TEST_P(MadeFiles, HaveTheNodeOfWhateverRerunTheyAreHeldTo) {
  VerdictRecord verdict = MakeVerdict("d", "made", "identical", kDay3);
  verdict.measures.emplace();
  verdict.measures->node = "node-7";
  DrillResults results;
  results.verdicts = {verdict, MakeVerdict("d", "read", "identical", kDay3)};
  ASSERT_TRUE(store_->AddDrill({"d", At(kDay3), {}, {}}, results).ok());
  const auto measured = store_->MeasuresOf("made", "d");
  ASSERT_TRUE(measured.ok() && *measured);
  EXPECT_EQ((*measured)->node, "node-7");
  EXPECT_FALSE(store_->MeasuresOf("read", "d")->has_value());
  EXPECT_FALSE(store_->MeasuresOf("made", "none")->has_value());
}

INSTANTIATE_TEST_SUITE_P(Both, MadeFiles, BothDatabases(), DatabaseName);

}  // namespace
}  // namespace rharness
