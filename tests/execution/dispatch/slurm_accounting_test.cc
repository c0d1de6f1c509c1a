// What a real Slurm's accounting (slurmdbd) tells when the queue has forgotten, and when it is
// down.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <memory>
#include <thread>

#include "harness/execution/dispatch/slurm_dispatcher.h"
#include "tests/execution/dispatch/slurm_world.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;
using testing::AnyOf;
using testing::HasSubstr;
using Kind = AttemptEnd::Kind;

class SlurmAccounting : public testing::Test {
 protected:
  static void SetUpTestSuite() { world_ = new SlurmWorld(SlurmWorld::Accounting::kDatabase); }
  static void TearDownTestSuite() { delete world_; }
  void SetUp() override {
    if (!world_->problem().empty()) GTEST_SKIP() << "no accounting here: " << world_->problem();
    auto made = ScopedTempDir::Make("rharness-accounting-");
    ASSERT_TRUE(made.ok());
    folder_ = std::make_unique<ScopedTempDir>(std::move(*made));
    fs::create_directories(folder_->path() / "drill");
    dispatcher_ = std::make_unique<SlurmDispatcher>(
        SlurmOptions{.folder = folder_->path() / "drill",
                     .drill_id = "test-" + folder_->path().filename().string(),
                     .program = fs::path(RHARNESS_BIN_DIR) / "rharness",
                     .sbatch = {}},
        &client_, &SystemClock(), [](const RerunStep&) { return Status(); }, [] { return false; });
  }

  void Submit(const std::string& script) {
    Ticket ticket{.drill_id = "test", .launcher = "host", .places = {.root = folder_->path()}};
    ticket.resources.timeout_seconds = 60;
    ticket.manifest.run_id = "r";
    ticket.manifest.image.kind = ImageKind::kHost;
    ticket.manifest.command = {"sh", "-c", script, "sh", folder_->path().string()};
    ASSERT_TRUE(dispatcher_->Submit({{0, std::move(ticket)}}).ok());
    ASSERT_TRUE(Await([this] { return fs::exists(folder_->path() / "started"); }));
  }
  // The one rerun's end, within three minutes.
  AttemptEnd End() {
    std::vector<AttemptEnd> ends;
    EXPECT_TRUE(Await([&] {
      auto some = dispatcher_->Wait(std::chrono::milliseconds(100));
      EXPECT_TRUE(some.ok()) << some.error().ToString();
      if (some.ok()) ends = std::move(*some);
      return !ends.empty();
    }));
    return ends.empty() ? AttemptEnd() : std::move(ends.front());
  }
  static bool Await(const std::function<bool()>& holds) {
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(150);
    while (!holds()) {
      if (std::chrono::steady_clock::now() > until) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
    return true;
  }

  static SlurmWorld* world_;
  std::unique_ptr<ScopedTempDir> folder_;
  SlurmClient client_;
  std::unique_ptr<SlurmDispatcher> dispatcher_;
};
SlurmWorld* SlurmAccounting::world_ = nullptr;

TEST_F(SlurmAccounting, TellsOfATaskThatTheQueueHasForgotten) {
  Submit("echo > $1/started; sleep 50");
  SlurmWorld::Run({"scancel", "--user=root"});
  // Written down before the controller loses it.
  ASSERT_TRUE(Await([] {
    return SlurmWorld::Run({"sacct", "--noheader", "--allocations", "--allusers", "--format=state",
                            "--state=CANCELLED", "--starttime=now-1hour", "--endtime=now"})
               .find("CANCELLED") != std::string::npos;
  }));
  world_->ForgetJobs();
  ASSERT_EQ(SlurmWorld::Run({"squeue", "--noheader"}), "");
  const AttemptEnd end = End();
  EXPECT_EQ(end.kind, Kind::kInfrastructure);
  EXPECT_THAT(end.evidence.obstacle, HasSubstr("CANCELLED")) << "in accounting's own word";
}

TEST_F(SlurmAccounting, IsNotNeededWhileItIsDown) {
  Submit("echo > $1/started; sleep 2");
  world_->Kill("slurmdbd");
  EXPECT_EQ(End().kind, Kind::kFinal);
}

}  // namespace
}  // namespace rharness
