// Empty folders of data in a workspace: a copy has those of the record, larger data are held to
// them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/base/digest.h"
#include "harness/base/files.h"
#include "harness/execution/rerun/workspace.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

class WorkspaceFolders : public testing::Test {
 protected:
  void SetUp() override {
    auto folder = ScopedTempDir::Make();
    ASSERT_TRUE(folder.ok());
    folder_.emplace(std::move(*folder));
    places_.root = folder_->path() / "root";
    ASSERT_TRUE(WriteFileAtomic(Set() / "one/a.csv", "1\n").ok());
    ASSERT_TRUE(MakeDirectories(Set() / "two/deep").ok());
    manifest_.run_id = "r";
    manifest_.command = {"true"};
    Record();
  }
  fs::path Set() const { return places_.root / "set"; }
  void Record() {
    auto digest = HashTree(Set());
    ASSERT_TRUE(digest.ok());
    manifest_.data = {DataItem{.name = "set",
                               .path = "set",
                               .kind = DataKind::kDirectory,
                               .sha256 = digest->sha256,
                               .size_bytes = digest->size_bytes,
                               .empty_folders = digest->empty_folders}};
  }
  void MakeLarge() {
    fs::resize_file(Set() / "one/a.csv", kCopyLimitBytes + 1);
    Record();
  }
  Workspace Prepare() {
    auto workspace = PrepareWorkspace(manifest_, folder_->path() / "ws", places_, &cache_);
    EXPECT_TRUE(workspace.ok()) << workspace.error().ToString();
    return std::move(*workspace);
  }

  std::optional<ScopedTempDir> folder_;
  Places places_;
  ContentCache cache_;
  Manifest manifest_;
};

TEST_F(WorkspaceFolders, AreCopiedAndStated) {
  const Workspace workspace = Prepare();
  ASSERT_FALSE(workspace.obstacle) << workspace.obstacle->reason;
  EXPECT_TRUE(workspace.remarks.empty());
  EXPECT_TRUE(fs::is_directory(workspace.path / "set/two/deep"));
  EXPECT_THAT(*workspace.data[0].empty_folders, ElementsAre("two/deep"));
}

TEST_F(WorkspaceFolders, OfACopyAreMadeAsRecordedWithARemark) {
  fs::remove_all(Set() / "two");
  ASSERT_TRUE(MakeDirectories(Set() / "three/x/y").ok());
  const Workspace workspace = Prepare();
  ASSERT_FALSE(workspace.obstacle) << workspace.obstacle->reason;
  EXPECT_TRUE(fs::is_directory(workspace.path / "set/two/deep"));
  EXPECT_FALSE(fs::exists(workspace.path / "set/three")) << "nothing of it was recorded";
  EXPECT_THAT(*workspace.data[0].empty_folders, ElementsAre("two/deep"));
  ASSERT_EQ(workspace.remarks.size(), 1U);
  EXPECT_EQ(workspace.remarks[0].code, "empty_folders_restored");
  EXPECT_THAT(workspace.remarks[0].message, HasSubstr("'three/x/y'"));
  EXPECT_TRUE(VerifyAfterRun(workspace, &cache_)->empty());
}

TEST_F(WorkspaceFolders, OfLargeDataAreThoseOfAFolderOfLinks) {
  MakeLarge();
  EXPECT_TRUE(fs::is_symlink(Prepare().path / "set"));
  ASSERT_TRUE(MakeDirectories(Set() / "a_new_class").ok());
  fs::remove_all(Set() / "two");
  const Workspace workspace = Prepare();
  ASSERT_FALSE(workspace.obstacle) << workspace.obstacle->reason;
  EXPECT_FALSE(fs::exists(workspace.path / "set/a_new_class"));
  EXPECT_TRUE(fs::is_directory(workspace.path / "set/two/deep"));
  EXPECT_EQ(fs::file_size(workspace.path / "set/one/a.csv"), kCopyLimitBytes + 1);
  EXPECT_TRUE(fs::exists(Set() / "a_new_class")) << "the data themselves stay as they are";
  ASSERT_EQ(workspace.remarks.size(), 1U);
  EXPECT_TRUE(VerifyAfterRun(workspace, &cache_)->empty());
  // A run that puts its own file in the place of a link.
  fs::remove(workspace.path / "set/one/a.csv");
  ASSERT_TRUE(WriteFileAtomic(workspace.path / "set/one/a.csv", "1\n").ok());
  EXPECT_EQ(VerifyAfterRun(workspace, &cache_)->size(), 1U);
}

TEST_F(WorkspaceFolders, ThatAreFilesInTheDataAreAnErrorOfTheRecord) {
  manifest_.data[0].empty_folders = {{"one/a.csv"}};
  const Workspace workspace = Prepare();
  ASSERT_TRUE(workspace.obstacle);
  EXPECT_THAT(workspace.obstacle->reason, HasSubstr("'one/a.csv' as an empty folder"));
}

TEST_F(WorkspaceFolders, OfMountedDataAreAnObstacleIfTheyAreOthers) {
  manifest_.data[0].path = manifest_.data[0].location = Set().string();
  EXPECT_FALSE(Prepare().obstacle);
  ASSERT_TRUE(MakeDirectories(Set() / "a_new_class").ok());
  const Workspace workspace = Prepare();
  ASSERT_TRUE(workspace.obstacle);
  EXPECT_EQ(workspace.obstacle->layer, Layer::kData);
  EXPECT_THAT(workspace.obstacle->reason, HasSubstr("has the empty folder 'a_new_class'"));
  fs::remove(Set() / "a_new_class");
  fs::remove_all(Set() / "two");
  EXPECT_THAT(Prepare().obstacle->reason, HasSubstr("lacks the empty folder 'two/deep'"));
}

TEST_F(WorkspaceFolders, AreFreeWhereTheRecordSaysNothingOfThem) {
  MakeLarge();
  manifest_.data[0].empty_folders.reset();
  ASSERT_TRUE(MakeDirectories(Set() / "a_new_class").ok());
  const Workspace workspace = Prepare();
  EXPECT_FALSE(workspace.obstacle);
  EXPECT_THAT(*workspace.data[0].empty_folders, ElementsAre("a_new_class", "two/deep"));
  ASSERT_EQ(workspace.remarks.size(), 1U);
  EXPECT_EQ(workspace.remarks[0].code, "empty_folders_not_recorded");
}

}  // namespace
}  // namespace rharness
