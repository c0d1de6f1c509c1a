// Workspaces of several nodes: one that all see, and several whose outputs come together.
#include "harness/execution/rerun/gang_workspace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "harness/base/digest.h"
#include "harness/base/files.h"
#include "harness/execution/rerun/gang_merge.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class GangWorkspaces : public ::testing::Test {
 protected:
  void SetUp() override {
    auto folder = ScopedTempDir::Make("rharness-gang-");
    ASSERT_TRUE(folder.ok());
    folder_.emplace(std::move(*folder));
    for (const char* node : {"n0", "n1"}) {
      Write(std::string(node) + "/data.csv", "1,2");
      Write(std::string(node) + "/train.py", "pass");
    }
    manifest_.data = {DataItem{.name = "data",
                               .location = "data.csv",
                               .path = "data.csv",
                               .kind = DataKind::kFile,
                               .sha256 = Sha256HexOf("1,2"),
                               .size_bytes = 3}};
    manifest_.code.files = {CodeFile{"train.py", Sha256HexOf("pass")}};
    Artifact shards;
    shards.path = "shards";
    manifest_.artifacts = {shards};
    manifest_.metrics_path = "log.jsonl";
  }
  fs::path At(const std::string& name) const { return folder_->path() / name; }
  void Write(const std::string& name, const std::string& text) const {
    ASSERT_TRUE(MakeDirectories(At(name).parent_path()).ok());
    ASSERT_TRUE(WriteFileAtomic(At(name), text).ok());
  }
  std::string Text(const std::string& name) const {
    const auto text = ReadFile(At(name));
    return text.ok() ? *text : text.error().ToString();
  }
  Result<std::vector<Finding>> Unite() const {
    return UniteWorkspaces(manifest_, {At("n0"), "node 0 (a)"}, {At("n1"), "node 1 (b)"});
  }
  // A node on a machine of another boot.
  NodeReady Head() const {
    NodeReady head;
    head.workspace = At("n0").string();
    head.machine.boot_id = "another";
    return head;
  }
  Result<Workspace> Attach(const NodeReady& head) const {
    Ticket ticket;
    ticket.manifest = manifest_;
    ticket.manifest.command = {"true"};
    return AttachWorkspace(ticket, head, {});
  }

  std::optional<ScopedTempDir> folder_;
  Manifest manifest_;
};

TEST_F(GangWorkspaces, ShardsComeTogetherFromWhereTheyLie) {
  Write("n0/shards/rank0.bin", "zero");
  Write("n1/shards/rank1.bin", "one");
  Write("n1/shards/more/rank1.opt", "state");
  Write("n1/.tmp/scratch", "not kept");
  const auto remarks = Unite();
  ASSERT_TRUE(remarks.ok()) << remarks.error().ToString();
  EXPECT_THAT(*remarks, IsEmpty());
  EXPECT_EQ(Text("n0/shards/rank0.bin"), "zero");
  EXPECT_EQ(Text("n0/shards/rank1.bin"), "one");
  EXPECT_EQ(Text("n0/shards/more/rank1.opt"), "state");
  EXPECT_FALSE(fs::exists(At("n0/.tmp")));
}

TEST_F(GangWorkspaces, OneNameWithDifferentBytesNamesBothNodesWhereItIsAnOutput) {
  Write("n0/shards/model.bin", "zero");
  Write("n1/shards/model.bin", "one");
  Write("n0/shards/same.bin", "same");
  Write("n1/shards/same.bin", "same");
  Write("n0/debug.txt", "of n0");
  Write("n1/debug.txt", "of n1");
  Write("n1/data.csv", "changed by the run");  // VerifyAfterRun's matter
  const auto remarks = Unite();
  ASSERT_TRUE(remarks.ok()) << remarks.error().ToString();
  ASSERT_EQ(remarks->size(), 1U);
  const Finding& finding = remarks->front();
  EXPECT_EQ(finding.code, kOutputDiffers);
  EXPECT_EQ(finding.subject, "shards/model.bin");
  EXPECT_EQ(finding.message,
            "node 0 (a) and node 1 (b) wrote different bytes as 'shards/model.bin': sha256 " +
                Sha256HexOf("zero") + ", and sha256 " + Sha256HexOf("one"));
  EXPECT_EQ(Text("n0/shards/model.bin"), "zero");
}

TEST_F(GangWorkspaces, NoLinkOfTheRunLeadsAFileElsewhere) {
  fs::create_directories(At("elsewhere"));
  fs::create_directory_symlink(At("elsewhere"), At("n0/shards"));
  Write("n1/shards/rank1.bin", "one");
  EXPECT_FALSE(Unite().ok());
  EXPECT_THAT(fs::directory_iterator(At("elsewhere")), fs::directory_iterator());
  fs::remove(At("n0/shards"));
  Write("secret", "of nobody's");
  fs::create_symlink(At("secret"), At("n1/shards/link.bin"));
  ASSERT_TRUE(Unite().ok());
  EXPECT_FALSE(fs::exists(fs::symlink_status(At("n0/shards/link.bin"))));
}

TEST_F(GangWorkspaces, AWorkspaceThatANodeDoesNotSeeIsSaidWithItsPlace) {
  NodeReady head = Head();
  head.workspace = At("gone").string();
  const auto attached = Attach(head);
  ASSERT_TRUE(attached.ok()) << attached.error().ToString();
  ASSERT_TRUE(attached->obstacle.has_value());
  EXPECT_FALSE(attached->obstacle->layer.has_value()) << "infrastructure";
  EXPECT_THAT(attached->obstacle->reason, HasSubstr("gone is not visible here"));
}

TEST_F(GangWorkspaces, OtherBytesThanNodeZeroSeesAreAnObstacleOfTheirLayer) {
  const auto same = Attach(Head());
  ASSERT_TRUE(same.ok()) << same.error().ToString();
  EXPECT_FALSE(same->obstacle.has_value()) << same->obstacle->reason;
  EXPECT_EQ(same->path, At("n0"));
  Write("n0/data.csv", "1,3");
  const auto data = Attach(Head());
  ASSERT_TRUE(data.ok() && data->obstacle.has_value());
  EXPECT_EQ(data->obstacle->layer, Layer::kData);
  EXPECT_THAT(data->obstacle->reason, HasSubstr("this node sees other bytes of data 'data'"));
  Write("n0/train.py", "fail");
  const auto code = Attach(Head());
  ASSERT_TRUE(code.ok() && code->obstacle.has_value());
  EXPECT_EQ(code->obstacle->layer, Layer::kCode);
}

}  // namespace
}  // namespace rharness
