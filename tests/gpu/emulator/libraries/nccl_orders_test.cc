// The probes of NCCL find the orders that the emulated library states, with one rank and more.
#include "tests/gpu/emulator/libraries/emulated_probe.h"

namespace rharness {
namespace {

const Changes kFour = {{"EMULATED_DEVICES", "4"}};

TEST(EmulatedNccl, AddsInATreeAndInTwoRingsOfFourRanks) {
  const ProbeResult result = ExpectOk("nccl_tree", kFour);
  EXPECT_TRUE(result.unstable.empty());
  for (const std::string type : {"fp32", "bf16"}) {
    // 0 takes 1, which has taken 3, and then 2.
    EXPECT_EQ(result.trees.at(type + " 1024 bytes, order 0").Canonical(), "((0 (1 3)) 2)");
    EXPECT_FALSE(result.trees.contains(type + " 1024 bytes, order 1"));
    // Chunks of the first half begin one rank up and go up; of the second, one down and down.
    const std::vector<std::string> rings = {"(0 ((1 2) 3))", "((0 (2 3)) 1)", "(((0 3) 1) 2)",
                                            "(((0 1) 2) 3)", "(0 (1 (2 3)))", "(((0 3) 2) 1)",
                                            "(((0 1) 3) 2)", "((0 (1 2)) 3)"};
    for (std::size_t order = 0; order < rings.size(); ++order) {
      const std::string name = type + " 65536 bytes, order " + std::to_string(order);
      EXPECT_EQ(result.trees.at(name).Canonical(), rings[order]) << name;
    }
  }
  const Json& ring = result.choices.at("fp32 65536 bytes");
  EXPECT_EQ(ring.Find("algorithm")->AsString(), "RING");
  EXPECT_EQ(ring.Find("offsets")->AsArray()[1].AsString(), "2048..4095: order 1");
  EXPECT_EQ(result.choices.at("fp32 1024 bytes").Find("algorithm")->AsString(), "TREE");
}

TEST(EmulatedNccl, HasEqualBitsOnEveryRank) {
  const ProbeResult result = ExpectOk("nccl_bits", {{"EMULATED_DEVICES", "3"}});
  EXPECT_EQ(result.bits.size(), 9u);
  EXPECT_TRUE(result.unstable.empty());
}

TEST(EmulatedNccl, LogsWhatItChoosesByItsSize) {
  Changes changes = kFour;
  changes.push_back({"EMULATED_BYTES", "8388608"});
  const ProbeResult result = ExpectOk("nccl_choice", changes);
  EXPECT_EQ(result.counts.at("sizes without a line in the log"), 0u);
  EXPECT_EQ(result.choices.at("all_reduce fp32 16384 bytes").Find("protocol")->AsString(), "LL");
  EXPECT_EQ(result.choices.at("all_reduce fp32 32768 bytes").Find("algorithm")->AsString(), "RING");
  EXPECT_EQ(result.choices.at("all_gather fp32 256 bytes").Find("algorithm")->AsString(), "RING");
}

TEST(EmulatedNccl, RunsItsCallsWithOneRank) {
  for (const char* name : {"nccl_choice", "nccl_tree", "nccl_bits"}) {
    const ProbeResult result = ExpectOk(name);
    EXPECT_EQ(result.choices.at("one rank").Dump(), R"({"gives back what is sent":true})");
    EXPECT_EQ(result.choices.at("ranks").Dump(), R"({"ranks":1,"devices":1})");
  }
}

TEST(EmulatedNccl, PutsTwoRanksOnADeviceWhereItsVersionDoes) {
  const ProbeResult result = ExpectOk("nccl_choice", {{"EMULATED_NCCL", "23007"},
                                                      {"EMULATED_BYTES", "4194304"},
                                                      {"NCCL_MULTI_RANK_GPU_ENABLE", "1"}});
  EXPECT_EQ(result.choices.at("ranks").Find("ranks")->ToInt64(), 2);
  EXPECT_TRUE(result.choices.contains("all_reduce fp32 1024 bytes"));
}

}  // namespace
}  // namespace rharness
