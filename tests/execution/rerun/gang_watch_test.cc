// A command on node 0 starts processes on node 1: they are observed there.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "harness/base/files.h"
#include "harness/base/subprocess.h"
#include "harness/execution/rerun/allocation_watch.h"
#include "harness/execution/rerun/gang_side.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;

Ticket OnceOnTwoNodes() {
  Ticket ticket;
  ticket.manifest.run_id = "run";
  ticket.manifest.image.kind = ImageKind::kHost;
  ticket.manifest.command = {"srun", "python3", "train.py"};
  ticket.manifest.gang =
      Gang{.nodes = 2, .start = GangStart::kOnce, .workspace = GangWorkspace::kLocal};
  ticket.manifest.observation.emplace().means = {std::string(kSeenByPreload),
                                                 std::string(kSeenByPython)};
  return ticket;
}

class GangWatch : public ::testing::Test {
 protected:
  void SetUp() override {
    parts_ = FindObserveParts();
    if (!parts_.ok()) GTEST_SKIP() << parts_.error().ToString();
  }

  // Node 0: a process that a step started on node 1 gets the variables of the command.
  void ActAsHead(const std::string& notes) {
    GangSession session(GangFolder(folder_.path(), ticket_), 0, 2, {});
    ASSERT_TRUE(session.Join().ok());
    NodeReady ready;
    ready.notes = notes;
    ASSERT_TRUE(session.TellReady(ready).ok());
    ASSERT_TRUE(session.WaitForReady().ok());
    ASSERT_TRUE(session.Start({.address = "a", .port = 1, .hosts = {"n1", "n2"}, .id = "i"}).ok());
    ProcessSpec spec;
    spec.argv = {"python3", "-c", "import random; random.seed(103)"};
    spec.environment = ProcessEnvironment();
    spec.environment["RHARNESS_OBSERVE"] = notes;
    spec.environment["LD_PRELOAD"] = parts_->preload.string();
    spec.environment["PYTHONPATH"] = parts_->python.string();
    const ProcessResult ran = RunProcess(spec, {});
    EXPECT_TRUE(ran.outcome.Succeeded()) << ran.stderr_text;
    ASSERT_TRUE(session.TellDone().ok());
    const auto ends = session.WaitForEnds();
    ASSERT_TRUE(ends.ok());
    ASSERT_TRUE((*ends)[1].has_value());
    ASSERT_EQ((*ends)[1]->tasks.size(), 1U);
    seen_ = (*ends)[1]->tasks[0];
  }
  void ActAsOther() {
    GangSide side(ticket_, folder_.path(), 1, {});
    Evidence evidence;
    evidence.run_id = "run";
    evidence.rerun = 1;
    Workspace workspace;
    workspace.path = folder_.path();
    ASSERT_TRUE(side.Join().ok());
    const auto ready = side.Gather(workspace, {});
    ASSERT_TRUE(ready.ok()) << ready.error().ToString();
    (void)side.Run({.ticket = ticket_, .workspace = workspace}, SystemClock().Now(), &evidence);
    EXPECT_TRUE(side.TellEnd(evidence, false).ok());
  }
  void Rerun(const std::string& notes) {
    std::jthread head([&] { ActAsHead(notes); });
    ActAsOther();
  }

  const ScopedTempDir folder_ = *ScopedTempDir::Make("rharness-gang-");
  const Ticket ticket_ = OnceOnTwoNodes();
  Result<ObserveParts> parts_ = InternalError("not looked for");
  TaskEnd seen_;
};

TEST_F(GangWatch, WhatANodeSawIsItsTask) {
  const fs::path notes = FreeNotesPath();
  Rerun(notes.string());
  EXPECT_EQ(seen_.rank, 1);
  ASSERT_TRUE(seen_.observation.has_value());
  EXPECT_THAT(seen_.observation->seeds["random.seed"], ElementsAre("103"));
  EXPECT_FALSE(fs::exists(notes)) << "it is removed at the end";
}

TEST_F(GangWatch, OnTheMachineOfNode0NothingIsSeenTwice) {
  const auto there = ScopedTempDir::Make(kNotesPrefix);
  ASSERT_TRUE(there.ok());
  Rerun(there->path().string());
  EXPECT_EQ(seen_.outcome.kind, OutcomeKind::kExited);
  EXPECT_FALSE(seen_.observation.has_value());
  EXPECT_TRUE(fs::exists(there->path())) << "it is node 0's";
}

TEST_F(GangWatch, AFolderOfAnotherNameIsNotMade) {
  const fs::path other = folder_.path() / "elsewhere";
  Rerun(other.string());
  EXPECT_FALSE(seen_.observation.has_value());
  EXPECT_FALSE(fs::exists(other));
}

Variables OfStep() {
  return {{"RHARNESS_WATCH", "3 77 /tmp/rharness-observe-x /a b/run.json.parts"},
          {"SLURM_NODEID", "1"},
          {"SLURM_STEP_ID", "4"}};
}

TEST(WatchedNode, IsNamedByTheVariablesOfItsStep) {
  Variables step = OfStep();
  step["JOB_COMPLETION_INDEX"] = "0";  // of a stranger
  const auto found = WatchedNodeOf(step);
  ASSERT_TRUE(found.ok()) << found.error().ToString();
  ASSERT_TRUE(found->has_value());
  const WatchedNode& node = **found;
  EXPECT_EQ(node.place.rank, 2);
  EXPECT_EQ(node.place.tasks, 3);
  EXPECT_EQ(node.place.id, "77");
  EXPECT_EQ(node.notes.path, "/tmp/rharness-observe-x");
  EXPECT_FALSE(node.notes.starts_command);
  EXPECT_EQ(node.folder, "/a b/run.json.parts");
  step.erase("RHARNESS_WATCH");
  EXPECT_FALSE(WatchedNodeOf(step)->has_value());
}

TEST(WatchedNode, AVariableThatIsNotOfItsStepIsAnErrorAndNoCommand) {
  for (const char* value : {"", "2 77  /a/b.parts", "3 77 /tmp/other /a", "1 77 /tmp/x /a",
                            "3 77 /tmp/rharness-observe-x a/b"}) {
    Variables step = OfStep();
    step["RHARNESS_WATCH"] = value;
    EXPECT_FALSE(WatchedNodeOf(step).ok()) << value;
  }
  Variables batch = OfStep();
  batch.erase("SLURM_STEP_ID");  // as a batch script has SLURM_NODEID, too
  EXPECT_FALSE(WatchedNodeOf(batch).ok());
}

TEST(WatchedNode, AStepStartsNoWatchAndIsNotItsAllocation) {
  Variables step = {{"SLURM_JOB_NUM_NODES", "2"}, {"SLURM_STEP_ID", "4"}};
  EXPECT_EQ(NodesOfAllocation(step), 0);
  step["SLURM_STEP_ID"] = "4294967290";  // the shell of salloc
  EXPECT_EQ(NodesOfAllocation(step), 2);
}

// A recording that was killed tells nobody that its command is done.
TEST(WatchedNode, EndsWithARecordingThatNoLongerBeats) {
  const ScopedTempDir folder = *ScopedTempDir::Make();
  HeadPulse pulse(folder.path(), std::chrono::milliseconds(400));
  for (int beat = 0; beat < 8; ++beat) {
    ASSERT_TRUE(WriteFileAtomic(folder.path() / "beat", std::to_string(beat)).ok());
    EXPECT_FALSE(pulse.IsGone()) << beat;
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(350));
  EXPECT_TRUE(pulse.IsGone());
  HeadPulse never(folder.path() / "removed", std::chrono::milliseconds(50));
  EXPECT_FALSE(never.IsGone()) << "it has just begun";
  std::this_thread::sleep_for(std::chrono::milliseconds(60));
  EXPECT_TRUE(never.IsGone());
}

TEST(AllocationWatch, BeatsFromItsStartOn) {
  const ScopedTempDir folder = *ScopedTempDir::Make();
  const auto notes = ScopedTempDir::Make(kNotesPrefix);
  AllocationWatch watch(2, folder.path(), notes->path());
  EXPECT_FALSE(fs::exists(folder.path() / "beat"));
  watch.Start("7");
  EXPECT_TRUE(fs::exists(folder.path() / "beat"));
}

}  // namespace
}  // namespace rharness
