// The ends of several nodes as one evidence.
#include "harness/execution/rerun/gang_merge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>

#include "harness/base/descriptor.h"
#include "harness/execution/rerun/gang_side.h"
#include "harness/execution/rerun/ports.h"

namespace rharness {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

Outcome Exited(int code, double seconds = 1.0) {
  Outcome outcome;
  outcome.kind = OutcomeKind::kExited;
  outcome.exit_code = code;
  outcome.wall = std::chrono::duration_cast<std::chrono::nanoseconds>(Seconds(seconds));
  outcome.cpu = outcome.wall;
  return outcome;
}

Observation Seen(const std::string& seed, const std::string& build_id) {
  Observation seen;
  seen.means = {std::string(kSeenByPython)};
  seen.seeds["torch.manual_seed"] = {seed};
  seen.libraries.push_back({.path = "/opt/libblas.so.3",
                            .soname = "libblas.so.3",
                            .build_id = build_id,
                            .size_bytes = 10,
                            .manager = {},
                            .package = {},
                            .version = {}});
  return seen;
}

TaskEnd Task(int rank, const Observation& seen, Outcome outcome = Exited(0)) {
  return {.rank = rank, .outcome = std::move(outcome), .stopped = false, .observation = seen};
}

// Two nodes of two tasks; the seeds are 100 + rank.
GangEnds TwoByTwo() {
  GangEnds ends{.nodes = {}, .first = {}, .hosts = {"n1", "n2"}, .tasks = 4};
  for (int node = 0; node < 2; ++node) {
    PartEnd end;
    end.evidence.environment.software["glibc"] = "2.36";
    end.peak_memory_bytes = node == 0 ? 5 : 7;
    for (int rank = 2 * node; rank < 2 * node + 2; ++rank) {
      end.tasks.push_back(Task(rank, Seen(std::to_string(100 + rank), "aa")));
    }
    ends.nodes.push_back(std::move(end));
  }
  return ends;
}

Evidence HeadOf(const GangEnds& ends) { return ends.nodes[0]->evidence; }

const Finding* Find(const Evidence& evidence, std::string_view code) {
  const auto found = std::ranges::find(evidence.remarks, code, &Finding::code);
  return found == evidence.remarks.end() ? nullptr : &*found;
}

TEST(GangMerge, FactsThatAreEqualOnAllNodesAreWrittenOnce) {
  const GangEnds ends = TwoByTwo();
  Evidence evidence = HeadOf(ends);
  EXPECT_FALSE(MergeEnds(ends, &evidence));
  EXPECT_TRUE(evidence.outcome.Succeeded());
  EXPECT_THAT(evidence.obstacle, IsEmpty());
  EXPECT_DOUBLE_EQ(Seconds(evidence.outcome.cpu).count(), 4.0);
  EXPECT_DOUBLE_EQ(Seconds(evidence.outcome.wall).count(), 1.0);
  EXPECT_EQ(evidence.outcome.peak_memory_bytes, 7U) << "of a node, its tasks together";
  ASSERT_TRUE(evidence.gang.has_value());
  ASSERT_EQ(evidence.gang->nodes.size(), 2U);
  EXPECT_FALSE(evidence.gang->nodes[1].environment.has_value());
  ASSERT_EQ(evidence.gang->ranks.size(), 4U);
  EXPECT_EQ(evidence.gang->ranks[3].node, 1);
  ASSERT_TRUE(evidence.gang->ranks[3].seeds.has_value());
  EXPECT_EQ(evidence.gang->ranks[3].seeds->at("torch.manual_seed").front(), "103");
  EXPECT_FALSE(evidence.gang->ranks[3].libraries.has_value());
  EXPECT_EQ(evidence.observation->seeds.at("torch.manual_seed").front(), "100");
  EXPECT_EQ(Find(evidence, "nodes_differ"), nullptr);
}

TEST(GangMerge, ALibraryThatOneRankAloneHasIsNamedByRankAndHost) {
  GangEnds ends = TwoByTwo();
  ends.nodes[1]->tasks[1] = Task(3, Seen("103", "bb"));
  Evidence evidence = HeadOf(ends);
  EXPECT_FALSE(MergeEnds(ends, &evidence));
  const Finding* found = Find(evidence, "nodes_differ");
  ASSERT_NE(found, nullptr);
  EXPECT_THAT(found->message, HasSubstr("rank 3 on n2"));
  EXPECT_THAT(found->message, HasSubstr("libblas.so.3"));
  EXPECT_FALSE(found->layer.has_value()) << "a remark with a layer decides";
  ASSERT_TRUE(evidence.gang->ranks[3].libraries.has_value());
}

TEST(GangMerge, AnEnvironmentThatDiffersIsKeptAndNamedByNode) {
  GangEnds ends = TwoByTwo();
  ends.nodes[1]->evidence.environment.software["glibc"] = "2.31";
  Evidence evidence = HeadOf(ends);
  EXPECT_FALSE(MergeEnds(ends, &evidence));
  ASSERT_TRUE(evidence.gang->nodes[1].environment.has_value());
  const Finding* found = Find(evidence, "nodes_differ");
  ASSERT_NE(found, nullptr);
  EXPECT_THAT(found->message, HasSubstr("node 1 (n2) has software.glibc 2.31"));
}

// One command on node 0, and a node that only watched.
GangEnds Once(const std::string& build_id) {
  GangEnds ends{.nodes = {}, .first = {}, .hosts = {"n1", "n2"}, .tasks = 2};
  ends.start = GangStart::kOnce;
  for (int node = 0; node < 2; ++node) {
    PartEnd end;
    end.evidence.environment.software["glibc"] = "2.36";
    end.tasks.push_back(Task(node, Seen("100", node == 0 ? "aa" : build_id)));
    ends.nodes.push_back(std::move(end));
  }
  ends.nodes[0]->evidence.environment.python.emplace().version = "3.11";
  return ends;
}

TEST(GangMerge, OfOneCommandANodeIsNamedAndNoRank) {
  const GangEnds ends = Once("bb");
  Evidence evidence = HeadOf(ends);
  EXPECT_FALSE(MergeEnds(ends, &evidence));
  const Finding* library = Find(evidence, "nodes_differ");
  ASSERT_NE(library, nullptr);
  const auto named = std::ranges::find_if(evidence.remarks, [](const Finding& remark) {
    return remark.message == "node 1 (n2) has libblas.so.3 build id bb; node 0 has build id aa";
  });
  EXPECT_NE(named, evidence.remarks.end()) << library->message;
}

TEST(GangMerge, ANodeOnWhichNothingWasObservedHasNoOtherPython) {
  GangEnds ends = Once("aa");
  ends.nodes[1]->tasks[0].observation.reset();
  Evidence evidence = HeadOf(ends);
  EXPECT_FALSE(MergeEnds(ends, &evidence));
  EXPECT_EQ(Find(evidence, "nodes_differ"), nullptr);
  EXPECT_FALSE(evidence.gang->nodes[1].environment.has_value());
}

TEST(GangMerge, AFileThatOneRankAloneReadIsTheRunsAndNamesRankAndHost) {
  GangEnds ends = TwoByTwo();
  const SeenInput shared{.path = "/etc/set", .sha256 = std::string(64, 'a'), .size_bytes = 1};
  const SeenInput own{.path = "/data/other.csv", .sha256 = std::string(64, 'b'), .size_bytes = 2};
  for (auto& node : ends.nodes) {
    for (TaskEnd& task : node->tasks) task.observation->inputs = {shared};
  }
  ends.nodes[1]->tasks[1].observation->inputs->push_back(own);
  Evidence evidence = HeadOf(ends);
  MergeEnds(ends, &evidence);
  ASSERT_TRUE(evidence.observation && evidence.observation->inputs);
  ASSERT_EQ(evidence.observation->inputs->size(), 2U);
  EXPECT_EQ(evidence.observation->inputs->front().path, "/data/other.csv");
  const Finding* found = Find(evidence, kRankInput);
  ASSERT_NE(found, nullptr);
  EXPECT_THAT(found->message, HasSubstr("rank 3 on n2 read /data/other.csv"));
}

TEST(GangMerge, TheFirstFailureIsTheOutcomeWhateverOthersDidLater) {
  GangEnds ends = TwoByTwo();
  ends.nodes[0]->tasks[0].outcome = Exited(1);  // its peer was gone
  ends.nodes[1]->tasks[0].outcome = Exited(7);
  ends.nodes[1]->tasks[1].stopped = true;
  ends.nodes[1]->tasks[1].outcome.kind = OutcomeKind::kCancelled;
  ends.first = FirstFailure{
      .node = 1, .rank = 2, .host = "n2", .outcome = Exited(7), .last_line = "ValueError: no data"};
  Evidence evidence = HeadOf(ends);
  EXPECT_FALSE(MergeEnds(ends, &evidence));
  EXPECT_EQ(evidence.outcome.exit_code, 7);
  const Finding* found = Find(evidence, kRankFailed);
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->message,
            "rank 2 on n2 exited with 7: ValueError: no data; it was the first to fail");
  EXPECT_EQ(evidence.gang->ranks[3].outcome, "stopped with the others");
}

TEST(GangMerge, ATimeOutNamesTheRanksThatStillRanTheMostSilentFirst) {
  GangEnds ends = TwoByTwo();
  const auto still = [&](std::size_t node, std::size_t task, int seconds, const char* line) {
    TaskEnd& end = ends.nodes[node]->tasks[task];
    end.outcome.kind = OutcomeKind::kTimedOut;
    end.outcome.wall = std::chrono::seconds(60);
    end.silence = std::chrono::seconds(seconds);
    end.last_line = line;
  };
  still(0, 0, 5, "step 31");
  still(1, 0, 58, "step 3");
  still(1, 1, 59, "");
  ends.nodes[1]->tasks[1].stopped = true;
  ends.nodes[1]->tasks[1].outcome.kind = OutcomeKind::kCancelled;
  ends.first = FirstFailure{.node = 0,
                            .rank = 0,
                            .host = "n1",
                            .outcome = ends.nodes[0]->tasks[0].outcome,
                            .last_line = "step 31"};
  Evidence evidence = HeadOf(ends);
  EXPECT_FALSE(MergeEnds(ends, &evidence));
  EXPECT_EQ(evidence.outcome.kind, OutcomeKind::kTimedOut);
  const Finding* found = Find(evidence, kRankFailed);
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(
      found->message,
      "the run timed out after 1 min 0 s; ranks 0, 2-3 of 4 still ran; rank 3 on n2 had printed "
      "nothing for 59 s, and nothing before; rank 2 on n2 had printed nothing for 58 s, "
      "since \"step 3\"; rank 0 on n1 had printed nothing for 5.0 s, since \"step 31\"");
}

TEST(GangMerge, ALostNodeIsInfrastructureEvenIfTheOthersFailedByThemselves) {
  GangEnds ends = TwoByTwo();
  ends.nodes[1].reset();
  ends.nodes[0]->tasks[0].outcome = Exited(1);
  ends.first = FirstFailure{
      .node = 0, .rank = 0, .host = "n1", .outcome = Exited(1), .last_line = "connection reset"};
  Evidence evidence = HeadOf(ends);
  EXPECT_TRUE(MergeEnds(ends, &evidence));
  EXPECT_THAT(evidence.obstacle, HasSubstr("node 1 (n2) fell silent"));
  EXPECT_FALSE(evidence.obstacle_layer.has_value());
  const Finding* found = Find(evidence, kNodeLost);
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->subject, "n2");
}

TEST(GangMerge, RanksKeepTheirNumbersWhereANodeIsLost) {
  GangEnds ends = TwoByTwo();
  ends.nodes.insert(ends.nodes.begin() + 1, std::nullopt);
  ends.hosts = {"n1", "n2", "n3"};
  ends.tasks = 6;
  ends.nodes[2]->tasks = {Task(4, Seen("104", "aa")), Task(5, Seen("105", "aa")),
                          Task(999'999'999, Seen("1", "aa"))};  // of no run of six
  Evidence evidence = HeadOf(ends);
  EXPECT_TRUE(MergeEnds(ends, &evidence));
  ASSERT_EQ(evidence.gang->ranks.size(), 6U);
  EXPECT_EQ(evidence.gang->ranks[2].outcome, "not known");
  EXPECT_EQ(evidence.gang->ranks[4].node, 2);
  EXPECT_EQ(evidence.gang->ranks[4].seeds->at("torch.manual_seed").front(), "104");
}

TEST(GangMerge, AnObstacleOfOneNodeIsThatOfTheRerunWithItsLayer) {
  GangEnds ends = TwoByTwo();
  ends.nodes[1]->evidence.obstacle = "the data changed";
  ends.nodes[1]->evidence.obstacle_layer = Layer::kData;
  Evidence evidence = HeadOf(ends);
  EXPECT_FALSE(MergeEnds(ends, &evidence));
  EXPECT_EQ(evidence.obstacle, "node 1 (n2): the data changed");
  EXPECT_EQ(evidence.obstacle_layer, Layer::kData);
}

TEST(GangMerge, WhatSrunSaysOfItsStepIsFinalOnlyWhereItGaveUp) {
  EXPECT_THAT(ReadStepLog("rharness: info: node 1 is ready\n").why, IsEmpty());
  const StepWord waits = ReadStepLog(
      "srun: Job 12 step creation temporarily disabled, retrying (Requested nodes are busy)\n");
  EXPECT_THAT(waits.why, HasSubstr("Requested nodes are busy"));
  EXPECT_FALSE(waits.is_final);
  const StepWord failed = ReadStepLog(
      "error: ticket.json: cannot open\nsrun: error: n2: task 0: Exited with exit code 4\n"
      "srun: ended with 4\n");
  EXPECT_EQ(failed.why,
            "srun: error: n2: task 0: Exited with exit code 4 (error: ticket.json: cannot open)");
  EXPECT_TRUE(failed.is_final);
  EXPECT_TRUE(ReadStepLog("srun: ended with 0").is_final);
}

TEST(GangMerge, AnAddressInUseIsThatOfTheChosenPortOnlyWithAProof) {
  const char* torch =
      "RuntimeError: The server socket has failed to bind to [::]:4711 (errno: 98 - Address "
      "already in use).";
  const char* python = "OSError: [Errno 98] Address already in use";
  EXPECT_TRUE(FailedByPort(torch, 4711, false));
  EXPECT_FALSE(FailedByPort(torch, 29500, false)) << "a port of the program's own";
  EXPECT_FALSE(FailedByPort(python, 4711, false));
  EXPECT_TRUE(FailedByPort(python, 4711, true));
  EXPECT_FALSE(FailedByPort("ValueError: no data on 4711", 4711, true));
  const Descriptor taker(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  const int port = FreePort().value();
  EXPECT_FALSE(IsPortTaken(port));
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  ASSERT_EQ(::bind(taker.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  ASSERT_EQ(::listen(taker.get(), 1), 0);
  EXPECT_TRUE(IsPortTaken(port));
}

TEST(GangMerge, WhyAGangCannotStartNamesTheNode) {
  NodeReady fine;
  NodeReady blocked;
  blocked.machine.host = "b";
  blocked.machine.node = "n2";
  blocked.obstacle = "has 1 GPU; expected 2";
  blocked.layer = Layer::kHardware;
  EXPECT_THAT(WhyNotReady({fine, fine}).obstacle, IsEmpty());
  const NodeReady why = WhyNotReady({fine, blocked});
  EXPECT_EQ(why.obstacle, "node 1 (n2): has 1 GPU; expected 2");
  EXPECT_EQ(why.layer, Layer::kHardware);
}

TEST(GangMerge, NotesOfNodesReadBackAsTheyWereWritten) {
  const GangEnds ends = TwoByTwo();
  PartEnd end = *ends.nodes[1];
  end.evidence.run_id = "r";
  end.evidence.rerun = 1;
  end.infrastructure = true;
  const auto read = ParsePartEnd(ToJson(end), "end-1.json");
  ASSERT_TRUE(read.ok()) << read.error().ToString();
  EXPECT_EQ(ToJson(*read).Dump(), ToJson(end).Dump());
}

}  // namespace
}  // namespace rharness
