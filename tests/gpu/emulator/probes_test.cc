// Whole probes on the emulated driver: what they find, and what they say when a call fails.
#include <gtest/gtest.h>

#include <cstdio>
#include <map>
#include <set>

#include "harness/base/files.h"
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

struct Tally {
  int calls = 0, injected = 0, failed = 0, failed_cases = 0, unharmed = 0, wrong = 0;
};

std::map<std::string, int> CallsOf(const std::string& probe, const std::string& log) {
  RunEmulated(probe, {{"EMULATED_CALLS", log}});
  std::map<std::string, int> calls;
  const auto text = ReadFile(log);
  if (!text.ok()) return calls;
  std::string_view left(*text);
  for (std::size_t end = left.find('\n'); end != std::string_view::npos; end = left.find('\n')) {
    ++calls[std::string(left.substr(0, end))];
    left.remove_prefix(end + 1);
  }
  return calls;
}

bool SameFacts(const ProbeResult& one, const ProbeResult& other) {
  const auto text = [](const ProbeResult& result) {
    std::string all;
    for (const auto& [name, choice] : result.choices) all += name + choice.Dump();
    for (const auto& [name, tree] : result.trees) all += name + tree.Canonical();
    for (const auto& [name, bits] : result.bits) all += name + bits;
    for (const auto& name : result.unstable) all += name;
    return all;
  };
  return text(one) == text(other);
}

// Fails calls of a probe and counts how it ended.
void Inject(const std::string& probe, const std::string& failure, const ProbeResult& undisturbed,
            Tally* tally) {
  const ProbeResult result = RunEmulated(probe, {{"EMULATED_FAIL", failure}});
  ++tally->injected;
  const bool crashed = result.message.find("its process") != std::string::npos;
  const bool named = result.counts.contains("failed cases");
  if (result.status == ProbeStatus::kFailed && !crashed) {
    ++tally->failed;
  } else if (result.status == ProbeStatus::kOk && named) {
    ++tally->failed_cases;
  } else if (result.status == ProbeStatus::kOk && SameFacts(result, undisturbed)) {
    ++tally->unharmed;
    // Memory is freed when all is known.
    EXPECT_EQ(failure.substr(0, failure.find(':')), "cuMemFree") << probe;
  } else {
    ++tally->wrong;
    ADD_FAILURE() << probe << " with " << failure << ": " << result.message;
  }
}

// Of a slow probe the first call of each function, and all of them; of others two more calls.
Tally InjectAll(const std::string& probe, bool slow, const std::string& log) {
  Tally tally;
  const ProbeResult undisturbed = RunEmulated(probe);
  for (const auto& [function, count] : CallsOf(probe, log)) {
    tally.calls += count;
    // A device whose size the driver does not say is described without it, on purpose.
    if (function == "cuDeviceTotalMem") continue;
    std::set<int> numbers = {1};
    if (!slow) numbers = {1, (count + 1) / 2, count};
    for (const int number : numbers)
      Inject(probe, function + ":" + std::to_string(number), undisturbed, &tally);
    Inject(probe, function + ":1+", undisturbed, &tally);
  }
  return tally;
}

TEST(EmulatedFailures, AreFailuresOfTheProbeOrOfANamedCase) {
  auto folder = ScopedTempDir::Make();
  ASSERT_TRUE(folder.ok());
  std::printf("%-22s %6s %9s %7s %13s %9s %6s\n", "probe", "calls", "injected", "failed",
              "failed cases", "unharmed", "wrong");
  for (const auto& [probe, slow] :
       std::initializer_list<std::pair<std::string, bool>>{{"env_ident_cuda", false},
                                                           {"convert_bits_cuda", true},
                                                           {"mma_features", false},
                                                           {"wgmma_features", false},
                                                           {"math_bits_cuda", true}}) {
    const Tally tally = InjectAll(probe, slow, (folder->path() / probe).string());
    std::printf("%-22s %6d %9d %7d %13d %9d %6d\n", probe.c_str(), tally.calls, tally.injected,
                tally.failed, tally.failed_cases, tally.unharmed, tally.wrong);
    EXPECT_GT(tally.injected, 10) << probe;
  }
}

}  // namespace
}  // namespace rharness
