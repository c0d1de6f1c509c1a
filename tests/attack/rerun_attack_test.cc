// Runs that do something to the folder they were given, or to the file systems in it.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <functional>

#include "harness/base/cgroup.h"
#include "harness/base/digest.h"
#include "harness/base/process_tree.h"
#include "harness/execution/rerun/rerun.h"
#include "tests/attack/attack_world.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

// Does what the test says, and ends well.
class Saboteur : public Executor {
 public:
  explicit Saboteur(std::function<void()> deed) : deed_(std::move(deed)) {}
  std::string_view name() const override { return "saboteur"; }
  ProcessResult Execute(const ProcessSpec&, const ProcessLimits&, const ExecutionHooks&) override {
    deed_();
    ProcessResult result;
    result.outcome.kind = OutcomeKind::kExited;
    result.stdout_text = "done";
    return result;
  }

 private:
  std::function<void()> deed_;
};

class Sabotage : public AttackWorld {
 protected:
  Result<RerunResult> Rerun(std::function<void()> deed) {
    Saboteur executor(std::move(deed));
    return RerunBy(&executor);
  }
  Result<RerunResult> RerunBy(Executor* executor) {
    manifest_.image.kind = ImageKind::kHost;
    auto launcher = MakeLauncher("host");
    EXPECT_TRUE(launcher.ok());
    fs::create_directories(drill());
    const RerunContext context{.folder = drill(),
                               .launchers = {{"host", launcher->get()}},
                               .executor = executor,
                               .cache = &cache_,
                               .clock = &SystemClock()};
    return CarryOut({.launcher = "host", .places = places_, .manifest = manifest_}, context);
  }
  fs::path drill() const { return folder() / "drill"; }
  fs::path workspace() const { return drill() / "runs/r/1/workspace"; }
};

TEST_F(Sabotage, WhoseWorkspaceCannotBeRemovedIsNamed) {
  const auto result = Rerun([this] {
    fs::rename(drill() / "runs/r/1", folder() / "moved");
    fs::create_directory_symlink(folder() / "moved", drill() / "runs/r/1");
  });
  ASSERT_TRUE(result.ok()) << result.error().ToString();
  ASSERT_FALSE(result->evidence.remarks.empty());
  const Finding& last = result->evidence.remarks.back();
  EXPECT_EQ(last.code, "workspace_left");
  EXPECT_EQ(last.subject, "runs/r/1/workspace");
  EXPECT_THAT(last.message, HasSubstr("is still there"));
  EXPECT_EQ(LoadEvidence(drill() / "runs/r/1/evidence.json")->remarks.back().code, last.code);
  EXPECT_TRUE(fs::exists(folder() / "moved/workspace"));
}

TEST_F(Sabotage, ThatMountsAFolderOverItsWorkspaceLosesTheMountAndNothingElse) {
  Write("elsewhere/thesis.tex", "years of work");
  if (::unshare(CLONE_NEWNS) != 0 || ::mount("", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) {
    GTEST_SKIP() << "cannot mount here: " << std::strerror(errno);
  }
  const auto result = Rerun([this] {
    fs::create_directories(workspace() / "a b");
    EXPECT_EQ(::mount((folder() / "elsewhere").c_str(), (workspace() / "a b").c_str(), nullptr,
                      MS_BIND, nullptr),
              0);
  });
  ASSERT_TRUE(result.ok()) << result.error().ToString();
  EXPECT_EQ(Read(folder() / "elsewhere/thesis.tex"), "years of work");
  EXPECT_FALSE(fs::exists(workspace()));
  EXPECT_TRUE(result->evidence.remarks.empty());
}

// Its parent has gone, its session is its own, and nothing in its environment tells whose it is.
TEST_F(Sabotage, ThatDetachesAndEmptiesItsEnvironmentEndsWithItsRun) {
  const auto cgroup = JobCgroup::Make(kCgroupPrefix + std::to_string(::getpid()));
  if (!cgroup.ok()) GTEST_SKIP() << "no control group here: " << cgroup.error().ToString();
  const std::string pid = (folder() / "pid").string();
  manifest_.command = {"sh", "-c",
                       fmt::format("(setsid env -i sh -c 'echo $$ >{0}.new; mv {0}.new {0}; "
                                   "exec sleep 60' >/dev/null 2>&1 &); "
                                   "until test -e {0}; do sleep 0.01; done",
                                   pid)};
  const auto result = RerunBy(MakeLocalExecutor().get());
  ASSERT_TRUE(result.ok()) << result.error().ToString();
  EXPECT_TRUE(result->evidence.outcome.Succeeded()) << result->evidence.outcome.ToString();
  const auto stat = ReadProcessStat(std::stoi(Read(pid)));
  EXPECT_TRUE(!stat || stat->IsDead());
}

TEST_F(Sabotage, CannotWriteToDataThatItOnlySees) {
  const pid_t probe = ::fork();
  if (probe == 0) ::_exit(::unshare(CLONE_NEWNS) == 0 ? 0 : errno);
  int status = 0;
  ::waitpid(probe, &status, 0);
  if (status != 0) {
    GTEST_SKIP() << "no mount namespace here: " << std::strerror(WEXITSTATUS(status));
  }
  Write("root/large.bin", "");
  const fs::path large = repository() / "large.bin";
  fs::resize_file(large, kCopyLimitBytes + 1);
  manifest_.data = {DataItem{.name = "large",
                             .location = "large.bin",
                             .path = "large.bin",
                             .kind = DataKind::kFile,
                             .sha256 = HashFile(large)->sha256,
                             .size_bytes = kCopyLimitBytes + 1}};
  manifest_.command = {"sh", "-c", fmt::format("echo x >>{}; true", large.string())};
  const auto result = RerunBy(MakeLocalExecutor().get());
  ASSERT_TRUE(result.ok()) << result.error().ToString();
  EXPECT_EQ(result->evidence.obstacle, "");
  EXPECT_EQ(fs::file_size(large), kCopyLimitBytes + 1);
  EXPECT_TRUE(result->evidence.remarks.empty());
}

}  // namespace
}  // namespace rharness
