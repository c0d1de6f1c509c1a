// Whole probes on the emulated driver: what they find. What they say when a call fails is in
// libraries/failures_test.cc.
#include <gtest/gtest.h>

#include "probes/gpu/forked.h"
#include "tests/gpu/test_probe.h"

namespace rharness {
namespace {

using Changes = std::vector<VariableChange>;

// In a process of its own: a driver keeps its error until its process ends.
ProbeResult RunEmulated(std::string_view name, const Changes& changes = {}) {
  const auto run = [&]() -> ProbeResult {
    ProbeContext context{.device = "cuda:0", .repeats = 1};
    context.library_paths = {EMULATOR_DIR, std::string(FAKE_CUDA_DIR) + "/working"};
    for (const Probe& probe : Probes()) {
      if (probe.name == name) return probe.run(context);
    }
    Abort("no such probe");
  };
  auto result = RunForked(changes, run);
  return result.ok() ? std::move(*result) : FailedProbe(result.error().ToString());
}

ProbeResult ExpectOk(std::string_view name, const Changes& changes = {}) {
  ProbeResult result = RunEmulated(name, changes);
  EXPECT_EQ(result.status, ProbeStatus::kOk) << name << ": " << result.message;
  EXPECT_FALSE(result.counts.contains("failed cases")) << name;
  return result;
}

TEST(EmulatedProbes, HaveTheTreesOfTheirSource) {
  const ProbeResult result = ExpectOk("own_reduce_tree_cuda");
  EXPECT_EQ(result.trees.size(), 3u);
}

TEST(EmulatedProbes, MeasureEveryFunctionAndConversionAlikeInEveryOrder) {
  const ProbeResult math = ExpectOk("math_bits_cuda", {{"EMULATED_ORDER", "0"}});
  EXPECT_EQ(math.bits.size(), 19u);
  EXPECT_EQ(math.bits, ExpectOk("math_bits_cuda", {{"EMULATED_ORDER", "1"}}).bits);
  // The compiler's own code is within its documented bounds, on approximations that are exact.
  for (const auto& [name, milli_ulp] : math.counts) {
    if (name.find("fast") != std::string::npos) continue;
    EXPECT_LE(milli_ulp, 2000u) << name;
  }
  EXPECT_EQ(ExpectOk("convert_bits_cuda").bits.size(), 10u);
  EXPECT_EQ(ExpectOk("convert_bits_cuda", {{"EMULATED_DEVICE", "A100"}}).bits.size(), 7u);
}

TEST(EmulatedProbes, FindThePublishedTensorCores) {
  for (const char* device : {"H100", "A100"}) {
    const ProbeResult result = ExpectOk("mma_features", {{"EMULATED_DEVICE", device}});
    for (const auto& [name, unlike] : result.counts) EXPECT_EQ(unlike, 0u) << name;
    EXPECT_TRUE(result.choices.contains("mma_f64_k4"));
  }
  const ProbeResult result = ExpectOk("wgmma_features");
  EXPECT_EQ(result.choices.size(), 4u);
  for (const auto& [name, unlike] : result.counts) EXPECT_EQ(unlike, 0u) << name;
  const ProbeResult absent = RunEmulated("wgmma_features", {{"EMULATED_DEVICE", "A100"}});
  EXPECT_EQ(absent.status, ProbeStatus::kAbsent) << absent.message;
}

TEST(EmulatedProbes, SeeAtomicsVaryAndNameTheDevice) {
  EXPECT_EQ(ExpectOk("atomic_spread_cuda").unstable, std::vector<std::string>{"atomic sum"});
  const ProbeResult named = ExpectOk("env_ident_cuda");
  EXPECT_EQ(named.choices.at("device").Find("name")->AsString(), "Emulated H100");
  EXPECT_EQ(named.choices.at("settings").Find("ecc")->AsString(), "on");
}

}  // namespace
}  // namespace rharness
