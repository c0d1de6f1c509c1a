// Divergences planted in real trainings of PyTorch and JAX: the call at which two runs part is the
// planted one. Prints a table, with what PyTorch's own DebugMode says of the same pair.
//
// RHARNESS_PEERS names the folder that `./dev peers` made; without it these tests say so and are
// skipped.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "compare/traces/call_onset.h"
#include "harness/base/files.h"
#include "harness/base/json.h"
#include "harness/base/subprocess.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

struct Counts {
  std::size_t pairs = 0;
  std::size_t right = 0;
  std::size_t debug_mode = 0;  // that name the operator
};

class PlantedCalls : public testing::Test {
 protected:
  void SetUp() override {
    const char* peers = std::getenv("RHARNESS_PEERS");
    if (peers == nullptr) {
      GTEST_SKIP() << "./dev peers installs the frameworks; set RHARNESS_PEERS to their folder";
    }
    python_ = std::string(peers) + "/venv/bin/python3";
  }

  bool Has(const std::string& package) const {
    return Execute({python_, "-c", "import " + package}).outcome.Succeeded();
  }

  static ProcessResult Execute(std::vector<std::string> argv) {
    ProcessLimits limits;
    limits.timeout = std::chrono::seconds(400);
    auto environment = PickEnvironment({"PATH", "TMPDIR", "LD_LIBRARY_PATH"});
    environment["HOME"] = "/";
    environment["PYTHONDONTWRITEBYTECODE"] = "1";
    environment["PYTHONPATH"] = RHARNESS_SOURCE_DIR "/harness/records/observe/python";
    return RunProcess({std::move(argv), environment, "/"}, limits);
  }

  // Plants what a script of this folder has, and reads what is to be found.
  std::vector<Json> Plant(const std::string& script) const {
    const ProcessResult result = Execute(
        {python_, RHARNESS_SOURCE_DIR "/tests/records/observe/" + script, folder_.path().string()});
    EXPECT_TRUE(result.outcome.Succeeded()) << result.stderr_text;
    const auto text = ReadFile(folder_.path() / "expected.jsonl");
    std::vector<Json> lines;
    std::istringstream stream(text.ok() ? *text : "");
    for (std::string line; std::getline(stream, line);)
      lines.push_back(*ParseJson(line, "expected"));
    return lines;
  }

  static bool IsRight(const Json& expected, const Call& call, int rank) {
    const auto& ops = expected.Find("ops")->AsArray();
    const std::string& module = expected.Find("module")->AsString();
    const Json* of_rank = expected.Find("rank");
    return std::ranges::any_of(ops, [&](const Json& op) { return op.AsString() == call.op; }) &&
           call.module.starts_with(module) && call.step == *expected.Find("step")->ToInt64() &&
           (of_rank == nullptr || *of_rank->ToInt64() == rank);
  }

  // "aten::mul.Tensor" names "aten.mul.Tensor", and "aten::t" "aten.t.default".
  static bool Names(const std::string& said, const Json& expected) {
    return std::ranges::any_of(expected.Find("ops")->AsArray(), [&](const Json& op) {
      std::string name = said;
      const std::size_t colons = name.find("::");
      if (colons != std::string::npos) name.replace(colons, 2, ".");
      return op.AsString() == name || op.AsString() == name + ".default";
    });
  }

  Counts Judge(const std::string& script) const {
    Counts counts;
    for (const Json& expected : Plant(script)) {
      const std::string& name = expected.Find("name")->AsString();
      const std::string& said = expected.Find("debug_mode")->AsString();
      const fs::path pair = folder_.path() / expected.Find("folder")->AsString();
      const auto a = LoadCalls(pair / "A");
      const auto b = LoadCalls(pair / "B");
      EXPECT_TRUE(a.ok() && b.ok()) << name;
      if (!a.ok() || !b.ok()) continue;
      for (const auto* side : {&*a, &*b}) {
        for (const CallTrace& trace : *side) EXPECT_EQ(trace.trouble, "") << name;
      }
      const auto onset = FindCallOnset(*a, *b);
      EXPECT_TRUE(onset.ok()) << name;
      if (!onset.ok()) continue;
      const bool right = onset->origin && (IsRight(expected, onset->origin->a, onset->rank) ||
                                           IsRight(expected, onset->origin->b, onset->rank));
      EXPECT_TRUE(right) << name << ": " << onset->headline;
      ++counts.pairs;
      counts.right += right;
      counts.debug_mode += Names(said, expected);
      fmt::print("{} {}: {} | DebugMode: {}\n", right ? "right" : "WRONG", name, onset->headline,
                 said);
    }
    fmt::print("{} of {} named; DebugMode names {}\n", counts.right, counts.pairs,
               counts.debug_mode);
    return counts;
  }

  ScopedTempDir folder_ = *ScopedTempDir::Make("rharness-planted-");
  std::string python_;
};

TEST_F(PlantedCalls, OfTorchAreNamed) {
  if (!Has("torch, numpy")) GTEST_SKIP() << "RHARNESS_PEERS has no torch with numpy";
  EXPECT_GE(Judge("planted_torch.py").pairs, 20U);
}

TEST_F(PlantedCalls, OfTorchRanksAreNamed) {
  if (!Has("torch, numpy")) GTEST_SKIP() << "RHARNESS_PEERS has no torch with numpy";
  EXPECT_EQ(Judge("planted_ranks.py").pairs, 4U);
}

TEST_F(PlantedCalls, OfJaxAreNamed) {
  if (!Has("jax")) GTEST_SKIP() << "RHARNESS_PEERS has no jax";
  EXPECT_GE(Judge("planted_jax.py").pairs, 10U);
}

}  // namespace
}  // namespace rharness
