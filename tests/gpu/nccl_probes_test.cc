// The probes of NCCL from end to end, on a false machine of four devices whose NCCL adds as
// fake_nccl.cc says: a tree of pairs up to 32 KiB, else a ring of two channels.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/gpu/test_probe.h"

namespace rharness {
namespace {

bool Contains(const std::vector<std::string>& texts, std::string_view part) {
  return std::ranges::any_of(
      texts, [&](const std::string& text) { return text.find(part) != std::string::npos; });
}

TEST(NcclChoice, RecordsWhatTheLogSaysForEverySize) {
  const ProbeResult result = RunOnFakes("nccl_choice", 2);
  ASSERT_EQ(result.status, ProbeStatus::kOk) << result.message;
  EXPECT_EQ(result.choices.at("all_reduce fp32 32768 bytes").Dump(),
            R"({"algorithm":"TREE","protocol":"LL","channels":"0..0"})");
  EXPECT_EQ(result.choices.at("all_reduce fp32 65536 bytes").Dump(),
            R"({"algorithm":"RING","protocol":"SIMPLE","channels":"0..1"})");
  // A rank's share is a quarter.
  EXPECT_EQ(result.choices.at("reduce_scatter fp32 131072 bytes").Dump(),
            R"({"algorithm":"TREE","protocol":"LL","channels":"0..0"})");
  EXPECT_EQ(result.choices.at("ranks").Dump(), R"({"ranks":4,"devices":4})");
  EXPECT_EQ(result.libraries.at("libnccl.so.2").Find("version")->AsString(), "2.28.9");
  EXPECT_TRUE(result.unstable.empty());
  // The devices have room for 2^25 bytes at a time: 18 sizes of three collectives.
  EXPECT_TRUE(Contains(result.notes, "no room for 67108864 bytes"));
  EXPECT_EQ(result.choices.size(), 1u + 3u * 18u);
  EXPECT_EQ(result.counts.at("sizes without a line in the log"), 0u);
}

TEST(NcclChoice, SaysThatTheLogIsSilent) {
  const ScopedVariable fault("FAKE_NCCL", "silent"), room("FAKE_GPU_BYTES", "2097152");
  const ProbeResult result = RunOnFakes("nccl_choice");
  ASSERT_EQ(result.status, ProbeStatus::kOk) << result.message;
  EXPECT_EQ(result.choices.size(), 1u);
  EXPECT_TRUE(Contains(result.notes, "42 sizes without a line in the log"));
}

TEST(NcclChoice, LeavesTheVariablesOfTheLogAsTheyWere) {
  const ScopedVariable debug("NCCL_DEBUG", "WARN"), room("FAKE_GPU_BYTES", "2097152");
  ::unsetenv("NCCL_DEBUG_FILE");
  EXPECT_EQ(RunOnFakes("nccl_choice").status, ProbeStatus::kOk);
  EXPECT_STREQ(std::getenv("NCCL_DEBUG"), "WARN");
  EXPECT_EQ(std::getenv("NCCL_DEBUG_FILE"), nullptr);
}

TEST(NcclProbes, RunTheCallsOfOneDeviceWhichAddNothing) {
  const ScopedVariable one("FAKE_GPUS", "1");
  for (const char* name : {"nccl_choice", "nccl_tree", "nccl_bits"}) {
    const ProbeResult result = RunOnFakes(name);
    ASSERT_EQ(result.status, ProbeStatus::kOk) << result.message;
    EXPECT_EQ(result.choices.at("one rank").Dump(), R"({"gives back what is sent":true})");
    EXPECT_EQ(result.libraries.at("libnccl.so.2").Find("version")->AsString(), "2.28.9");
    EXPECT_EQ(result.bits.size(), std::string_view(name) == "nccl_bits" ? 9u : 0u);
    EXPECT_TRUE(result.trees.empty());
    EXPECT_TRUE(Contains(result.notes, "NCCL adds nothing")) << name;
  }
}

TEST(NcclProbes, PutTwoRanksOnOneDeviceWhereTheLibraryAndTheUserAllowIt) {
  const ScopedVariable one("FAKE_GPUS", "1"), asked("NCCL_MULTI_RANK_GPU_ENABLE", "1");
  const ScopedVariable room("FAKE_GPU_BYTES", "4194304");
  EXPECT_EQ(RunOnFakes("nccl_choice").choices.size(), 2u);
  const ScopedVariable version("FAKE_NCCL_VERSION", "23007");
  const ProbeResult result = RunOnFakes("nccl_choice");
  ASSERT_EQ(result.status, ProbeStatus::kOk) << result.message;
  EXPECT_EQ(result.choices.at("ranks").Dump(), R"({"ranks":2,"devices":1,"representative":false})");
  EXPECT_EQ(result.choices.at("all_reduce fp32 256 bytes").Dump(),
            R"({"algorithm":"TREE","protocol":"LL","channels":"0..0","representative":false})");
  EXPECT_TRUE(Contains(result.notes, "stands for no real machine"));
  const ProbeResult bits = RunOnFakes("nccl_bits");
  EXPECT_EQ(bits.status, ProbeStatus::kOk) << bits.message;
}

TEST(NcclProbes, FailWithTheLibrarysWords) {
  const ScopedVariable fault("FAKE_NCCL", "fails");
  for (const char* name : {"nccl_choice", "nccl_tree", "nccl_bits"}) {
    const ProbeResult result = RunOnFakes(name);
    EXPECT_EQ(result.status, ProbeStatus::kFailed);
    EXPECT_NE(result.message.find("ncclCommInitAll: unhandled cuda error: planted by the test"),
              std::string::npos)
        << result.message;
  }
}

TEST(NcclTree, FindsTheTreeOfSmallSumsAndTheRingOfLargeOnes) {
  const ProbeResult result = RunOnFakes("nccl_tree", 2);
  ASSERT_EQ(result.status, ProbeStatus::kOk) << result.message;
  EXPECT_TRUE(result.unstable.empty());
  EXPECT_TRUE(result.notes.empty()) << result.notes.front();
  for (const std::string type : {"fp32", "bf16"}) {
    EXPECT_EQ(result.trees.at(type + " 1024 bytes, order 0").Canonical(), "((0 1) (2 3))");
    EXPECT_FALSE(result.trees.contains(type + " 1024 bytes, order 1"));
    EXPECT_EQ(result.trees.at(type + " 65536 bytes, order 0").Canonical(), "(((0 1) 2) 3)");
    EXPECT_EQ(result.trees.at(type + " 65536 bytes, order 1").Canonical(), "(0 ((1 2) 3))");
    EXPECT_EQ(result.trees.at(type + " 65536 bytes, order 2").Canonical(), "((0 (2 3)) 1)");
    EXPECT_EQ(result.trees.at(type + " 65536 bytes, order 3").Canonical(), "(((0 3) 1) 2)");
  }
  const Json& ring = result.choices.at("fp32 65536 bytes");
  EXPECT_EQ(ring.Find("algorithm")->AsString(), "RING");
  EXPECT_EQ(ring.Find("orders")->Dump(), "4");
  // 16,384 elements in two channels of four chunks.
  EXPECT_EQ(ring.Find("offsets")->AsArray().size(), 8u);
  EXPECT_EQ(ring.Find("offsets")->AsArray()[1].AsString(), "2048..4095: order 1");
  EXPECT_EQ(ring.Find("offsets")->AsArray()[4].AsString(), "8192..10239: order 0");
}

TEST(NcclTree, IsUnstableWhenTheOrderDependsOnWhatWasMadeBefore) {
  const ScopedVariable fault("FAKE_NCCL", "history");
  const ProbeResult result = RunOnFakes("nccl_tree");
  ASSERT_EQ(result.status, ProbeStatus::kOk) << result.message;
  EXPECT_TRUE(Contains(result.unstable, "fp32 65536 bytes"));
  EXPECT_TRUE(Contains(result.unstable, "fp32 65536 bytes, order 3"));
  EXPECT_FALSE(Contains(result.unstable, "fp32 1024 bytes"));
  EXPECT_TRUE(Contains(result.notes,
                       "in a communicator after sub-communicators: offset 0 was "
                       "(((0 1) 2) 3), is (((0 3) 2) 1)"))
      << result.notes.front();
}

TEST(NcclTree, HasNoTreeWhereTheOrderIsNotFixed) {
  const ScopedVariable fault("FAKE_NCCL", "restless");
  const ProbeResult result = RunOnFakes("nccl_tree", 2);
  ASSERT_EQ(result.status, ProbeStatus::kOk) << result.message;
  EXPECT_TRUE(Contains(result.unstable, "fp32 65536 bytes"));
  EXPECT_FALSE(result.trees.contains("fp32 65536 bytes, order 0"));
  EXPECT_TRUE(result.trees.contains("fp32 1024 bytes, order 0"));
  EXPECT_TRUE(Contains(result.notes, "fp32 65536 bytes: tree not revealed: the same masks"));
}

TEST(NcclTree, FailsWhenRanksHoldDifferentSums) {
  const ScopedVariable fault("FAKE_NCCL", "unequal");
  const ProbeResult result = RunOnFakes("nccl_tree");
  EXPECT_EQ(result.status, ProbeStatus::kFailed);
  EXPECT_EQ(result.message, "fp32 1024 bytes: ranks 0 and 3 hold different sums at offset 255");
}

TEST(NcclBits, AreOfEveryTypeAndSizeAndAlikeOnAllRanks) {
  const ProbeResult result = RunOnFakes("nccl_bits", 2);
  ASSERT_EQ(result.status, ProbeStatus::kOk) << result.message;
  EXPECT_EQ(result.bits.size(), 9u);
  EXPECT_TRUE(result.unstable.empty());
  EXPECT_EQ(result.choices.at("ranks hold the same bits, bf16 65536").Dump(), R"({"equal":true})");
}

TEST(NcclBits, ChangeWithTheOrderOfAddition) {
  const ScopedVariable fault("FAKE_NCCL", "history");
  const ProbeResult result = RunOnFakes("nccl_bits");
  ASSERT_EQ(result.status, ProbeStatus::kOk) << result.message;
  EXPECT_TRUE(Contains(result.unstable, "fp32 1000003"));
  EXPECT_TRUE(Contains(result.unstable, "bf16 65536"));
  EXPECT_FALSE(Contains(result.unstable, "fp32 1024"));
  EXPECT_TRUE(Contains(result.notes, "other bits in a communicator after sub-communicators"));
}

TEST(NcclBits, FailWhenRanksHoldDifferentSumsOrWrongOnes) {
  {
    const ScopedVariable fault("FAKE_NCCL", "unequal");
    const ProbeResult result = RunOnFakes("nccl_bits");
    EXPECT_EQ(result.status, ProbeStatus::kFailed);
    EXPECT_EQ(result.message, "fp32 1024: ranks 0 and 3 hold different sums at offset 1023");
  }
  const ScopedVariable fault("FAKE_NCCL", "wrong");
  const ProbeResult result = RunOnFakes("nccl_bits");
  EXPECT_EQ(result.status, ProbeStatus::kFailed);
  EXPECT_NE(result.message.find("fp32 1024: the sum at offset 0 is "), std::string::npos)
      << result.message;
}

}  // namespace
}  // namespace rharness
