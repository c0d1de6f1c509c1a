// Which task a process is, and what a rerun tells it.
#include "harness/execution/rerun/rendezvous.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rharness {
namespace {

using ::testing::ElementsAre;
using ::testing::IsSupersetOf;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

// As seen in a step of `srun --nodes=2 --ntasks-per-node=2` of Slurm 22.05.
Variables TaskOfSrun() {
  return {{"SLURM_JOB_ID", "41"},          {"SLURM_STEP_ID", "0"},
          {"SLURM_PROCID", "3"},           {"SLURM_LOCALID", "1"},
          {"SLURM_NODEID", "1"},           {"SLURM_NTASKS", "4"},
          {"SLURM_STEP_NUM_TASKS", "4"},   {"SLURM_NNODES", "2"},
          {"SLURM_STEP_NUM_NODES", "2"},   {"SLURM_TASKS_PER_NODE", "2(x2)"},
          {"SLURM_JOB_NODELIST", "n[1-2]"}};
}

TEST(Rendezvous, FindsATaskOfSrun) {
  const auto place = TaskPlaceOf(TaskOfSrun());
  ASSERT_TRUE(place.has_value());
  EXPECT_EQ(place->rank, 3);
  EXPECT_EQ(place->tasks, 4);
  EXPECT_EQ(place->local_rank, 1);
  EXPECT_EQ(place->node, 1);
  EXPECT_EQ(place->nodes, 2);
  EXPECT_EQ(place->tasks_per_node(), 2);
  EXPECT_EQ(place->launcher, "srun");
  EXPECT_EQ(place->id, "41.0");
}

// Slurm gives the batch script a SLURM_PROCID too.
TEST(Rendezvous, ABatchScriptIsNoTaskAndHasAnAllocation) {
  Variables batch = TaskOfSrun();
  for (const char* name : {"SLURM_STEP_ID", "SLURM_STEP_NUM_TASKS", "SLURM_STEP_NUM_NODES"}) {
    batch.erase(name);
  }
  batch["SLURM_PROCID"] = "0";
  batch["SLURM_JOB_NUM_NODES"] = "2";
  EXPECT_FALSE(TaskPlaceOf(batch).has_value());
  EXPECT_EQ(NodesOfAllocation(batch), 2);
  EXPECT_EQ(NodesOfAllocation(TaskOfSrun()), 0);
}

TEST(Rendezvous, FindsTasksOfTorchrunAndOfMpirun) {
  const auto torch = TaskPlaceOf({{"RANK", "5"},
                                  {"WORLD_SIZE", "8"},
                                  {"LOCAL_RANK", "1"},
                                  {"LOCAL_WORLD_SIZE", "4"},
                                  {"TORCHELASTIC_RUN_ID", "none"}});
  ASSERT_TRUE(torch.has_value());
  EXPECT_EQ(torch->node, 1);
  EXPECT_EQ(torch->nodes, 2);
  EXPECT_EQ(torch->launcher, "torchrun");
  EXPECT_EQ(torch->id, "");  // torchrun's default names no run

  const auto mpi = TaskPlaceOf({{"OMPI_COMM_WORLD_RANK", "2"},
                                {"OMPI_COMM_WORLD_SIZE", "4"},
                                {"OMPI_COMM_WORLD_LOCAL_RANK", "0"},
                                {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"},
                                {"PMIX_NAMESPACE", "prterun-n1-77@1"}});
  ASSERT_TRUE(mpi.has_value());
  EXPECT_EQ(mpi->node, 1);
  EXPECT_EQ(mpi->launcher, "mpirun");
  EXPECT_EQ(mpi->id, "prterun-n1-77@1");
}

TEST(Rendezvous, NumbersThatContradictEachOtherMakeNoTask) {
  EXPECT_FALSE(TaskPlaceOf({{"RANK", "8"}, {"WORLD_SIZE", "8"}}).has_value());
  EXPECT_FALSE(TaskPlaceOf({{"RANK", "0"}, {"WORLD_SIZE", "1"}}).has_value());
  EXPECT_FALSE(TaskPlaceOf({{"RANK", "-1"}, {"WORLD_SIZE", "4"}}).has_value());
  EXPECT_FALSE(TaskPlaceOf({{"RANK", "one"}, {"WORLD_SIZE", "4"}}).has_value());
  EXPECT_FALSE(
      TaskPlaceOf({{"RANK", "0"}, {"WORLD_SIZE", "7"}, {"LOCAL_WORLD_SIZE", "2"}}).has_value());
  EXPECT_FALSE(TaskPlaceOf({{"RANK", "0"}, {"WORLD_SIZE", "999999999"}}).has_value());
}

TEST(Rendezvous, TellsEachTaskWhereItIsUnderTheRecordedNames) {
  const Gang gang{
      .nodes = 2,
      .tasks_per_node = 2,
      .start = GangStart::kPerTask,
      .workspace = {},
      .rendezvous = {"MASTER_ADDR", "MASTER_PORT", "OMPI_COMM_WORLD_RANK", "SLURM_NODEID",
                     "SLURM_NODELIST", "SLURM_TASKS_PER_NODE", "UNKNOWN_ONE", "WORLD_SIZE"},
      .parts = {}};
  const Rendezvous start{.address = "10.0.0.7", .port = 4000, .hosts = {"a", "b"}, .id = "x"};
  const TaskPlace place{
      .rank = 3, .tasks = 4, .local_rank = 1, .node = 1, .nodes = 2, .launcher = {}, .id = {}};
  EXPECT_THAT(RendezvousVariables(gang, start, place),
              UnorderedElementsAre(Pair("MASTER_ADDR", "10.0.0.7"), Pair("MASTER_PORT", "4000"),
                                   Pair("OMPI_COMM_WORLD_RANK", "3"), Pair("SLURM_NODEID", "1"),
                                   Pair("SLURM_NODELIST", "a,b"),
                                   Pair("SLURM_TASKS_PER_NODE", "2(x2)"), Pair("WORLD_SIZE", "4")));
}

TEST(Rendezvous, AHeterogeneousJobIsKnownByItsComponents) {
  Variables task = TaskOfSrun();
  EXPECT_EQ(PartsOfMixedJob(task), 0);
  task["SLURM_HET_SIZE"] = "2";
  EXPECT_EQ(PartsOfMixedJob(task), 2);
}

TEST(Rendezvous, NamesAreKeptAndOtherVariablesAreNot) {
  EXPECT_THAT(RendezvousNames({{"RANK", "1"}, {"HOME", "/x"}, {"SLURM_CPU_BIND", "q"}}),
              ElementsAre("RANK"));
  EXPECT_TRUE(IsRendezvousVariable("MASTER_PORT"));
  EXPECT_FALSE(IsRendezvousVariable("NCCL_SOCKET_IFNAME"));
}

TEST(Rendezvous, OptionsThatNameTheHeadNameTheNewOne) {
  const Rendezvous start{.address = "10.0.0.7", .port = 4000, .hosts = {"a", "b"}, .id = "x"};
  EXPECT_THAT(CommandOn({"torchrun", "--nnodes=2", "--node-rank", "0", "--master_addr=n1",
                         "--master-port", "29500", "--rdzv_endpoint=n1:29500", "--dist-url",
                         "tcp://n1:29500", "train.py", "--node_rank"},
                        start, 1),
              ElementsAre("torchrun", "--nnodes=2", "--node-rank", "1", "--master_addr=10.0.0.7",
                          "--master-port", "4000", "--rdzv_endpoint=10.0.0.7:4000", "--dist-url",
                          "tcp://10.0.0.7:4000", "train.py", "--node_rank"));
  Rendezvous of_two = start;
  of_two.hosts = {"n7", "n8"};
  of_two.id = "run.1.1";
  EXPECT_THAT(CommandOn({"torchrun", "--rdzv_id=77", "--local-addr", "n1"}, of_two, 1),
              ElementsAre("torchrun", "--rdzv_id=run.1.1", "--local-addr", "n8"));
  of_two.hosts = {"one", "one"};
  EXPECT_THAT(CommandOn({"--local_addr=n1"}, of_two, 1), ElementsAre("--local_addr=10.0.0.7"));
  EXPECT_THAT(CommandOn({"python3", "train.py", "n1:29500"}, start, 1),
              ElementsAre("python3", "train.py", "n1:29500"));
}

TEST(Rendezvous, ANodeOfARerunIsNumberedByItsStepOrIndex) {
  EXPECT_EQ(NodeOfStep({{"SLURM_NODEID", "0"}}), 1);
  EXPECT_EQ(NodeOfStep({{"JOB_COMPLETION_INDEX", "2"}}), 2);
  EXPECT_FALSE(NodeOfStep({}).has_value());
}

TEST(Rendezvous, PodsHaveTheNamesOfTheirServiceWhereTheseLeadToThem) {
  const std::vector<std::string> addresses = {"10.0.0.7", "10.0.0.8"};
  std::map<std::string, std::string> dns = {{"j-0.j", "10.0.0.7"}, {"j-1.j", "10.0.0.8"}};
  const auto resolve = [&](const std::string& name) { return dns[name]; };
  EXPECT_THAT(HostsOfPods("j", addresses, resolve), ElementsAre("j-0.j", "j-1.j"));
  EXPECT_EQ(HostsOfPods("", addresses, resolve), addresses) << "an old server";
  dns["j-1.j"] = "10.0.0.9";
  EXPECT_EQ(HostsOfPods("j", addresses, resolve), addresses) << "a pod of an earlier time";
  dns.erase("j-1.j");
  EXPECT_EQ(HostsOfPods("j", addresses, resolve), addresses) << "not known yet";
}

}  // namespace
}  // namespace rharness
