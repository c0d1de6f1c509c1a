// Workspaces: what is put in place, what is refused, and what is noticed afterwards.
#include "harness/execution/rerun/workspace.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "harness/base/digest.h"
#include "harness/base/files.h"
#include "harness/base/subprocess.h"
#include "harness/execution/rerun/collect.h"
#include "harness/execution/rerun/data_cache.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

class WorkspaceTest : public testing::Test {
 protected:
  void SetUp() override {
    auto folder = ScopedTempDir::Make();
    ASSERT_TRUE(folder.ok());
    folder_.emplace(std::move(*folder));
    places_.root = folder_->path() / "root";
    Write("root/data/train.csv", "1,2,3\n");
    Write("root/train.py", "print('hello')\n");
    manifest_.run_id = "r";
    manifest_.command = {"true"};
    manifest_.data = {DataItem{.name = "train",
                               .location = "data/train.csv",
                               .path = "data/train.csv",
                               .kind = DataKind::kFile,
                               .sha256 = Sha256HexOf("1,2,3\n"),
                               .size_bytes = 6}};
    manifest_.code.repository = ".";
    manifest_.code.files = {CodeFile{"train.py", Sha256HexOf("print('hello')\n")}};
  }

  void Write(const std::string& relative, const std::string& content) {
    ASSERT_TRUE(WriteFileAtomic(folder_->path() / relative, content).ok());
  }
  Workspace Prepare() {
    auto workspace = PrepareWorkspace(manifest_, folder_->path() / "ws", places_, &cache_);
    EXPECT_TRUE(workspace.ok()) << workspace.error().ToString();
    return std::move(*workspace);
  }
  void ExpectObstacle(const Workspace& workspace, Layer layer, std::string_view word) {
    ASSERT_TRUE(workspace.obstacle.has_value());
    EXPECT_EQ(workspace.obstacle->layer, layer);
    EXPECT_NE(workspace.obstacle->reason.find(word), std::string::npos)
        << workspace.obstacle->reason;
  }

  std::optional<ScopedTempDir> folder_;
  Places places_;
  ContentCache cache_;
  Manifest manifest_;
};

TEST_F(WorkspaceTest, HoldsCodeAndDataAsTheCommandExpectsThem) {
  const Workspace workspace = Prepare();
  EXPECT_FALSE(workspace.obstacle) << workspace.obstacle->reason;
  EXPECT_EQ(*ReadFile(workspace.path / "data/train.csv"), "1,2,3\n");
  EXPECT_EQ(*ReadFile(workspace.path / "train.py"), "print('hello')\n");
  ASSERT_EQ(workspace.data.size(), 1U);
  EXPECT_EQ(workspace.data[0].sha256, Sha256HexOf("1,2,3\n"));
  EXPECT_TRUE(VerifyAfterRun(workspace, &cache_)->empty());
}

TEST_F(WorkspaceTest, TakesDataThatAreGoneOrOthersFromTheCache) {
  places_.cache = folder_->path() / "cache";
  const std::string hash = Sha256HexOf("1,2,3\n");
  Write("fetched", "1,2,3\n");
  ASSERT_TRUE(MoveIntoCache(places_.cache, hash, folder_->path() / "fetched").ok());
  EXPECT_FALSE(fs::exists(folder_->path() / "fetched"));
  Write("root/data/train.csv", "other");
  EXPECT_FALSE(Prepare().obstacle);
  fs::remove(places_.root / "data/train.csv");
  const Workspace workspace = Prepare();
  EXPECT_FALSE(workspace.obstacle);
  EXPECT_EQ(*ReadFile(workspace.path / "data/train.csv"), "1,2,3\n");
  places_.cache.clear();
  ExpectObstacle(Prepare(), Layer::kData, "train");
}

TEST_F(WorkspaceTest, BelievesNothingInTheCacheThatHasAnotherContent) {
  places_.cache = folder_->path() / "cache";
  const std::string hash = Sha256HexOf("1,2,3\n");
  Write("cache/sha256/" + hash.substr(0, 2) + "/" + hash, "1,2,4\n");
  fs::remove(places_.root / "data/train.csv");
  ExpectObstacle(Prepare(), Layer::kData, "not the recorded one");
}

TEST(DataCache, TakesNothingInUnderAnotherHash) {
  const auto folder = ScopedTempDir::Make();
  ASSERT_TRUE(folder.ok());
  const fs::path file = folder->path() / "fetched";
  ASSERT_TRUE(WriteFileAtomic(file, "a").ok());
  const Status status = MoveIntoCache(folder->path() / "cache", Sha256HexOf("b"), file);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, ErrorCode::kIntegrity);
  EXPECT_FALSE(fs::exists(file));
  EXPECT_TRUE(PathInCache(folder->path(), "../../etc").empty());
}

TEST_F(WorkspaceTest, GivesTheRunACopyOfSmallDataSoThatTheOriginalIsSafe) {
  const Workspace workspace = Prepare();
  std::error_code error;
  EXPECT_FALSE(fs::is_symlink(workspace.path / "data/train.csv", error));
  Write("ws/data/train.csv", "overwritten");
  EXPECT_EQ(*ReadFile(places_.root / "data/train.csv"), "1,2,3\n");
  const auto remarks = VerifyAfterRun(workspace, &cache_).value();
  ASSERT_EQ(remarks.size(), 1U);
  EXPECT_EQ(remarks[0].code, "data_changed_during_run");
  EXPECT_EQ(remarks[0].layer, Layer::kData);
  EXPECT_EQ(remarks[0].observed, Sha256HexOf("overwritten"));
}

TEST_F(WorkspaceTest, LinksLargeDataAndSaysWhatTheLinkPointsTo) {
  fs::resize_file(places_.root / "data/train.csv", kCopyLimitBytes + 1);
  manifest_.data[0].size_bytes = kCopyLimitBytes + 1;
  manifest_.data[0].sha256 = HashFile(places_.root / "data/train.csv")->sha256;
  const Workspace workspace = Prepare();
  EXPECT_TRUE(fs::is_symlink(workspace.path / "data/train.csv"));
  ASSERT_EQ(workspace.mounts.size(), 1U);
  EXPECT_EQ(workspace.mounts[0].source, fs::canonical(places_.root / "data/train.csv"));
}

TEST_F(WorkspaceTest, NamesTheDataLayerWhenDataIsMissingOrAnother) {
  Write("root/data/train.csv", "1,2,4\n");
  ExpectObstacle(Prepare(), Layer::kData, "not the recorded one");
  fs::remove(places_.root / "data/train.csv");
  ExpectObstacle(Prepare(), Layer::kData, "not at");
}

TEST_F(WorkspaceTest, CopiesNothingThatIsLargerThanRecorded) {
  manifest_.data[0].size_bytes = 1;
  const Workspace workspace = Prepare();
  ExpectObstacle(workspace, Layer::kData, "6 bytes, recorded 1");
  EXPECT_FALSE(fs::exists(workspace.path / "data/train.csv"));
}

TEST_F(WorkspaceTest, RefusesWhatIsNeitherFileNorFolder) {
  fs::remove(places_.root / "data/train.csv");
  ASSERT_EQ(::mkfifo((places_.root / "data/train.csv").c_str(), 0600), 0);
  ExpectObstacle(Prepare(), Layer::kData, "neither a file nor a folder");
}

TEST_F(WorkspaceTest, RefusesAWorkingDirectoryThatALinkLeadsOutOf) {
  manifest_.code.files.clear();
  fs::create_directories(folder_->path() / "elsewhere");
  fs::create_directory_symlink(folder_->path() / "elsewhere", places_.root / "data/out");
  manifest_.data[0] = {.name = "all",
                       .location = "data",
                       .path = "data",
                       .kind = DataKind::kDirectory,
                       .size_bytes = kCopyLimitBytes + 1};
  manifest_.working_directory = "data/out/in";
  EXPECT_TRUE(Prepare().obstacle.has_value());
  EXPECT_FALSE(fs::exists(folder_->path() / "elsewhere/in"));
}

TEST_F(WorkspaceTest, NamesTheCodeLayerWhenAFileIsMissingOrAnother) {
  Write("root/train.py", "print('hullo')\n");
  ExpectObstacle(Prepare(), Layer::kCode, "not the recorded one");
  fs::remove(places_.root / "train.py");
  ExpectObstacle(Prepare(), Layer::kCode, "train.py");
}

TEST_F(WorkspaceTest, RefusesACodeFileThatIsALinkOutOfTheRepository) {
  fs::remove(places_.root / "train.py");
  Write("outside.py", "print('hello')\n");
  fs::create_symlink(folder_->path() / "outside.py", places_.root / "train.py");
  ExpectObstacle(Prepare(), Layer::kCode, "leads out");
}

TEST_F(WorkspaceTest, CannotRebuildAChangedWorkTreeFromACommitAlone) {
  manifest_.code.files.clear();
  manifest_.code.commit = std::string(40, 'a');
  manifest_.code.dirty = true;
  ExpectObstacle(Prepare(), Layer::kCode, "changed work tree");
}

TEST_F(WorkspaceTest, NamesTheCodeLayerWhenThereIsNoSuchRepository) {
  manifest_.code.files.clear();
  manifest_.code.commit = std::string(40, 'a');
  ExpectObstacle(Prepare(), Layer::kCode, "repository");
}

// A repository with one commit, and a git before it on PATH that some commands go wrong in.
class CheckoutTest : public WorkspaceTest {
 protected:
  void SetUp() override {
    WorkspaceTest::SetUp();
    path_ = ::getenv("PATH");
    const ProcessResult made = Sh(
        "git init -q . && git add train.py && git -c user.name=a -c user.email=b commit -qm c && "
        "git rev-parse HEAD && command -v git");
    if (!made.outcome.Succeeded()) GTEST_SKIP() << "git is not installed: " << made.stderr_text;
    manifest_.code.files.clear();
    manifest_.code.commit = made.stdout_text.substr(0, 40);
    git_ = made.stdout_text.substr(41, made.stdout_text.size() - 42);
  }
  void TearDown() override { ::setenv("PATH", path_.c_str(), 1); }
  ProcessResult Sh(const std::string& script) {
    return RunProcess({{"sh", "-c", script}, PickEnvironment({"PATH"}), places_.root});
  }
  // When git is asked to `verb`, it does this.
  void PutBefore(const std::string& verb, const std::string& what) {
    Write("bin/git", "#!/bin/sh\ncase \" $* \" in *' " + verb + " '*) " + what + ";; esac\nexec " +
                         git_ + " \"$@\"\n");
    fs::permissions(folder_->path() / "bin/git", fs::perms::owner_all);
    ::setenv("PATH", ((folder_->path() / "bin").string() + ":" + path_).c_str(), 1);
  }

  std::string path_;
  std::string git_;
};

TEST_F(CheckoutTest, HasTheFilesOfTheCommit) {
  const Workspace workspace = Prepare();
  EXPECT_FALSE(workspace.obstacle) << workspace.obstacle->reason;
  EXPECT_EQ(*ReadFile(workspace.path / "train.py"), "print('hello')\n");
}

TEST_F(CheckoutTest, TakesAListedFileFromTheCommitWhereTheWorkTreeHasMovedOn) {
  manifest_.code.files = {CodeFile{"train.py", Sha256HexOf("print('hello')\n")}};
  EXPECT_TRUE(Prepare().remarks.empty());
  Write("root/train.py", "print('changed')\n");
  for (int i = 0; i < 2; ++i) {
    const Workspace workspace = Prepare();
    EXPECT_FALSE(workspace.obstacle) << workspace.obstacle->reason;
    EXPECT_EQ(*ReadFile(workspace.path / "train.py"), "print('hello')\n");
    EXPECT_FALSE(fs::exists(workspace.path / ".rharness-commit"));
    ASSERT_EQ(workspace.remarks.size(), 1U);
    EXPECT_EQ(workspace.remarks[0].code, "code_from_commit");
    fs::remove(places_.root / "train.py");  // and where it is gone
  }
}

TEST_F(CheckoutTest, SaysOfAListedFileThatTheCommitHasNotIt) {
  manifest_.code.files = {CodeFile{"train.py", Sha256HexOf("print('elsewhere')\n")}};
  ExpectObstacle(Prepare(), Layer::kCode, "nor is that of commit " + manifest_.code.commit);
  manifest_.code.files[0].path = "absent.py";
  ExpectObstacle(Prepare(), Layer::kCode, "has no such file");
  manifest_.code.files[0].path = ".git/config";
  ExpectObstacle(Prepare(), Layer::kCode, "not the recorded one");
  manifest_.code.commit = std::string(40, 'a');
  ExpectObstacle(Prepare(), Layer::kCode, "commit " + manifest_.code.commit + " is not in");
}

// A repository that has results of before, which the run writes anew.
TEST_F(CheckoutTest, TakesWhatTheCommitHasInAnOutputsPlaceForNoCodeAndForNoOutput) {
  Write("root/work/metrics.json", R"({"metrics": {"a": 1}})");
  Write("root/work/log.txt", "old");
  const ProcessResult made =
      Sh("git add work && git -c user.name=a -c user.email=b commit -qm results && "
         "git rev-parse HEAD");
  ASSERT_TRUE(made.outcome.Succeeded()) << made.stderr_text;
  manifest_.code.commit = made.stdout_text.substr(0, 40);
  manifest_.working_directory = "work";
  manifest_.metrics_path = "metrics.json";
  manifest_.artifacts = {Artifact{.role = "log", .path = "./log.txt"}};
  const auto collect = [&](const Workspace& workspace) {
    Evidence evidence;
    EXPECT_TRUE(
        CollectOutputs(manifest_, workspace, folder_->path() / "kept", folder_->path(), &evidence)
            .ok());
    return evidence;
  };
  const Workspace idle = Prepare();
  EXPECT_EQ(*ReadFile(idle.path / "work/log.txt"), "old") << "a run may go on from it";
  const Evidence none = collect(idle);
  EXPECT_TRUE(none.artifacts.empty());
  EXPECT_TRUE(none.metrics.metrics.empty());
  ASSERT_EQ(none.remarks.size(), 2U);
  EXPECT_EQ(none.remarks[0].code, "output_missing");
  EXPECT_NE(none.remarks[1].message.find("is the commit's"), std::string::npos);

  const Workspace run = Prepare();
  for (const char* name : {"work/metrics.json", "work/log.txt"}) {
    std::ofstream(run.path / name, std::ios::in | std::ios::out) << "{\"metrics\"";  // in place
  }
  EXPECT_EQ(collect(run).artifacts.size(), 1U);
  EXPECT_FALSE(collect(run).metrics.metrics.empty());
  EXPECT_TRUE(VerifyAfterRun(run, &cache_)->empty()) << "an output is no code that changed";
  Write("ws/train.py", "print('changed')");
  EXPECT_EQ(VerifyAfterRun(run, &cache_)->size(), 1U);
}

// An index that is written anew says nothing of the shards that it lists.
TEST_F(CheckoutTest, TakesAShardOfTheCommitForNoOutput) {
  Write("root/model.index.json", "{}");
  Write("root/shard-1.bin", "old");
  const ProcessResult made =
      Sh("git add . && git -c user.name=a -c user.email=b commit -qm shards && git rev-parse HEAD");
  ASSERT_TRUE(made.outcome.Succeeded()) << made.stderr_text;
  manifest_.code.commit = made.stdout_text.substr(0, 40);
  manifest_.artifacts = {
      Artifact{.role = "weights", .path = "model.index.json", .parts = {{.path = "shard-1.bin"}}}};
  const Workspace workspace = Prepare();
  std::ofstream(workspace.path / "model.index.json") << "{\"weight_map\": {}}";
  Evidence evidence;
  EXPECT_TRUE(
      CollectOutputs(manifest_, workspace, folder_->path() / "kept", folder_->path(), &evidence)
          .ok());
  EXPECT_TRUE(evidence.artifacts.empty());
  ASSERT_EQ(evidence.remarks.size(), 1U);
  EXPECT_EQ(evidence.remarks[0].code, "output_missing");
  EXPECT_NE(evidence.remarks[0].message.find("shard-1.bin"), std::string::npos)
      << evidence.remarks[0].message;
}

TEST_F(CheckoutTest, NamesTheCodeLayerWhenTheCommitIsNotThere) {
  manifest_.code.commit = std::string(40, 'a');
  ExpectObstacle(Prepare(), Layer::kCode, "is not in");
}

TEST_F(CheckoutTest, TakesNoTroubleOfTheMachineForAMissingCommit) {
  const std::vector<std::pair<std::string, std::string>> troubles = {
      {"cat-file", "kill -9 $$"},
      {"ls-tree", "kill -9 $$"},
      {"cat-file", "echo 'error: unable to read file: Input/output error' >&2; exit 1"},
      {"ls-tree", "echo 'fatal: read error: Input/output error' >&2; exit 128"},
      {"checkout-index",
       "echo 'error: unable to write file: No space left on device' >&2; exit 128"}};
  for (const auto& [verb, what] : troubles) {
    PutBefore(verb, what);
    const auto workspace = PrepareWorkspace(manifest_, folder_->path() / "ws", places_, &cache_);
    ASSERT_FALSE(workspace.ok()) << verb << ": " << what;
    EXPECT_EQ(workspace.error().code, ErrorCode::kProcess) << workspace.error().ToString();
  }
}

TEST_F(WorkspaceTest, RunsNoCommandThatARepositoryNameSmugglesIn) {
  manifest_.code.files.clear();
  manifest_.code.commit = std::string(40, 'a');
  const fs::path witness = folder_->path() / "witness";
  manifest_.code.repository = "ext::sh -c touch% " + witness.string();
  EXPECT_TRUE(Prepare().obstacle.has_value());
  EXPECT_FALSE(fs::exists(witness));
}

TEST_F(WorkspaceTest, IsMadeAnewEachTime) {
  Prepare();
  Write("ws/left_over.txt", "x");
  const Workspace workspace = Prepare();
  EXPECT_FALSE(fs::exists(workspace.path / "left_over.txt"));
}

TEST(Locate, FollowsTheLongestMapAndStaysBelowTheRoot) {
  Places places{.root = "/srv", .maps = {{"s3://bucket", "/a"}, {"s3://bucket/deep", "/b"}}};
  EXPECT_EQ(Locate(places, "data/x")->string(), "/srv/data/x");
  EXPECT_EQ(Locate(places, "s3://bucket/x")->string(), "/a/x");
  EXPECT_EQ(Locate(places, "s3://bucket/deep/x")->string(), "/b/x");
  EXPECT_EQ(Locate(places, "/srv/./x")->string(), "/srv/x");
  EXPECT_EQ(Locate(places, "s3://bucketeer/x").error().code, ErrorCode::kUnsupported);
  EXPECT_EQ(Locate(places, "../x").error().code, ErrorCode::kInvalidInput);
  EXPECT_EQ(Locate(places, "s3://bucket/../x").error().code, ErrorCode::kInvalidInput);
  EXPECT_NE(Locate(places, "s3://other/x").error().message.find("--map"), std::string::npos);
}

TEST(ContentCache, NeverTrustsAFileThatChangedAMomentAgo) {
  auto folder = ScopedTempDir::Make();
  ASSERT_TRUE(folder.ok());
  const fs::path path = folder->path() / "f";
  ContentCache cache;
  for (int i = 0; i < 20; ++i) {
    // Same size each time, and written within one tick of the file system's clock.
    const std::string content = "content " + std::to_string(10 + i);
    ASSERT_TRUE(WriteFileAtomic(path, content).ok());
    const auto hash = cache.Hash(path);
    ASSERT_TRUE(hash.ok());
    EXPECT_EQ(hash->sha256, Sha256HexOf(content));
  }
}

}  // namespace
}  // namespace rharness
