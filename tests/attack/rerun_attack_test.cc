// Runs that do something to the folder they were given, or to the file systems in it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>

#include <cerrno>
#include <cstring>
#include <functional>

#include "harness/rerun/rerun.h"
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
    manifest_.image.kind = "host";
    auto launcher = MakeLauncher("host");
    EXPECT_TRUE(launcher.ok());
    fs::create_directories(drill());
    Saboteur executor(std::move(deed));
    const RerunContext context{.folder = drill(),
                               .launchers = {{"host", launcher->get()}},
                               .executor = &executor,
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
  const Remark& last = result->evidence.remarks.back();
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

}  // namespace
}  // namespace rharness
