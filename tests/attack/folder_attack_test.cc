// A drill's folder that somebody else made, can write to, or has prepared with links.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/base/folder_lock.h"
#include "harness/base/held_folder.h"
#include "harness/drill/drill.h"
#include "harness/drill/journal.h"
#include "harness/drill/settings.h"
#include "harness/execution/rerun/rerun.h"
#include "tests/attack/attack_world.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class DrillFolder : public AttackWorld {
 protected:
  // As an interrupted drill of a stranger's history would leave it.
  DrillFolder() {
    fs::remove_all(out());
    fs::create_directories(out() / "runs");
    ::chmod(out().c_str(), 0700);
    DrillSettings settings{.drill_id = "planted", .started = WallTime{}, .run_ids = {"victim"}};
    settings.options.history = (folder() / "theirs.db").string();
    EXPECT_TRUE(Journal::Create(out() / "journal.jsonl", ToJson(settings)).ok());
    Write("drill/lock", "");
  }
  fs::path out() const { return folder() / "drill"; }

  Error Resume() const {
    DrillOptions options;
    options.out = out();
    options.resume = true;
    const auto report = RunDrill(options, {}, &SystemClock());
    EXPECT_FALSE(report.ok());
    return report.ok() ? Error{} : report.error();
  }
  void ExpectRefusal(const std::string& name, const std::string& why) const {
    const Error error = Resume();
    EXPECT_EQ(error.code, ErrorCode::kInvalidInput) << error.ToString();
    EXPECT_EQ(error.where, name.empty() ? out().string() : (out() / name).string());
    EXPECT_THAT(error.message, HasSubstr(why));
  }
};

TEST_F(DrillFolder, OfOnesOwnGoesAsFarAsItsHistory) {
  EXPECT_THAT(Resume().ToString(), HasSubstr("theirs.db"));
}

TEST_F(DrillFolder, ThatOthersCanWriteToIsRefusedByName) {
  for (const char* name : {"", "lock", "journal.jsonl", "runs"}) {
    const fs::path path = out() / name;
    struct stat info {};
    ASSERT_EQ(::stat(path.c_str(), &info), 0);
    for (const mode_t bit : {S_IWGRP, S_IWOTH}) {
      ASSERT_EQ(::chmod(path.c_str(), (info.st_mode & 07777U) | bit), 0);
      ExpectRefusal(name, "written to by others");
    }
    ::chmod(path.c_str(), info.st_mode & 07777U);
  }
}

TEST_F(DrillFolder, ThatBelongsToSomebodyElseIsRefusedByName) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  for (const char* name : {"", "lock", "journal.jsonl", "runs"}) {
    ASSERT_EQ(::chown((out() / name).c_str(), 65534, 65534), 0);
    ExpectRefusal(name, "belongs to user 65534");
    ASSERT_EQ(::chown((out() / name).c_str(), 0, 0), 0);
  }
}

TEST_F(DrillFolder, WithALinkForItsRunsIsRefusedAndNothingBehindItIsTouched) {
  Write("elsewhere/victim/1/thesis.tex", "years of work");
  fs::remove(out() / "runs");
  fs::create_directory_symlink(folder() / "elsewhere", out() / "runs");
  ExpectRefusal("runs", "symbolic link");
  EXPECT_TRUE(fs::exists(folder() / "elsewhere/victim/1/thesis.tex"));
}

TEST_F(DrillFolder, WithALinkForARunOrARerunIsRefusedByName) {
  Write("elsewhere/1/evidence.json", "precious");
  for (const char* name : {"runs/victim", "runs/victim/1"}) {
    fs::remove_all(out() / "runs/victim");
    fs::create_directories((out() / name).parent_path());
    fs::create_directory_symlink(folder() / "elsewhere", out() / name);
    ExpectRefusal(name, "symbolic link");
  }
  EXPECT_EQ(Read(folder() / "elsewhere/1/evidence.json"), "precious");
}

TEST_F(DrillFolder, WhoseNameEverybodyCanGiveToAnotherIsRefused) {
  const fs::path above = folder() / "above";
  fs::create_directories(above / "deep");
  ASSERT_EQ(::chmod(folder().c_str(), 0755), 0);
  const auto take = [&] { return FolderLock::TakeOwn(above / "deep/out"); };
  ASSERT_TRUE(take().ok());
  Write("above/deep/out/journal", "what is believed on resume");
  for (const char* open : {"above", "above/deep"}) {
    ASSERT_EQ(::chmod((folder() / open).c_str(), 0777), 0);
    const auto refused = take();
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().code, ErrorCode::kInvalidInput);
    EXPECT_EQ(refused.error().where, (folder() / open).string());
    ASSERT_EQ(::chmod((folder() / open).c_str(), 0755), 0);
  }
  ASSERT_EQ(::chmod((above / "deep").c_str(), 0777), 0);
  EXPECT_TRUE(FolderLock::TakeOwn(above / "deep/new").ok()) << "of a new one nothing is believed";
  ASSERT_EQ(::chmod((above / "deep").c_str(), 01777), 0);
  EXPECT_TRUE(take().ok()) << "sticky, as /tmp is";
  ASSERT_EQ(::chmod((above / "deep").c_str(), 0777), 0);
  ASSERT_EQ(::chmod(above.c_str(), 0700), 0);
  EXPECT_TRUE(take().ok()) << "nobody else gets there";
}

TEST_F(DrillFolder, RemovesNothingThroughALinkDeeperDown) {
  Write("elsewhere/1/thesis.tex", "years of work");
  fs::create_directory_symlink(folder() / "elsewhere", out() / "runs/victim");
  EXPECT_EQ(RemoveTreeBelow(out(), "runs/victim/1").error().code, ErrorCode::kIntegrity);
  EXPECT_TRUE(fs::exists(folder() / "elsewhere/1/thesis.tex"));
  EXPECT_TRUE(RemoveTreeBelow(out(), "runs/victim").ok());
  EXPECT_TRUE(fs::exists(folder() / "elsewhere/1/thesis.tex"));
  EXPECT_FALSE(fs::exists(fs::symlink_status(out() / "runs/victim")));
  EXPECT_TRUE(RemoveTreeBelow(out(), "runs/nobody/1").ok());
}

TEST_F(DrillFolder, ThatIsNewIsForItsOwnerAlone) {
  const auto lock = FolderLock::TakeOwn(folder() / "new" / "tonight");
  ASSERT_TRUE(lock.ok()) << lock.error().ToString();
  struct stat info {};
  ASSERT_EQ(::stat((folder() / "new/tonight").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777U, 0700U);
}

// A host run that gets at the folder beside its workspace.
class RerunFolderOnTheHost : public AttackWorld {
 protected:
  RerunResult CarryOut(const std::string& script) {
    auto result = Try(script);
    EXPECT_TRUE(result.ok()) << result.error().ToString();
    return result.ok() ? std::move(*result) : RerunResult{};
  }
  Result<RerunResult> Try(const std::string& script) {
    Write("elsewhere/thesis.tex", "years of work");
    manifest_.command = {"sh", "-c", script, "sh", (folder() / "elsewhere").string()};
    fs::create_directories(folder() / "drill");
    const auto launcher = MakeLauncher("host");
    const auto executor = MakeLocalExecutor();
    EXPECT_TRUE(launcher.ok());
    const RerunContext context{.folder = fs::canonical(folder() / "drill"),
                               .launchers = {{"host", launcher->get()}},
                               .executor = executor.get(),
                               .cache = &cache_,
                               .clock = &SystemClock()};
    Ticket ticket{.launcher = "host", .resources = {}, .places = places_, .manifest = manifest_};
    ticket.resources.timeout_seconds = 50;
    return rharness::CarryOut(ticket, context);
  }
  void ExpectEvidenceInPlaceAndNothingElsewhere() const {
    EXPECT_TRUE(LoadEvidence(own() / "evidence.json").ok());
    EXPECT_EQ(fs::symlink_status(own()).type(), fs::file_type::directory);
    EXPECT_EQ(std::distance(fs::directory_iterator(folder() / "elsewhere"), {}), 1);
  }
  fs::path own() const { return folder() / "drill/runs/r/1"; }
};

TEST_F(RerunFolderOnTheHost, IsClearedOfWhatTheRunLeftThereAndOfNothingBehindALink) {
  const RerunResult result =
      CarryOut("cd .. && echo forged > stdout.log && ln -s \"$1\" artifacts");
  EXPECT_EQ(result.evidence.obstacle, "");
  EXPECT_FALSE(fs::exists(own() / "stdout.log"));
  EXPECT_FALSE(fs::exists(fs::symlink_status(own() / "artifacts")));
  ExpectEvidenceInPlaceAndNothingElsewhere();
}

TEST_F(RerunFolderOnTheHost, ThatIsALinkAfterwardsIsNotWrittenThrough) {
  const RerunResult result = CarryOut("cd ../.. && mv 1 gone && ln -s \"$1\" 1");
  EXPECT_THAT(result.evidence.obstacle, HasSubstr("moved the folder it was given"));
  ExpectEvidenceInPlaceAndNothingElsewhere();
}

TEST_F(RerunFolderOnTheHost, ThatIsAnotherFolderAfterwardsIsTold) {
  const RerunResult result =
      CarryOut("cd ../.. && mv 1 gone && mkdir -p 1/workspace && ln -s \"$1\" 1/artifacts");
  EXPECT_THAT(result.evidence.obstacle, HasSubstr("moved the folder it was given"));
  EXPECT_FALSE(fs::exists(fs::symlink_status(own() / "artifacts")));
  ExpectEvidenceInPlaceAndNothingElsewhere();
}

TEST_F(RerunFolderOnTheHost, BehindALinkThatWasThereBeforeGetsNoEvidence) {
  Write("elsewhere/1/evidence.json", "precious");
  fs::create_directories(folder() / "drill/runs");
  fs::create_directory_symlink(folder() / "elsewhere", folder() / "drill/runs/r");
  const auto result = Try("true");
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().code, ErrorCode::kIntegrity) << result.error().ToString();
  EXPECT_EQ(Read(folder() / "elsewhere/1/evidence.json"), "precious");
}

}  // namespace
}  // namespace rharness
