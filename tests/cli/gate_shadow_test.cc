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
    EXPECT_TRUE(
        WriteJsonFile(At("now.json"), threads("1").OfCpu("1970-01-01T00:00:01.000Z").ToJson())
            .ok());
    for (const char* count : {"2", "4"}) {
      const FingerprintBuilder next =
          threads(count).OfCpu().Probe("math_bits", "math").Bits("expf", "other");
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
  const ProcessResult swapped = Gate("next2.json", {"--drill", "two-in-use", "--shadow", "two"});
  EXPECT_EQ(swapped.outcome.exit_code, 3) << swapped.stdout_text;
  EXPECT_THAT(swapped.stdout_text, HasSubstr("shadow_elsewhere"));
}

TEST_F(GateShadow, TakesNoDrillForBothSides) {
  ASSERT_EQ(Impacted("next4.json", "four").outcome.exit_code, 1);
  std::filesystem::copy(At("four"), At("copy"), std::filesystem::copy_options::recursive);
  const std::string id = ParseReport(*ReadJsonFile(At("four/report.json")), "four")->drill_id;
  for (const std::string other : {"four", "copy", "four/report.json"}) {
    for (const bool held : {false, true}) {
      std::vector<std::string> pair = {"--drill", "four", "--shadow", other};
      if (held) pair.insert(pair.end(), {"--history", "runs.db"});
      const ProcessResult refused = Gate("next4.json", pair);
      EXPECT_EQ(refused.outcome.exit_code, 2) << other << refused.stdout_text;
      EXPECT_THAT(refused.stderr_text, HasSubstr("is drill " + id + ", which --drill names"));
    }
  }
  EXPECT_EQ(
      Gate("next4.json", {"--history", "runs.db", "--drill", "four", "--shadow", "four-in-use"})
          .outcome.exit_code,
      1);
}

// A drifted drill as a folder, and what somebody made of it.
TEST_F(GateShadow, BelievesNoFolderThatSaysOtherwiseThanTheHistory) {
  ASSERT_EQ(Impacted("next4.json", "four").outcome.exit_code, 1);
  const auto judge = [&](int code, const std::string& says) {
    const ProcessResult judged = Gate("next4.json", {"--history", "runs.db", "--drill", "four"});
    EXPECT_EQ(judged.outcome.exit_code, code) << judged.stdout_text << judged.stderr_text;
    EXPECT_THAT(judged.stdout_text + judged.stderr_text, HasSubstr(says));
  };
  judge(1, "drill_drifted");
  const auto json = ReadJsonFile(At("four/report.json"));
  ASSERT_TRUE(json.ok());
  const Report told = *ParseReport(*json, "report.json");
  const auto tell = [&](const Report& other) {
    ASSERT_TRUE(WriteJsonFile(At("four/report.json"), ToJson(other)).ok());
  };
  Report better = told;
  better.runs[0].verdict = Verdict::kIdentical;
  Tally(&better);
  tell(better);
  judge(5, "the report says identical of run a");
  Report ended = told;
  ended.exit_code = 4;
  tell(ended);
  judge(5, "the report has the exit_code '4'; the history has '1'");
  Report other = told;
  other.drill_id = "another";
  tell(other);
  judge(2, "expected the history that the drill wrote to (--history)");
  tell(told);
  judge(1, "drill_drifted");
  Write("four/runs/a/1/evidence.json", Read(At("four/runs/a/1/evidence.json")) + " ");
  judge(5, "is not the evidence that the history has of this rerun");
  std::filesystem::remove(At("four/journal.jsonl"));
  judge(5, "is not the evidence that the history has of this rerun");
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

// "runs" would have its history in "runs.db", which is the fleet's.
TEST_F(GateShadow, MakesNoHistoryOfACandidateWhereOneIs) {
  const std::string before = Read(At("runs.db"));
  for (const char* out : {"runs", "./runs/"}) {
    const ProcessResult result = Gate("next2.json", {"--history", "runs.db", "--drill", "impacted",
                                                     "--out", out, "--trust-here"});
    EXPECT_EQ(result.outcome.exit_code, 2) << result.stdout_text;
    EXPECT_THAT(result.stderr_text, HasSubstr("runs.db, which is there already"));
  }
  EXPECT_EQ(Read(At("runs.db")), before);
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
