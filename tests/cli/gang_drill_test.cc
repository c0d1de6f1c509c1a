// A run of several tasks, recorded and drilled on this machine.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <filesystem>
#include <string>

#include "harness/base/descriptor.h"
#include "harness/base/files.h"
#include "harness/base/subprocess.h"
#include "harness/execution/rerun/ports.h"
#include "harness/records/manifest/evidence.h"
#include "tests/cli/gang_program.h"
#include "tests/cli/record_finds.h"
#include "tests/sanitized.h"

namespace rharness {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

class GangDrill : public RecordFinds {
 protected:
  void SetUp() override {
    RecordFinds::SetUp();
    WriteProgram("");
    Write("data.csv", "0.5");
  }
  // The program with a line of its own before it draws.
  void WriteProgram(const std::string& line) const { Write("train.py", GangProgram(line)); }
  fs::path At(const std::string& name) const { return RecordFinds::At("project/" + name); }
  ProcessResult Record() const {
    return RecordFinds::Record({"--nodes", "2", "--tasks-per-node", "2", "--out", "runs/a.json"});
  }
  ProcessResult Drill() const {
    return Run({RHARNESS_BIN_DIR "/rharness", "drill", "runs", "--cpus", "4"});
  }
  Evidence TheEvidence() const {
    const auto evidence = LoadEvidence(At("drill/runs/a/1/evidence.json"));
    EXPECT_TRUE(evidence.ok()) << evidence.error().ToString();
    return evidence.ok() ? *evidence : Evidence();
  }
};

TEST_F(GangDrill, ARunOfTwoTimesTwoTasksIsOneRecordAndComesBackBitForBit) {
  const ProcessResult recorded = Record();
  ASSERT_EQ(recorded.outcome.exit_code, 0) << recorded.stderr_text;
  const auto manifest = LoadManifest(At("runs/a.json"));
  ASSERT_TRUE(manifest.ok()) << manifest.error().ToString();
  ASSERT_TRUE(manifest->gang.has_value());
  const Gang& gang = *manifest->gang;
  EXPECT_EQ(gang.nodes, 2);
  EXPECT_EQ(gang.tasks_per_node, 2);
  EXPECT_EQ(gang.start, GangStart::kPerTask);
  EXPECT_EQ(gang.workspace, GangWorkspace::kShared);
  EXPECT_THAT(gang.rendezvous, Contains("MASTER_PORT"));
  ASSERT_EQ(gang.parts.ranks.size(), 4U);
  ASSERT_TRUE(gang.parts.ranks[3].seeds.has_value()) << "its seed is 103";
  EXPECT_FALSE(gang.parts.nodes[1].environment.has_value()) << "it is the same machine";
  EXPECT_FALSE(fs::exists(At("runs/a.json.parts")));
  const ProcessResult drilled = Drill();
  EXPECT_EQ(drilled.outcome.exit_code, 0) << drilled.stdout_text << drilled.stderr_text;
  EXPECT_THAT(drilled.stdout_text, HasSubstr("identical"));
  const Evidence evidence = TheEvidence();
  ASSERT_TRUE(evidence.gang.has_value());
  EXPECT_EQ(evidence.gang->ranks.size(), 4U);
  EXPECT_FALSE(fs::exists(At("drill/gang/a.1.1"))) << "the nodes' folder is removed";
}

TEST_F(GangDrill, TheSeedThatChangedOnOneRankIsNamedByItsRank) {
  WriteProgram(
      "if os.environ.get('OTHER') == str(rank):\n"
      "    set_seed = random.seed\n"
      "    random.seed = lambda value: set_seed(value + 900)");
  ASSERT_EQ(Record().outcome.exit_code, 0);
  const ProcessResult drilled =
      Run({RHARNESS_BIN_DIR "/rharness", "drill", "runs", "--cpus", "4", "--env", "OTHER=2", "-v"});
  EXPECT_EQ(drilled.outcome.exit_code, 1) << drilled.stdout_text << drilled.stderr_text;
  EXPECT_THAT(drilled.stdout_text, HasSubstr("random.seed on rank 2"));
  EXPECT_THAT(drilled.stdout_text, HasSubstr("1002"));
}

TEST_F(GangDrill, TheRankThatFailsFirstIsTheCauseAndItsLastLineIsSaid) {
  WriteProgram(
      "if rank == 3 and os.path.exists('/tmp/none') is False and "
      "os.environ.get('HOME', '').endswith('workspace'): sys.exit('rank three is ill')");
  ASSERT_EQ(Record().outcome.exit_code, 0);
  const ProcessResult drilled = Drill();
  EXPECT_EQ(drilled.outcome.exit_code, 4) << drilled.stdout_text << drilled.stderr_text;
  EXPECT_THAT(drilled.stdout_text, HasSubstr("rank 3 on"));
  const Evidence evidence = TheEvidence();
  EXPECT_EQ(evidence.outcome.exit_code, 1);
  const auto failed = std::ranges::find(evidence.remarks, "rank_failed", &Finding::code);
  ASSERT_NE(failed, evidence.remarks.end());
  EXPECT_THAT(failed->message, HasSubstr("rank 3 on"));
  EXPECT_THAT(failed->message, HasSubstr("rank three is ill"));
  ASSERT_TRUE(evidence.gang.has_value());
  EXPECT_EQ(evidence.gang->ranks[0].outcome, "stopped with the others");
}

TEST_F(GangDrill, ChangedDataAreSaidAndNoCrash) {
  ASSERT_EQ(Record().outcome.exit_code, 0);
  Write("data.csv", "0.75");
  const ProcessResult drilled = Drill();
  EXPECT_EQ(drilled.outcome.exit_code, 3) << drilled.stdout_text << drilled.stderr_text;
  EXPECT_THAT(drilled.stdout_text, HasSubstr("not comparable"));
  EXPECT_FALSE(fs::exists(At("drill/gang")));
}

TEST_F(GangDrill, ARecordingEndsWithTheFirstRankThatFailsAndNamesIt) {
  WriteProgram("if rank == 2: sys.exit('rank two is ill')\ntime.sleep(0 if rank == 0 else 600)");
  const ProcessResult recorded = Record();
  EXPECT_EQ(recorded.outcome.exit_code, 4) << recorded.stderr_text;
  EXPECT_LT(Seconds(recorded.outcome.wall).count(), 60.0);
  EXPECT_THAT(recorded.stderr_text, HasSubstr("rank 2 on"));
  EXPECT_THAT(recorded.stderr_text, HasSubstr("exited with 1"));
  EXPECT_FALSE(fs::exists(At("runs/a.json")));
  EXPECT_FALSE(fs::exists(At("runs/a.json.parts")));
}

TEST_F(GangDrill, APartOfAnEarlierRecordingIsNone) {
  const auto task = [&](const char* rank) {
    return Run({"env", std::string("RANK=") + rank, "WORLD_SIZE=2", RHARNESS_BIN_DIR "/rharness",
                "record", "--out", "runs/a.json", "--code-file", "train.py", "--", "true"});
  };
  ASSERT_EQ(task("1").outcome.exit_code, 0);
  ASSERT_TRUE(fs::exists(At("runs/a.json.parts/1.json")));
  const ProcessResult head = task("0");
  EXPECT_EQ(head.outcome.exit_code, 4) << head.stderr_text;
  EXPECT_THAT(head.stderr_text, HasSubstr("is of an earlier recording"));
}

TEST_F(GangDrill, ThePortIsOneOfTheRangeThatASiteGives) {
  // Two that nobody has now, one after the other; the first is taken meanwhile.
  int port = 0;
  do {
    port = FreePort().value();
  } while (port > 65000 || IsPortTaken(port + 1));
  WriteProgram(
      fmt::format("if os.environ['HOME'].endswith('workspace') and place[1] != {}: "
                  "sys.exit('met at %d' % place[1])",
                  port + 1));
  ASSERT_EQ(Record().outcome.exit_code, 0);
  const Descriptor taker(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  ASSERT_EQ(::bind(taker.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  ASSERT_EQ(::listen(taker.get(), 1), 0);
  const auto drill = [&](const std::string& out, const std::string& ports) {
    return Run({RHARNESS_BIN_DIR "/rharness", "drill", "runs", "--cpus", "4", "--attempts", "1",
                "--out", out, "--ports", ports});
  };
  const ProcessResult drilled = drill("in", fmt::format("{}-{}", port, port + 1));
  EXPECT_EQ(drilled.outcome.exit_code, 0) << drilled.stdout_text << drilled.stderr_text;
  const ProcessResult full = drill("full", std::to_string(port));
  EXPECT_EQ(full.outcome.exit_code, 4) << full.stdout_text << full.stderr_text;
  EXPECT_THAT(full.stdout_text, HasSubstr(fmt::format("no port of {0}-{0} is free on", port)));
  EXPECT_EQ(drill("bad", "1-2").outcome.exit_code, 2);
}

// Each of the two tasks of a node holds a hundred MiB.
TEST_F(GangDrill, TheLimitOfMemoryIsThatOfANode) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer's shadow memory counts, too";
  WriteProgram(
      "if os.environ['HOME'].endswith('workspace'):\n"
      "    ballast = b'x' * (100 << 20)\n"
      "    time.sleep(1)");
  ASSERT_EQ(Record().outcome.exit_code, 0);
  const auto drill = [&](const std::string& memory) {
    fs::remove_all(At("drill"));
    return Run(
        {RHARNESS_BIN_DIR "/rharness", "drill", "runs", "--cpus", "4", "--rerun-memory", memory});
  };
  const ProcessResult tight = drill("180MiB");
  EXPECT_EQ(tight.outcome.exit_code, 4) << tight.stdout_text << tight.stderr_text;
  EXPECT_EQ(TheEvidence().outcome.kind, OutcomeKind::kMemoryLimit);
  EXPECT_THAT(TheEvidence().outcome.detail, HasSubstr("the other tasks of its node"));
  const ProcessResult roomy = drill("400MiB");
  EXPECT_EQ(roomy.outcome.exit_code, 0) << roomy.stdout_text << roomy.stderr_text;
  EXPECT_GT(TheEvidence().outcome.peak_memory_bytes, std::uint64_t{200} << 20) << "of a node";
}

TEST_F(GangDrill, WhatNcclSaysThatItChoseIsAFactOfEachRank) {
  WriteProgram(
      "mark = 'host:%d:9 [0] NCCL INFO ' % os.getpid()\n"
      "said = ['NCCL version 2.21.5+cuda12.4', mark + 'Using network IB']\n"
      "if rank == 3 and os.environ.get('OTHER'): said[1] = mark + 'Using network Socket'\n"
      "log = os.environ['NCCL_DEBUG_FILE'].replace('%p', str(os.getpid()))\n"
      "with open(log, 'w') as f: f.write('\\n'.join(said))\n"
      "print('\\n'.join(said), flush=True)");
  const ProcessResult recorded =
      Run({"env", "NCCL_DEBUG=INFO", "NCCL_DEBUG_FILE=nccl.%p", RHARNESS_BIN_DIR "/rharness",
           "record", "--nodes", "2", "--tasks-per-node", "2", "--out", "runs/a.json", "--",
           "python3", "train.py"});
  ASSERT_EQ(recorded.outcome.exit_code, 0) << recorded.stderr_text;
  const auto manifest = LoadManifest(At("runs/a.json"));
  ASSERT_TRUE(manifest.ok()) << manifest.error().ToString();
  ASSERT_TRUE(manifest->observation.has_value());
  EXPECT_EQ(manifest->observation->nccl.at("network"), "IB");
  EXPECT_EQ(manifest->observation->nccl.at("version"), "2.21.5+cuda12.4");
  const ProcessResult drilled = Run({RHARNESS_BIN_DIR "/rharness", "drill", "runs", "--cpus", "4",
                                     "--env", "OTHER=1", "--env", "NCCL_DEBUG_FILE=/dev/null"});
  EXPECT_EQ(drilled.outcome.exit_code, 0) << drilled.stdout_text << drilled.stderr_text;
  const Evidence evidence = TheEvidence();
  EXPECT_EQ(evidence.observation->nccl.at("network"), "IB");
  ASSERT_TRUE(evidence.gang->ranks[3].nccl.has_value());
  EXPECT_EQ(evidence.gang->ranks[3].nccl->at("network"), "Socket");
  const auto told = std::ranges::find_if(evidence.remarks, [](const Finding& remark) {
    return remark.code == "nodes_differ" &&
           remark.message.find("has NCCL's network Socket; rank 0 has IB") != std::string::npos;
  });
  EXPECT_NE(told, evidence.remarks.end());
}

}  // namespace
}  // namespace rharness
