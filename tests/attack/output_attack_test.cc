// Outputs that are links, hard links, or somebody else's; data that are not what they were.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "compare/weights/checkpoint.h"
#include "harness/base/digest.h"
#include "harness/base/held_folder.h"
#include "harness/execution/rerun/collect.h"
#include "harness/execution/rerun/tensor_records.h"
#include "tests/attack/attack_world.h"
#include "tests/compare/weights/distributed_part.h"
#include "tests/compare/weights/pickle_bytes.h"
#include "tests/compare/weights/safetensors_file.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

class PlantedLink : public AttackWorld {
 protected:
  // The workspace of a run that has ended.
  PlantedLink() {
    Write("outside/secret.safetensors", OneTensor(42));
    Write("outside/secret.json", R"({"metrics": {"m": 42}})");
    manifest_.artifacts = {Artifact{.role = "weights", .path = "model.safetensors"}};
    auto workspace = Prepare();
    EXPECT_TRUE(workspace.ok());
    workspace_ = std::move(*workspace);
  }
  fs::path inside(const std::string& name) const { return workspace_.path / name; }
  fs::path outside(const std::string& name) const { return folder() / "outside" / name; }

  Evidence Collect() {
    Evidence evidence;
    const Status status = CollectOutputs(manifest_, workspace_, folder() / "drill/artifacts",
                                         folder() / "drill", &evidence);
    EXPECT_TRUE(status.ok()) << status.error().ToString();
    return evidence;
  }
  // Nothing but one remark, which says why.
  void ExpectRefusal(const std::string& why) {
    const Evidence evidence = Collect();
    EXPECT_TRUE(evidence.artifacts.empty());
    EXPECT_TRUE(evidence.metrics.metrics.empty());
    ASSERT_EQ(evidence.remarks.size(), 1U);
    EXPECT_EQ(evidence.remarks[0].code, "output_unreadable");
    EXPECT_THAT(evidence.remarks[0].message, HasSubstr(why));
  }
  std::string Kept() { return Read(folder() / "drill/artifacts/model.safetensors"); }

  Workspace workspace_;
};

// What a checkpoint of several files leaves as evidence.
class KeptShards : public PlantedLink {
 protected:
  fs::path kept(const std::string& name) const { return folder() / "drill/artifacts/out" / name; }
  void WriteIndex(const std::string& name) {
    manifest_.artifacts[0].path = "out/" + name;
    Write("drill/workspace/out/1.safetensors", OneTensor(1));
    Write("drill/workspace/out/2.safetensors", FileOf({{"v", "U8", "[2]", "ab"}}));
    Write("drill/workspace/out/" + name,
          R"({"weight_map": {"w": "1.safetensors", "v": "2.safetensors"}})");
  }
};

TEST_F(KeptShards, OfAnIndexAreAllThereAndReadAsOneCheckpoint) {
  WriteIndex("model.safetensors.index.json");
  // An output of its own, too; and a name that something else has as well.
  manifest_.artifacts.push_back({.role = "optimizer", .path = "out/1.safetensors"});
  fs::create_hard_link(inside("out/2.safetensors"), inside("other"));
  const Evidence evidence = Collect();
  EXPECT_TRUE(evidence.remarks.empty()) << evidence.remarks[0].message;
  ASSERT_EQ(evidence.artifacts.size(), 2U);
  EXPECT_EQ(evidence.artifacts[0].location, "artifacts/out/model.safetensors.index.json");
  EXPECT_EQ(evidence.artifacts[1].location, "artifacts/out/1.safetensors");
  ASSERT_EQ(evidence.artifacts[0].parts.size(), 2U);
  EXPECT_EQ(evidence.artifacts[0].parts[0].path, "1.safetensors");
  EXPECT_EQ(evidence.artifacts[0].parts[0].sha256, Sha256HexOf(OneTensor(1)));
  EXPECT_EQ(evidence.artifacts[0].parts[1].sha256, Sha256HexOf(Read(kept("2.safetensors"))));
  const auto read = OpenCheckpoint(kept("model.safetensors.index.json"));
  ASSERT_TRUE(read.ok()) << read.error().ToString();
  EXPECT_EQ((*read)->tensors().size(), 2U);
  Evidence named = evidence;
  named.run_id = "r";
  named.rerun = 1;
  const auto again = ParseEvidence(ToJson(named), "evidence");
  ASSERT_TRUE(again.ok()) << again.error().ToString();
  EXPECT_EQ(again->artifacts[0].parts[1].path, "2.safetensors");
}

TEST_F(KeptShards, OfADistributedCheckpointAreAllThere) {
  namespace dcp = distributed;
  const std::string part = dcp::Saved("ByteStorage", 2, {2}, "ab");
  Write("drill/workspace/out/__0_0.distcp", part);
  Write("drill/workspace/out/.metadata",
        dcp::MetadataFile({{"w", dcp::Tensor("uint8", {2}, {{{0}, {2}}})}},
                          {dcp::Part("w", dcp::Size({0}), "__0_0.distcp", 0, part.size())}));
  manifest_.artifacts[0].path = "out/.metadata";
  const Evidence evidence = Collect();
  EXPECT_TRUE(evidence.remarks.empty()) << evidence.remarks[0].message;
  ASSERT_EQ(evidence.artifacts.size(), 1U);
  ASSERT_EQ(evidence.artifacts[0].parts.size(), 1U);
  EXPECT_EQ(evidence.artifacts[0].parts[0].path, "__0_0.distcp");
  for (const fs::path& path : {kept(".metadata"), kept("")}) {
    const auto read = OpenCheckpoint(path);
    ASSERT_TRUE(read.ok()) << read.error().ToString();
    EXPECT_EQ((*read)->tensors().at(0).name, "w");
  }
}

TEST_F(PlantedLink, ForACheckpointIsNotFollowed) {
  fs::create_symlink(outside("secret.safetensors"), inside("model.safetensors"));
  ExpectRefusal("symbolic link");
}

TEST_F(PlantedLink, WithinTheWorkspaceIsNotFollowedEither) {
  Write("drill/workspace/real.safetensors", OneTensor(1));
  fs::create_symlink("real.safetensors", inside("model.safetensors"));
  ExpectRefusal("symbolic link");
}

TEST_F(PlantedLink, ForAShardOfAnIndexIsNotFollowed) {
  manifest_.artifacts[0].path = "model.safetensors.index.json";
  Write("drill/workspace/model.safetensors.index.json",
        R"({"weight_map": {"w": "shard.safetensors"}})");
  fs::create_symlink(outside("secret.safetensors"), inside("shard.safetensors"));
  ExpectRefusal("symbolic link");
}

TEST_F(PlantedLink, ForTheMetadataOfADistributedCheckpointIsNotFollowed) {
  fs::create_directories(inside("checkpoint"));
  fs::create_symlink("/etc/passwd", inside("checkpoint/.metadata"));
  const auto held = std::make_shared<const HeldFolder>(*HeldFolder::Open(workspace_.path));
  const auto read = OpenCheckpoint(inside("checkpoint"), held);
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.error().code, ErrorCode::kIntegrity) << read.error().ToString();
  EXPECT_THAT(read.error().ToString(), Not(HasSubstr("root")));
}

TEST_F(PlantedLink, ForTheMetricsIsNotFollowed) {
  manifest_.artifacts.clear();
  manifest_.metrics_path = "metrics.json";
  fs::create_symlink(outside("secret.json"), inside("metrics.json"));
  ExpectRefusal("symbolic link");
}

TEST_F(PlantedLink, ForTheFolderOfAnOutputIsNotFollowed) {
  manifest_.artifacts[0].path = "out/secret.safetensors";
  fs::create_directory_symlink(folder() / "outside", inside("out"));
  ExpectRefusal("symbolic link");
}

TEST_F(PlantedLink, ForTheWorkspaceItselfIsNotFollowed) {
  Write("outside/model.safetensors", OneTensor(42));
  fs::rename(workspace_.path, folder() / "drill/old");
  fs::create_directory_symlink(folder() / "outside", workspace_.path);
  ExpectRefusal("moved or replaced its workspace");
}

TEST_F(PlantedLink, ToACodeFileTellsNothingOfWhatItLeadsTo) {
  Write("root/train.py", "print(1)\n");
  manifest_.code.files = {CodeFile{"train.py", Sha256HexOf("print(1)\n")}};
  workspace_ = *Prepare();
  fs::remove(inside("train.py"));
  fs::create_symlink(outside("secret.json"), inside("train.py"));
  const auto remarks = VerifyAfterRun(workspace_, &cache_).value();
  ASSERT_EQ(remarks.size(), 1U);
  EXPECT_THAT(remarks[0].observed, HasSubstr("symbolic link"));
}

TEST_F(PlantedLink, InThePlaceOfDataTellsNothingOfWhatItLeadsTo) {
  Write("root/data/a.csv", "1\n");
  manifest_.data = {DataItem{.name = "d",
                             .location = "data",
                             .path = "data",
                             .kind = DataKind::kDirectory,
                             .sha256 = HashTree(repository() / "data")->sha256,
                             .size_bytes = 2}};
  workspace_ = *Prepare();
  ASSERT_FALSE(workspace_.obstacle) << workspace_.obstacle->reason;
  EXPECT_TRUE(VerifyAfterRun(workspace_, &cache_).value().empty());
  fs::remove_all(inside("data"));
  fs::create_directory_symlink(folder() / "outside", inside("data"));
  const auto remarks = VerifyAfterRun(workspace_, &cache_).value();
  ASSERT_EQ(remarks.size(), 1U);
  EXPECT_THAT(remarks[0].observed, HasSubstr("symbolic link"));
}

TEST_F(PlantedLink, IsRefusedAlikeByTheKernelAndPartByPart) {
  Write("drill/workspace/deep/er/file", "x");
  fs::create_symlink("er", inside("deep/link"));
  fs::create_symlink("/etc", inside("absolute"));
  const HeldFolder held = *HeldFolder::Open(workspace_.path);
  for (const ResolveBy by : {ResolveBy::kKernel, ResolveBy::kParts}) {
    const auto open = [&](const char* name) {
      const Descriptor fd(OpenBelow(held.fd(), name, O_RDONLY, by));
      return fd.valid() ? 0 : errno;
    };
    EXPECT_EQ(open("deep/er/file"), 0);
    EXPECT_EQ(open("."), 0);
    EXPECT_EQ(open(""), 0);
    EXPECT_EQ(open("deep/nothing"), ENOENT);
    EXPECT_NE(open("deep/link/file"), 0);
    EXPECT_EQ(open("deep/link"), ELOOP);
    EXPECT_NE(open("absolute/passwd"), 0);
    EXPECT_EQ(open("../../outside/secret.json"), EXDEV);
    EXPECT_EQ(open("/etc/passwd"), EXDEV);
  }
}

using SlowOutput = PlantedLink;

TEST_F(SlowOutput, IsGivenUpWhenItsTimeIsOver) {
  Write("drill/workspace/model.safetensors", OneTensor(1));
  Artifact artifact{.path = "model.safetensors"};
  EXPECT_EQ(ReadTensorRecords(*workspace_.folder, &artifact, Seconds(1e-9)).error().code,
            ErrorCode::kUnsupported);
  EXPECT_TRUE(ReadTensorRecords(*workspace_.folder, &artifact).ok());
}

using UnreadOutput = PlantedLink;

// A digest of what is read would be equal whatever is in the rest.
TEST_F(UnreadOutput, HasNoDigestThatLeavesAPartOut) {
  manifest_.artifacts[0].path = "model.pt";
  const std::string tensor = PTensor(PStorage("FloatStorage", "0", 1), 0, {1}, {1});
  Write("drill/workspace/model.pt",
        TorchFileOf(PickleOf(PDict({{"w", tensor},
                                    {"q", PCall("torch._utils", "_rebuild_qtensor", {"K\1"})}})),
                    {BytesOf<float>({1})}));
  ExpectRefusal("'q' is not read");
}

using KeptOutput = PlantedLink;

TEST_F(KeptOutput, HasAModeOfOursWhateverTheRunGaveIt) {
  Write("drill/workspace/model.safetensors", OneTensor(1));
  ASSERT_EQ(::chmod(inside("model.safetensors").c_str(), 06777), 0);
  if (::geteuid() == 0) {
    ASSERT_EQ(::chown(inside("model.safetensors").c_str(), 65534, 65534), 0);
    ASSERT_EQ(::chmod(inside("model.safetensors").c_str(), 06777), 0);
  }
  ASSERT_EQ(Collect().artifacts.size(), 1U);
  struct stat info {};
  ASSERT_EQ(::lstat((folder() / "drill/artifacts/model.safetensors").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777U, 0644U);
  EXPECT_EQ(info.st_uid, ::geteuid());
}

TEST_F(KeptOutput, ThatIsAHardLinkIsCopiedAndItsOtherNameStaysAsItWas) {
  ASSERT_EQ(::chmod(outside("secret.safetensors").c_str(), 0600), 0);
  fs::create_hard_link(outside("secret.safetensors"), inside("model.safetensors"));
  ASSERT_EQ(Collect().artifacts.size(), 1U);
  EXPECT_EQ(Kept(), OneTensor(42));
  struct stat kept {};
  struct stat other {};
  ASSERT_EQ(::stat((folder() / "drill/artifacts/model.safetensors").c_str(), &kept), 0);
  ASSERT_EQ(::stat(outside("secret.safetensors").c_str(), &other), 0);
  EXPECT_NE(kept.st_ino, other.st_ino);
  EXPECT_EQ(other.st_mode & 07777U, 0600U);
}

class DeclaredPlaces : public AttackWorld {
 protected:
  std::string WhyNot(const std::string& location) {
    manifest_.data = {
        DataItem{.name = "d", .location = location, .path = "d", .kind = DataKind::kFile}};
    const auto workspace = Prepare();
    EXPECT_TRUE(workspace.ok());
    return workspace.ok() && workspace->obstacle ? workspace->obstacle->reason : "";
  }
};

TEST_F(DeclaredPlaces, AreAllThatDataMayLieIn) {
  Write("outside/secret", "secret");
  const std::string hash = Sha256HexOf("secret");
  for (const std::string& location :
       {(folder() / "outside/secret").string(), std::string("/etc/passwd")}) {
    EXPECT_THAT(WhyNot(location), HasSubstr("outside of --root"));
    EXPECT_THAT(WhyNot(location), Not(HasSubstr("sha256")));
  }
  fs::create_symlink(folder() / "outside/secret", repository() / "innocent");
  EXPECT_THAT(WhyNot("innocent"), HasSubstr("outside of --root"));
  places_.maps = {{(folder() / "outside").string(), folder() / "outside"}};
  EXPECT_THAT(WhyNot((folder() / "outside/secret").string()), Not(HasSubstr("outside of")));
}

TEST_F(DeclaredPlaces, HoldForCodeToo) {
  manifest_.code.repository = "/etc";
  manifest_.code.files = {CodeFile{"passwd", std::string(64, '0')}};
  const auto workspace = Prepare();
  ASSERT_TRUE(workspace.ok() && workspace->obstacle);
  EXPECT_THAT(workspace->obstacle->reason, HasSubstr("outside of --root"));
}

class SharedData : public AttackWorld {
 protected:
  SharedData() {
    Write("root/large.bin", "");
    fs::resize_file(large(), kCopyLimitBytes + 1);
    manifest_.data = {DataItem{.name = "large",
                               .location = "large.bin",
                               .path = "large.bin",
                               .kind = DataKind::kFile,
                               .sha256 = HashFile(large())->sha256,
                               .size_bytes = kCopyLimitBytes + 1}};
    workspace_ = *Prepare();
    EXPECT_FALSE(workspace_.obstacle);
  }
  fs::path large() const { return repository() / "large.bin"; }
  void ExpectNoticed() {
    if (!workspace_.placed[0].shared) GTEST_SKIP() << "this file system gave the run a clone";
    const auto remarks = VerifyAfterRun(workspace_, &cache_).value();
    ASSERT_EQ(remarks.size(), 1U);
    EXPECT_EQ(remarks[0].code, "data_changed_during_run");
  }
  Workspace workspace_;
};

TEST_F(SharedData, UntouchedAreNotSuspected) {
  EXPECT_TRUE(VerifyAfterRun(workspace_, &cache_).value().empty());
}

TEST_F(SharedData, WrittenToAndPutBackAreNoticed) {
  struct stat before {};
  ASSERT_EQ(::stat(large().c_str(), &before), 0);
  const Descriptor fd(::open(large().c_str(), O_RDWR | O_CLOEXEC));
  ASSERT_EQ(::pwrite(fd.get(), "x", 1, 0), 1);
  ASSERT_EQ(::pwrite(fd.get(), "\0", 1, 0), 1);
  const timespec times[2] = {before.st_atim, before.st_mtim};
  ASSERT_EQ(::futimens(fd.get(), times), 0);
  ExpectNoticed();
}

TEST_F(SharedData, SwappedAndPutBackAreNoticed) {
  fs::rename(large(), repository() / "aside");
  Write("root/large.bin", "other");
  fs::remove(large());
  fs::rename(repository() / "aside", large());
  ExpectNoticed();
}

TEST_F(SharedData, WhoseLinkWasReplacedAreNoticed) {
  fs::remove(workspace_.path / "large.bin");
  fs::create_symlink("/dev/null", workspace_.path / "large.bin");
  ExpectNoticed();
}

}  // namespace
}  // namespace rharness
