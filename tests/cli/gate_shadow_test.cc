// `rharness gate --shadow`: the impacted runs under the candidate and under the stack in use.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "tests/cli/drill_program.h"
#include "tests/compare/fingerprints/build_fingerprint.h"

namespace rharness {
namespace {

using testing::HasSubstr;

// Its accuracy falls under four threads, and wherever the file "worse" is.
constexpr char kThreaded[] = R"sh(value=0.75
[ "$OMP_NUM_THREADS" = 4 ] && value=0.5
[ -e "$1/worse" ] && value=0.25
printf '{"metrics": {"accuracy": %s}}' "$value" > metrics.json
)sh";

class GateShadow : public DrillProgram {
 protected:
  GateShadow() {
    Write("train.sh", kThreaded);
    const auto threads = [](const std::string& count) {
      return SampleStack().Stack("environment.OMP_NUM_THREADS", count);
    };
    EXPECT_TRUE(WriteJsonFile(At("now.json"), threads("1").ToJson()).ok());
    for (const char* count : {"2", "4"}) {
      const FingerprintBuilder next =
          threads(count).Probe("math_bits", "math").Bits("expf", "other");
      EXPECT_TRUE(WriteJsonFile(At(std::string("next") + count + ".json"), next.ToJson()).ok());
    }
    Write("p.yaml", "version: 1\nrules: [{probes: '*', allow: [bits]}]");
    environment_["OMP_NUM_THREADS"] = "1";
    Record("a", {"--variable", "OMP_NUM_THREADS", "--determinism", "bitwise"});
    // Without weights a promise of bits is not admissible; the metric's bits are enough here.
    const ProcessResult added =
        Run({kRharness, "--quiet", "history", "add", "--force", "--history", "runs.db", "runs"});
    EXPECT_TRUE(added.outcome.Succeeded()) << added.stderr_text;
  }
  ProcessResult Gate(const std::string& candidate, const std::vector<std::string>& more) const {
    std::vector<std::string> argv = {kRharness,     "gate",    "--baseline", "now.json",
                                     "--candidate", candidate, "--policy",   "p.yaml"};
    argv.insert(argv.end(), more.begin(), more.end());
    return Run(argv);
  }
  ProcessResult Impacted(const std::string& candidate, const std::string& to) const {
    return Gate(candidate, {"--history", "runs.db", "--drill", "impacted", "--trust-here", "--out",
                            to, "--shadow", to + "-in-use"});
  }
};

TEST_F(GateShadow, OpensWhereTheRunsEndAlikeUnderBoth) {
  const ProcessResult result = Impacted("next2.json", "two");
  EXPECT_EQ(result.outcome.exit_code, 0) << result.stdout_text << result.stderr_text;
  EXPECT_THAT(result.stdout_text, HasSubstr("1 of 1 runs end alike under both stacks"));
  const auto candidate = LoadEvidence(At("two/runs/a/1/evidence.json"));
  const auto in_use = LoadEvidence(At("two-in-use/runs/a/1/evidence.json"));
  ASSERT_TRUE(candidate.ok() && in_use.ok());
  EXPECT_EQ(candidate->environment.variables.at("OMP_NUM_THREADS"), "2");
  EXPECT_EQ(in_use->environment.variables.at("OMP_NUM_THREADS"), "1");
  // The same two drills, as folders; and not the other way round.
  EXPECT_EQ(Gate("next2.json", {"--drill", "two", "--shadow", "two-in-use"}).outcome.exit_code, 0);
  const ProcessResult swapped = Gate("next2.json", {"--drill", "two", "--shadow", "two"});
  EXPECT_EQ(swapped.outcome.exit_code, 3) << swapped.stdout_text;
  EXPECT_THAT(swapped.stdout_text, HasSubstr("shadow_elsewhere"));
}

TEST_F(GateShadow, ClosesByAChangeWhereTheCandidateAloneBreaksARun) {
  const ProcessResult result = Impacted("next4.json", "four");
  EXPECT_EQ(result.outcome.exit_code, 1) << result.stdout_text << result.stderr_text;
  EXPECT_THAT(result.stdout_text, HasSubstr("drill_drifted"));
  // What the history says of the run is of the stack in use, and no more than that.
  EXPECT_THAT(Run({kRharness, "history", "list", "--history", "runs.db"}).stdout_text,
              HasSubstr("identical"));
}

TEST_F(GateShadow, BlamesNoCandidateForARunThatIsBrokenInUse) {
  Write("worse", "");
  const ProcessResult result = Impacted("next2.json", "two");
  EXPECT_EQ(result.outcome.exit_code, 3) << result.stdout_text << result.stderr_text;
  EXPECT_THAT(result.stdout_text, HasSubstr("broken_in_use"));
}

TEST_F(GateShadow, EndsWithTwoOnWrongUse) {
  EXPECT_EQ(Gate("next2.json", {"--shadow", "two"}).outcome.exit_code, 2);
  EXPECT_EQ(Gate("next2.json", {"--shadow", "none", "--drill", "none"}).outcome.exit_code, 2);
  Write("taken/journal.jsonl", "{}");
  const ProcessResult taken =
      Gate("next2.json", {"--history", "runs.db", "--drill", "impacted", "--trust-here", "--out",
                          "two", "--shadow", "taken"});
  EXPECT_EQ(taken.outcome.exit_code, 2);
  EXPECT_THAT(taken.stderr_text, HasSubstr("--shadow taken holds a drill already"));
  EXPECT_FALSE(std::filesystem::exists(At("two")));
}

}  // namespace
}  // namespace rharness
