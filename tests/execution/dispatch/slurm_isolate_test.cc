// A search for a cause whose reruns a real Slurm carries out, also on a node that is an axis.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "harness/base/subprocess.h"
#include "harness/records/manifest/evidence.h"
#include "tests/execution/dispatch/slurm_world.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

constexpr char kRharness[] = RHARNESS_BIN_DIR "/rharness";
constexpr char kTrainer[] = R"sh(accuracy=0.75
[ "$BAD" = 1 ] && accuracy=0.5
printf '{"metrics": {"accuracy": %s}}' "$accuracy" > metrics.json
)sh";

TEST(SlurmIsolate, NamesTheCauseFromRerunsOfTheCluster) {
  const SlurmWorld world;
  if (!world.problem().empty()) GTEST_SKIP() << "no Slurm here: " << world.problem();
  const ScopedTempDir folder = *ScopedTempDir::Make("rharness-slurm-isolate-");
  ASSERT_TRUE(WriteFileAtomic(folder.path() / "train.sh", kTrainer).ok());
  const auto run = [&](std::vector<std::string> argv) {
    ProcessLimits limits;
    limits.timeout = std::chrono::minutes(4);
    argv.insert(argv.begin(), kRharness);
    return RunProcess(ProcessSpec{std::move(argv), ProcessEnvironment(), folder.path()}, limits);
  };
  const ProcessResult recorded = run({"--quiet",
                                      "record",
                                      "--out",
                                      "run.json",
                                      "--root",
                                      ".",
                                      "--no-observe",
                                      "--code-file",
                                      "train.sh",
                                      "--determinism",
                                      "bitwise",
                                      "--scope",
                                      "architecture",
                                      "--metrics",
                                      "metrics.json",
                                      "--metric",
                                      "accuracy,direction=higher,margin=0.01,primary",
                                      "--",
                                      "sh",
                                      "train.sh"});
  ASSERT_TRUE(recorded.outcome.Succeeded()) << recorded.stderr_text;
  const ProcessResult result =
      run({"isolate", "run.json", "--dispatch", "slurm", "--axis", "env:A=1", "--axis", "node:n2",
           "--axis", "env:BAD=1", "--axis", "env:B=1", "--parallel", "2", "--out", "why"});
  ASSERT_EQ(result.outcome.exit_code, 0) << result.stdout_text << result.stderr_text;
  EXPECT_THAT(result.stdout_text, HasSubstr("env:BAD: (unset) -> 1 makes run drift"));
  // Everything changed: on the node that was asked for.
  const auto all = LoadEvidence(folder.path() / "why/runs/run/1/evidence.json");
  ASSERT_TRUE(all.ok()) << all.error().ToString();
  EXPECT_EQ(all->machine.node, "n2");
}

}  // namespace
}  // namespace rharness
