// What a run that is kept reads or has stays, by whatever name it calls it.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <sched.h>
#include <sys/mount.h>

#include <cerrno>
#include <cstring>

#include "tests/trust/retention/retention_world.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::IsEmpty;

// Run "base" made kept/base/shard.bin and its family lets go of it; family "ft" has no rule.
class NeededPlaces : public RetentionWorld {
 protected:
  NeededPlaces() {
    Policy(kRules);
    Put("root/kept/base/shard.bin", kShard);
    Add(Made("base", kDay1, "kept/base/shard.bin", kShard));
    AddRun("z", kDay2);
  }
  static Manifest Tuned() { return MakeManifest("ft", kDay2, "ft"); }
  // A run that reads what lies there; its digest is that of no file.
  static Manifest Reads(const std::string& location, DataKind kind = DataKind::kDirectory) {
    Manifest manifest = Tuned();
    DataItem item;
    item.name = "init";
    item.location = location;
    item.path = "init";
    item.kind = kind;
    item.sha256 = std::string(64, '5');
    item.size_bytes = 5;
    manifest.data = {item};
    return manifest;
  }
  // Another run that is kept, and has a file there.
  static Manifest Has(const std::string& location, const std::string& content = kShard) {
    Manifest manifest = Tuned();
    manifest.artifacts = Made("ft", kDay2, location, content).artifacts;
    return manifest;
  }
  void ExpectKept(const Manifest& manifest, const std::string& why) const {
    EXPECT_THAT(PathsOf(Plan()), ElementsAre("kept/base/shard.bin")) << "nobody needs it yet";
    Add(manifest);
    const RetentionReport report = Plan();
    EXPECT_THAT(PathsOf(report), IsEmpty());
    EXPECT_EQ(WhyKept(report, "base"), why);
  }
  fs::path Outside() const { return folder_.path(); }

  static constexpr char kShard[] = "weights";
  static constexpr char kRules[] = "retention:\n  - {families: mlp, keep_last: 1}\n";
  static constexpr char kRead[] = "is data 'init' of run ft";
  static constexpr char kHad[] = "is also of run ft, which is kept";
};

TEST_F(NeededPlaces, AreFoundThroughALinkBelowTheRoot) {
  fs::create_symlink("kept/base", Root() / "latest");
  ExpectKept(Reads("latest"), kRead);
}

TEST_F(NeededPlaces, AreFoundThroughALinkToTheFileItself) {
  fs::create_symlink("kept/base/shard.bin", Root() / "latest.bin");
  fs::create_symlink("latest.bin", Root() / "again.bin");
  ExpectKept(Reads("again.bin", DataKind::kFile), kRead);
}

TEST_F(NeededPlaces, AreFoundByAnotherNameOfTheRoot) {
  fs::create_symlink(Root(), Outside() / "alias");
  ExpectKept(Reads((Outside() / "alias/kept").string()), kRead);
}

TEST_F(NeededPlaces, AreFoundThroughALinkThatLeavesTheRootAndComesBack) {
  fs::create_symlink(Root() / "kept", Outside() / "back");
  fs::create_symlink("../back", Root() / "out");
  ExpectKept(Reads("out/base"), kRead);
}

TEST_F(NeededPlaces, AreFoundByAUrlOfAFile) {
  fs::create_symlink(Root() / "kept", Outside() / "a b");
  ExpectKept(Reads("file://" + Outside().string() + "/a%20b"), kRead);
}

TEST_F(NeededPlaces, AreFoundByAUrlOfAFileOfThisHost) {
  ExpectKept(Reads("FILE://localhost" + (Root() / "kept").string()), kRead);
}

TEST_F(NeededPlaces, AreFoundWhereThePolicyOrTheCallerMapsThem) {
  Policy(std::string(kRules) +
         "profiles:\n  night: {map: [\"s3://bucket=" + (Root() / "kept").string() + "\"]}\n");
  ExpectKept(Reads("s3://bucket/base"), kRead);
  Policy(kRules);
  EXPECT_THAT(PathsOf(Plan()), ElementsAre("kept/base/shard.bin"));
  const auto mapped = PlanRetention({.root = Root(),
                                     .history = "h",
                                     .policy = (folder_.path() / "policy.yaml").string(),
                                     .never = {},
                                     .maps = {{"s3://bucket", Root() / "kept"}}},
                                    At("2026-02-01T00:00:00.000Z"), store_.get());
  ASSERT_TRUE(mapped.ok()) << mapped.error().ToString();
  EXPECT_THAT(PathsOf(*mapped), IsEmpty());
}

TEST_F(NeededPlaces, AreFoundBySecondNamesOfAFile) {
  fs::create_hard_link(Root() / "kept/base/shard.bin", Outside() / "second.bin");
  ExpectKept(Reads((Outside() / "second.bin").string(), DataKind::kFile), kRead);
}

TEST_F(NeededPlaces, AreFoundWhereTheRootLiesInThem) {
  ExpectKept(Reads(Outside().string()), kRead);
}

TEST_F(NeededPlaces, AreFoundByWhatIsMountedTwice) {
  if (::unshare(CLONE_NEWNS) != 0 || ::mount("", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) {
    GTEST_SKIP() << "no mounts of its own here: " << std::strerror(errno);
  }
  fs::create_directories(Outside() / "data/set");
  const fs::path kept = Root() / "kept";
  const fs::path set = Outside() / "data/set";
  ASSERT_EQ(::mount(kept.c_str(), set.c_str(), nullptr, MS_BIND, nullptr), 0);
  // The folder is read as a part of another one, at its second place.
  ExpectKept(Reads((Outside() / "data").string()), kRead);
  EXPECT_EQ(::umount2(set.c_str(), MNT_DETACH), 0);
}

TEST_F(NeededPlaces, AreFoundWhereTheRootIsMountedFromWithinThem) {
  if (::unshare(CLONE_NEWNS) != 0 || ::mount("", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) {
    GTEST_SKIP() << "no mounts of its own here: " << std::strerror(errno);
  }
  fs::rename(Root(), Outside() / "moved");
  fs::create_directories(Outside() / "data");
  fs::rename(Outside() / "moved", Outside() / "data/runs");
  fs::create_directories(Root());
  const fs::path runs = Outside() / "data/runs";
  ASSERT_EQ(::mount(runs.c_str(), Root().c_str(), nullptr, MS_BIND, nullptr), 0);
  ExpectKept(Reads((Outside() / "data").string()), kRead);
  EXPECT_EQ(::umount2(Root().c_str(), MNT_DETACH), 0);
}

TEST_F(NeededPlaces, ThatLeadNowhereStopNothing) {
  fs::create_symlink("gone", Root() / "dangling");
  fs::create_symlink("loop", Root() / "loop");
  Manifest manifest = Reads("dangling");
  manifest.data.push_back(manifest.data[0]);
  manifest.data[1].name = "other";
  manifest.data[1].location = "loop/x";
  manifest.data[1].path = "other";
  Add(manifest);
  EXPECT_THAT(PathsOf(Plan()), ElementsAre("kept/base/shard.bin"));
}

TEST_F(NeededPlaces, OfAKeptRunAreFoundByAnotherNameOfTheRoot) {
  fs::create_symlink(Root(), Outside() / "alias");
  ExpectKept(Has((Outside() / "alias/kept/base/shard.bin").string()), kHad);
}

TEST_F(NeededPlaces, OfAKeptRunAreFoundThroughALink) {
  fs::create_symlink("kept/base", Root() / "latest");
  ExpectKept(Has("latest/shard.bin"), kHad);
}

TEST_F(NeededPlaces, OfAKeptRunThatAreNowhereHereProtectTheirContent) {
  ExpectKept(Has("s3://bucket/shard.bin"), kHad);
}

TEST_F(NeededPlaces, OfAKeptRunThatAreThereProtectThemselvesAlone) {
  Put("root/own.bin", kShard);
  Add(Has("own.bin"));
  EXPECT_THAT(PathsOf(Plan()), ElementsAre("kept/base/shard.bin"));
}

TEST_F(NeededPlaces, OfAKeptRunsPartsAreFoundThroughALink) {
  fs::create_symlink("kept/base", Root() / "latest");
  Put("root/kept/base/index.json", "{}");
  Manifest manifest = Has("latest/index.json", "{}");
  manifest.artifacts[0].parts = {{"shard.bin", 7, Sha256HexOf("else")}};
  ExpectKept(manifest, kHad);
}

TEST_F(NeededPlaces, OfImagesAreFoundByTheirContent) {
  Manifest manifest = Tuned();
  manifest.image.kind = ImageKind::kSif;
  manifest.image.location = "https://elsewhere.example/image.sif";
  manifest.image.digest = "sha256:" + Sha256HexOf(kShard);
  ExpectKept(manifest, "is image of run ft");
}

}  // namespace
}  // namespace rharness
