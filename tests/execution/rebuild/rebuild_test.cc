// What of a run can still be had on this machine: real git, real files, no network.
#include "harness/execution/rebuild/rebuild.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "harness/base/digest.h"
#include "harness/base/files.h"
#include "harness/base/subprocess.h"
#include "harness/execution/rerun/data_cache.h"
#include "harness/execution/rerun/kept_files.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class RebuildTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_.emplace(*ScopedTempDir::Make());
    options_.places.root = folder_->path();
    Write("data/train.csv", "1,2,3\n");
    manifest_.run_id = "r";
    manifest_.command = {"true"};
    manifest_.code.repository = "code";
    manifest_.data = {DataItem{.name = "train",
                               .location = "data/train.csv",
                               .path = "train.csv",
                               .kind = DataKind::kFile,
                               .sha256 = Sha256HexOf("1,2,3\n"),
                               .size_bytes = 6}};
  }
  void Write(const std::string& relative, const std::string& content) {
    ASSERT_TRUE(WriteFileAtomic(folder_->path() / relative, content).ok());
  }
  // Makes the repository; false without git.
  bool Commit() {
    Write("code/train.py", "x\n");
    const ProcessResult made = RunProcess(
        {{"sh", "-c",
          "git init -q . && git add -A && git -c user.name=a -c user.email=b commit -qm c && "
          "git rev-parse HEAD"},
         PickEnvironment({"PATH"}),
         folder_->path() / "code"});
    manifest_.code.commit = made.stdout_text.substr(0, 40);
    return made.outcome.Succeeded();
  }
  RunParts Ask() { return Rebuilder(options_).Ask(manifest_); }
  Part PartOf(const std::string& kind) {
    for (const Part& part : Ask().parts) {
      if (part.kind == kind) return part;
    }
    return {.kind = "none", .name = {}, .why = {}};
  }

  std::optional<ScopedTempDir> folder_;
  RebuildOptions options_;
  Manifest manifest_;
};

TEST_F(RebuildTest, IsAsWellOffAsTheWorstPart) {
  RunParts run{"r", {{"data", "a", PartState::kHad, ""}}};
  EXPECT_EQ(run.State(), PartState::kHad);
  run.parts.push_back({"data", "b", PartState::kUnknown, ""});
  EXPECT_EQ(run.State(), PartState::kUnknown);
  run.parts.push_back({"data", "c", PartState::kGone, ""});
  EXPECT_EQ(run.State(), PartState::kGone);
  EXPECT_EQ(RunParts{}.State(), PartState::kUnknown) << "nothing was asked";
  const Json json = ToJson(std::vector<RunParts>{run});
  EXPECT_EQ(json.Find("schema")->AsString(), "rharness.rebuild/v1");
  EXPECT_EQ(json.Find("state")->AsString(), "gone");
  EXPECT_EQ(json.Find("runs")->AsArray()[0].Find("parts")->AsArray().size(), 3u);
}

TEST_F(RebuildTest, HasDataOfTheRecordedSizeAndHashesItWhereAsked) {
  EXPECT_EQ(PartOf("data").state, PartState::kHad);
  Write("data/train.csv", "1,2,4\n");
  EXPECT_EQ(PartOf("data").state, PartState::kHad) << "of the same size";
  options_.verify = true;
  EXPECT_EQ(PartOf("data").state, PartState::kGone);
  EXPECT_THAT(PartOf("data").why, HasSubstr(Sha256HexOf("1,2,4\n")));
  options_.verify = false;
  Write("data/train.csv", "1,2\n");
  EXPECT_EQ(PartOf("data").state, PartState::kGone);
  EXPECT_THAT(PartOf("data").why, HasSubstr("4 bytes, recorded 6"));
}

TEST_F(RebuildTest, LooksForDataInTheCacheAndKnowsOfASourceThatItMayNotAsk) {
  fs::remove(folder_->path() / "data/train.csv");
  EXPECT_EQ(PartOf("data").state, PartState::kGone);
  manifest_.data[0].source = "https://data.example/train.csv";
  EXPECT_EQ(PartOf("data").state, PartState::kUnknown);
  EXPECT_THAT(PartOf("data").why, HasSubstr("--network"));
  options_.places.cache = folder_->path() / "cache";
  Write(fs::relative(PathInCache(options_.places.cache, manifest_.data[0].sha256), folder_->path()),
        "1,2,3\n");
  options_.verify = true;
  EXPECT_EQ(PartOf("data").state, PartState::kHad);
}

TEST_F(RebuildTest, SaysOfALocationOutsideOfTheRootThatItMayNotLook) {
  manifest_.data[0].location = "/etc/hostname";
  EXPECT_EQ(PartOf("data").state, PartState::kUnknown);
}

TEST_F(RebuildTest, AsksTheRepositoryForTheCommit) {
  if (!Commit()) GTEST_SKIP() << "git is not installed";
  EXPECT_EQ(PartOf("commit").state, PartState::kHad);
  manifest_.code.commit = std::string(40, 'a');
  EXPECT_EQ(PartOf("commit").state, PartState::kGone);
  fs::remove_all(folder_->path() / "code/.git");
  EXPECT_EQ(PartOf("commit").state, PartState::kGone) << "is no repository any more";
  manifest_.code.repository = "https://git.example/a.git";
  EXPECT_EQ(PartOf("commit").state, PartState::kUnknown);
  EXPECT_THAT(PartOf("commit").why, HasSubstr("--network"));
}

TEST_F(RebuildTest, OfAChangedTreeNeedsTheDiffToo) {
  if (!Commit()) GTEST_SKIP() << "git is not installed";
  manifest_.code.dirty = true;
  EXPECT_EQ(PartOf("diff").state, PartState::kGone) << "only its hash was recorded";
  manifest_.kept = "kept";
  manifest_.code.kept_diff_sha256 = Sha256HexOf("a diff");
  EXPECT_EQ(PartOf("diff").state, PartState::kGone);
  ASSERT_TRUE(WriteKept(folder_->path() / "kept", {{Sha256HexOf("a diff"), "a diff"}}).ok());
  EXPECT_EQ(PartOf("diff").state, PartState::kHad);
}

TEST_F(RebuildTest, HoldsCodeFilesToTheirHashes) {
  Write("code/train.py", "x\n");
  manifest_.code.files = {{"train.py", Sha256HexOf("x\n")}};
  EXPECT_EQ(PartOf("code file").state, PartState::kHad);
  Write("code/train.py", "y\n");
  EXPECT_EQ(PartOf("code file").state, PartState::kGone);
  fs::remove(folder_->path() / "code/train.py");
  EXPECT_EQ(PartOf("code file").state, PartState::kGone);
}

TEST_F(RebuildTest, ACopyOfALockFileThatIsGoneStopsNoRerun) {
  manifest_.environment.lock_files["uv.lock"] = Sha256HexOf("lock");
  EXPECT_EQ(PartOf("lock file").kind, "none") << "nothing is kept";
  manifest_.kept = "kept";
  EXPECT_EQ(PartOf("lock file").state, PartState::kUnknown);
  ASSERT_TRUE(WriteKept(folder_->path() / "kept", {{Sha256HexOf("lock"), "lock"}}).ok());
  EXPECT_EQ(PartOf("lock file").state, PartState::kHad);
}

TEST_F(RebuildTest, HardwareThatIsNotHereMayBeElsewhere) {
  manifest_.environment.hardware = CaptureEnvironment().hardware;
  EXPECT_EQ(PartOf("hardware").state, PartState::kHad);
  manifest_.environment.hardware.cpu.architecture = "s390x";
  EXPECT_EQ(PartOf("hardware").state, PartState::kUnknown);
}

TEST_F(RebuildTest, AnImageFileIsHeldToItsHashWhereAsked) {
  Write("train.sif", "image");
  manifest_.image.kind = ImageKind::kSif;
  manifest_.image.location = "train.sif";
  manifest_.image.digest = "sha256:" + Sha256HexOf("image");
  options_.verify = true;
  EXPECT_EQ(PartOf("image").state, PartState::kHad);
  Write("train.sif", "other");
  EXPECT_EQ(PartOf("image").state, PartState::kGone);
  fs::remove(folder_->path() / "train.sif");
  EXPECT_EQ(PartOf("image").state, PartState::kGone);
}

TEST_F(RebuildTest, WhatMadeDataIsAPartThatNoRerunNeedsWhileTheDataAreHad) {
  if (!Commit()) GTEST_SKIP() << "git is not installed";
  manifest_.data[0].made_by = MadeBy{"code", manifest_.code.commit, ""};
  EXPECT_EQ(PartOf("transform").state, PartState::kHad);
  EXPECT_EQ(PartOf("transform").name, manifest_.code.commit + " of data train");
  manifest_.data[0].made_by->commit = std::string(40, 'd');
  EXPECT_EQ(PartOf("transform").state, PartState::kUnknown);
  EXPECT_THAT(PartOf("transform").why,
              HasSubstr("the data are available, but cannot be made again"));
  manifest_.data[0].location = "data/gone.csv";
  EXPECT_EQ(PartOf("transform").state, PartState::kGone);
  manifest_.data[0].made_by->repository = "https://git.example/etl";
  EXPECT_THAT(PartOf("transform").why, HasSubstr("--network"));
  manifest_.data[0].made_by->repository.clear();
  EXPECT_EQ(PartOf("transform").state, PartState::kUnknown);
  manifest_.data[0].made_by = MadeBy{"", "", "2.3"};
  EXPECT_EQ(PartOf("transform").kind, "none") << "a version is nothing to ask for";
}

}  // namespace
}  // namespace rharness
