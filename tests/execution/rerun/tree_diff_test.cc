// The changes of a work tree: made into a diff, kept, and brought back in a workspace. With git.
#include "harness/execution/rerun/tree_diff.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <string>

#include "harness/base/digest.h"
#include "harness/base/files.h"
#include "harness/base/subprocess.h"
#include "harness/execution/rerun/kept_files.h"
#include "harness/execution/rerun/workspace.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

constexpr std::uint64_t kLimit = std::uint64_t{1} << 20;

// A repository with one commit of train.py, old.py and blob.bin.
class TreeDiffTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_.emplace(*ScopedTempDir::Make());
    places_.root = folder_->path();
    Write("code/train.py", "lr = 0.1\n");
    Write("code/old.py", "gone\n");
    Write("code/blob.bin", std::string("\0\1\2\3", 4));
    Write("code/.gitignore", "ignored\n");
    const ProcessResult made =
        Sh("git init -q . && git add -A && git -c user.name=a -c user.email=b commit -qm c && "
           "git rev-parse HEAD");
    if (!made.outcome.Succeeded()) GTEST_SKIP() << "git is not installed: " << made.stderr_text;
    manifest_.run_id = "r";
    manifest_.command = {"true"};
    manifest_.code.repository = "code";
    manifest_.code.commit = made.stdout_text.substr(0, 40);
    manifest_.kept = "kept";
  }
  void Write(const std::string& relative, const std::string& content) {
    ASSERT_TRUE(WriteFileAtomic(folder_->path() / relative, content).ok());
  }
  ProcessResult Sh(const std::string& script) {
    return RunProcess({{"sh", "-c", script}, PickEnvironment({"PATH"}), folder_->path() / "code"});
  }
  Result<std::string> Diff(bool with_untracked = false, std::uint64_t limit = kLimit) {
    return MakeTreeDiff(*DescribeGitTree(folder_->path() / "code"), with_untracked, limit);
  }
  // Recorded with this diff, and prepared for a rerun.
  Workspace Prepare(const std::string& diff) {
    manifest_.code.dirty = true;
    manifest_.code.kept_diff_sha256 = Sha256HexOf(diff);
    EXPECT_TRUE(
        WriteKept(folder_->path() / "kept", {{manifest_.code.kept_diff_sha256, diff}}).ok());
    return Prepare();
  }
  Workspace Prepare() {
    auto workspace = PrepareWorkspace(manifest_, folder_->path() / "ws", places_, &cache_);
    EXPECT_TRUE(workspace.ok()) << workspace.error().ToString();
    return std::move(*workspace);
  }
  std::string Placed(const std::string& name) {
    const auto content = ReadFile(folder_->path() / "ws" / name);
    return content.ok() ? *content : "absent";
  }
  void Change() {
    Write("code/train.py", "lr = 0.2\n");
    Write("code/blob.bin", std::string("\0\7\7\7\7", 5));
    fs::remove(folder_->path() / "code/old.py");
    ::chmod((folder_->path() / "code/train.py").c_str(), 0755);
  }

  std::optional<ScopedTempDir> folder_;
  Places places_;
  ContentCache cache_;
  Manifest manifest_;
};

TEST_F(TreeDiffTest, BringsTheChangesBackByteForByte) {
  Change();
  const auto diff = Diff();
  ASSERT_TRUE(diff.ok()) << diff.error().ToString();
  ASSERT_TRUE(Sh("git checkout -q .").outcome.Succeeded());
  const Workspace workspace = Prepare(*diff);
  ASSERT_FALSE(workspace.obstacle) << workspace.obstacle->reason;
  EXPECT_EQ(Placed("train.py"), "lr = 0.2\n");
  EXPECT_EQ(Placed("blob.bin"), std::string("\0\7\7\7\7", 5));
  EXPECT_EQ(Placed("old.py"), "absent");
  EXPECT_EQ(workspace.code_diff_sha256, Sha256HexOf(*diff));
  struct stat info {};
  ASSERT_EQ(::stat((folder_->path() / "ws/train.py").c_str(), &info), 0);
  EXPECT_NE(info.st_mode & S_IXUSR, 0u);
}

TEST_F(TreeDiffTest, WhatTheRunChangesOfItIsNoticed) {
  Change();
  const Workspace workspace = Prepare(*Diff());
  ASSERT_FALSE(workspace.obstacle) << workspace.obstacle->reason;
  EXPECT_TRUE(VerifyAfterRun(workspace, &cache_)->empty());
  Write("ws/train.py", "lr = 0.1\n");
  EXPECT_EQ(VerifyAfterRun(workspace, &cache_)->size(), 1u) << "the commit's file is another one";
}

TEST_F(TreeDiffTest, HasFilesThatGitDoesNotKnowWhereTheyAreAskedFor) {
  Write("code/new/conf.yaml", "a: 1\n");
  Write("code/empty", "");
  Write("code/ignored", "x\n");
  EXPECT_EQ(*Diff(), "");
  const auto diff = Diff(/*with_untracked=*/true);
  ASSERT_TRUE(diff.ok()) << diff.error().ToString();
  EXPECT_THAT(*diff, Not(HasSubstr("b/ignored")));
  const Workspace workspace = Prepare(*diff);
  ASSERT_FALSE(workspace.obstacle) << workspace.obstacle->reason;
  EXPECT_EQ(Placed("new/conf.yaml"), "a: 1\n");
  EXPECT_EQ(Placed("empty"), "");
}

TEST_F(TreeDiffTest, OfASubmoduleOrOverTheLimitIsNotMade) {
  Write("code/train.py", std::string(3000, 'x') + "\n");
  EXPECT_THAT(Diff(false, 1000).error().message, HasSubstr("expected at most 1000"));
  ASSERT_TRUE(Sh("git checkout -q . && git init -q sub && cd sub && git -c user.name=a -c "
                 "user.email=b commit -q --allow-empty -m s && cd .. && git add sub")
                  .outcome.Succeeded());
  EXPECT_THAT(Diff().error().message, HasSubstr("submodule"));
}

TEST_F(TreeDiffTest, WithASecretInItIsNotMade) {
  Write("code/train.py", "url = 'https://ada:hunter2hunter2@db/x'\n");
  EXPECT_THAT(Diff().error().message, HasSubstr("train.py"));
  EXPECT_THAT(Diff().error().message, Not(HasSubstr("hunter2")));
}

TEST_F(TreeDiffTest, ThatIsGoneOrAnotherByNowStopsTheRerun) {
  Change();
  (void)Prepare(*Diff());
  const fs::path kept = *LocateKept(manifest_, manifest_.code.kept_diff_sha256, places_);
  EXPECT_EQ(fs::status(kept).permissions(), fs::perms::owner_read);
  fs::permissions(kept, fs::perms::owner_all);
  Write(fs::relative(kept, folder_->path()).string(), "diff --git a/x b/x\n");
  EXPECT_EQ(Prepare().obstacle.value_or(Obstacle{}).layer, Layer::kCode);
  fs::remove(kept);
  EXPECT_EQ(Prepare().obstacle.value_or(Obstacle{}).layer, Layer::kCode);
  manifest_.kept.clear();
  EXPECT_EQ(Prepare().obstacle.value_or(Obstacle{}).layer, Layer::kCode);
}

TEST_F(TreeDiffTest, OfAStrangerLeadsNowhereElse) {
  const std::string hunk = "--- /dev/null\n+++ b/NAME\n@@ -0,0 +1 @@\n+x\n";
  for (const std::string name : {"../outside", "/tmp/rharness-outside", ".git/config"}) {
    std::string diff = "diff --git a/" + name + " b/" + name + "\nnew file mode 100644\n" + hunk;
    diff.replace(diff.find("NAME"), 4, name);
    const Workspace workspace = Prepare(diff);
    EXPECT_TRUE(workspace.obstacle.has_value()) << name;
    EXPECT_FALSE(fs::exists(folder_->path() / "outside"));
  }
  // A link, and then a file through it.
  const Workspace through = Prepare(
      "diff --git a/out b/out\nnew file mode 120000\n--- /dev/null\n+++ b/out\n@@ -0,0 +1 @@\n"
      "+..\n\\ No newline at end of file\n"
      "diff --git a/out/outside b/out/outside\nnew file mode 100644\n--- /dev/null\n"
      "+++ b/out/outside\n@@ -0,0 +1 @@\n+x\n");
  EXPECT_TRUE(through.obstacle.has_value());
  EXPECT_FALSE(fs::exists(folder_->path() / "outside"));
}

TEST(FindSecret, LooksAtAddedLinesAlone) {
  for (const std::string line :
       {"-----BEGIN RSA PRIVATE KEY-----", "key = AKIAABCDEFGHIJKLMNOP",
        "aws_secret: \"wJalrXUtnFEMI/K7MDENG/bPx\"", "API_TOKEN = 'abc123def456ghi7'",
        "x = 'https://u:secret1@host/'", "hf = hf_abcdefghijklmnopqrstuvwxyz01234567"}) {
    EXPECT_EQ(FindSecret("+++ b/c.py\n@@ -1 +1 @@\n+" + line + "\n"), "c.py, line 3 of the diff")
        << line;
    EXPECT_EQ(FindSecret("+++ b/c.py\n@@ -1 +1 @@\n-" + line + "\n"), "") << line;
  }
  for (const std::string line :
       {"token = tokenizer.encode(text)", "pad_token = '[PAD]'", "eos_token='<|endoftext|>'",
        "key = 'train_loss_2'", "api_key = os.environ['API_KEY']", "task-id: 123",
        "password = None"}) {
    EXPECT_EQ(FindSecret("+++ b/c.py\n@@ -1 +1 @@\n+" + line + "\n"), "") << line;
  }
}

}  // namespace
}  // namespace rharness
