// Repositories that the real DVC keeps and sessions that the real ClearML writes, imported.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "harness/base/digest.h"
#include "harness/records/intake/dvc_contents.h"
#include "tests/records/intake/peer_programs.h"

namespace rharness {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

class DvcPeer : public PeerPrograms {
 protected:
  // By family, experiments apart: "train", "train two".
  std::map<std::string, Manifest> ImportRuns() {
    const ImportOutcome outcome = Import("dvc");
    EXPECT_TRUE(outcome.status.ok()) << outcome.status.error().ToString();
    EXPECT_THAT(outcome.refused, SizeIs(0));
    std::map<std::string, Manifest> runs;
    for (const Manifest& run : outcome.runs) {
      const std::string commit = WorthOf(run, "code.commit");
      constexpr std::string_view kExperiment = "exact refs/exps, experiment";
      const std::string experiment =
          commit.starts_with(kExperiment) ? commit.substr(kExperiment.size()) : "";
      runs[run.family + experiment] = run;
    }
    return runs;
  }
};

TEST_F(DvcPeer, HashesAgreeForFilesDirectoriesExperimentsAndOldEntries) {
  const auto old = ParseJson(RunScript("dvc_repository.py", {root()}), "");
  ASSERT_TRUE(old.ok()) << old.error().ToString();
  const auto runs = ImportRuns();
  std::string names;
  for (const auto& [name, run] : runs) names += name + "; ";
  // "copy" ran anew in each experiment, for its input changed.
  EXPECT_EQ(names, "copy; copy three; copy two; old/dvc.yaml:old; train; train three; train two; ");

  const Manifest& train = runs.at("train");
  ASSERT_THAT(train.data, SizeIs(2));
  for (const DataItem& item : train.data) {
    EXPECT_THAT(item.sha256, SizeIs(64)) << item.name;
  }
  EXPECT_THAT(WorthOf(train, "data[0]"), HasSubstr("md5 verified"));
  EXPECT_THAT(WorthOf(train, "code.commit"), HasSubstr("the recorded versions of train.py"));
  EXPECT_EQ(MetricOf(train, "acc"), 0.25);
  EXPECT_THAT(train.command, ElementsAre("python3", "train.py"));
  EXPECT_THAT(runs.at("copy").command,
              ElementsAre("/bin/sh", "-c", "cp model.pkl copy.pkl && echo done"));

  const Manifest& three = runs.at("train three");
  EXPECT_EQ(three.hyperparameters.at("lr").ToInt64(), 3);
  EXPECT_EQ(MetricOf(three, "acc"), 0.75);
  ASSERT_NE(CurveOf(three, "loss"), nullptr);
  EXPECT_THAT(CurveOf(three, "loss")->values, ElementsAre(0.5, 3.0));
  for (const Artifact& artifact : three.artifacts) {
    EXPECT_THAT(artifact.sha256, SizeIs(64)) << artifact.path;
  }
  EXPECT_EQ(three.data.at(0).sha256, train.data.at(0).sha256);

  ASSERT_THAT(runs.at("old/dvc.yaml:old").data, SizeIs(5));
  for (const DataItem& item : runs.at("old/dvc.yaml:old").data) {
    EXPECT_EQ(item.other_digest, "md5-dos2unix:" + old->Find(item.name)->AsString());
    EXPECT_EQ(item.sha256, HashFile(root() / item.name)->sha256) << item.name;
  }
}

// What DVC pushed is all that is left.
TEST_F(DvcPeer, RemoteThatIsAFolderHasAllContents) {
  RunScript("dvc_repository.py", {root()});
  const auto before = ImportRuns();
  for (const char* name : {".dvc/cache", "data", "raw.bin", "model.pkl", "copy.pkl"}) {
    std::filesystem::remove_all(root() / name);
  }
  const auto after = ImportRuns();
  ASSERT_TRUE(after.contains("train") && before.contains("train"));
  ASSERT_THAT(after.at("train").data, SizeIs(2));
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(after.at("train").data[i].sha256, before.at("train").data[i].sha256);
  }
}

class ClearmlPeer : public PeerPrograms {};

TEST_F(ClearmlPeer, SessionsFolderAndArchiveAreTheSameRun) {
  const std::string folder = RunScript("clearml_task.py", {root()});
  ImportRequest request;
  request.source = folder;
  const ImportOutcome from_folder = ImportAll(request);
  request.source = folder + ".zip";
  const ImportOutcome from_archive = ImportAll(request);
  ASSERT_THAT(from_folder.runs, SizeIs(1));
  ASSERT_THAT(from_archive.runs, SizeIs(1));
  const Manifest& run = from_folder.runs[0];
  EXPECT_EQ(run.run_id, from_archive.runs[0].run_id);
  EXPECT_EQ(run.family, "proj/sub");
  EXPECT_EQ(run.code.repository, "https://example.org/r.git");
  EXPECT_THAT(run.code.commit, SizeIs(40));
  EXPECT_TRUE(run.code.dirty);
  EXPECT_EQ(run.image.digest, "sha256:" + std::string(64, 'a'));
  EXPECT_EQ(run.hyperparameters.at("General/lr").ToDouble(), 0.1);
  EXPECT_EQ(run.hyperparameters.at("General/deep/x").ToInt64(), 1);
  EXPECT_TRUE(run.environment.software.contains("clearml"));
  EXPECT_TRUE(run.environment.software.contains("python"));
  EXPECT_EQ(MetricOf(run, "accuracy"), 0.75);
  ASSERT_NE(CurveOf(run, "loss/train"), nullptr);
  ASSERT_THAT(CurveOf(run, "loss/train")->values, SizeIs(50));
  EXPECT_EQ(CurveOf(run, "loss/train")->values[49], 0.02);
  EXPECT_THAT(WorthOf(run, "metrics.odd/value"), HasSubstr("hint"));
  ASSERT_THAT(run.artifacts, SizeIs(2));
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_THAT(WorthOf(run, "artifacts[" + std::to_string(i) + "]"), HasSubstr("exact"));
    EXPECT_EQ(run.artifacts[i].sha256, from_archive.runs[0].artifacts.at(i).sha256);
  }
}

}  // namespace
}  // namespace rharness
