// Runs whose curves one change moved, drilled: what a curve alone does not tell its siblings do.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/cli/drill_program.h"

namespace rharness {
namespace {

using testing::HasSubstr;

// A loss that falls with the noise of its batches, by seed. Another STACK adds 0.4 % of it to each
// value, without a direction; seed 5 then goes on 2 % higher, and with STACK=3 all of them do.
constexpr char kTrain[] = R"sh(awk -v seed="$2" -v stack="${STACK:-1}" '
function u(k,  x) { x = sin(k * 12.9898 + 78.233) * 43758.5453; return x - int(x) }
BEGIN {
  for (t = 1; t <= 64; t++) {
    loss = (1.5 + 2 * exp(-t / 20)) * (1 + 0.1 * u(seed * 1000 + t))
    if (stack > 1) loss *= 1 + 0.007 * u(seed * 7919 + stack * 31 + t / 7)
    if ((stack == 2 && seed == 5) || stack == 3) loss *= 1.02
    steps = steps (t > 1 ? ", " : "") t
    values = values (t > 1 ? ", " : "") sprintf("%.9g", loss)
  }
  printf "{\"metrics\": {\"accuracy\": 0.5}, \"curves\": {\"train_loss\": {\"steps\": [%s], ", steps
  printf "\"values\": [%s]}}}", values
}' > metrics.json
)sh";

class DrillSiblings : public DrillProgram {
 protected:
  void RecordSeeds(int first, int last) {
    Write("train.sh", kTrain);
    for (int seed = first; seed <= last; ++seed) {
      const std::string text = std::to_string(seed);
      const ProcessResult result = Run({kRharness,
                                        "--quiet",
                                        "record",
                                        "--out",
                                        "runs/s" + text + ".json",
                                        "--run-id",
                                        "s" + text,
                                        "--family",
                                        "tiny",
                                        "--root",
                                        ".",
                                        "--code-file",
                                        "train.sh",
                                        "--metrics",
                                        "metrics.json",
                                        "--metric",
                                        "accuracy,direction=higher,margin=0.01",
                                        "--variable",
                                        "STACK",
                                        "--seed",
                                        "init=" + text,
                                        "--",
                                        "sh",
                                        "train.sh",
                                        "--seed",
                                        text});
      ASSERT_TRUE(result.outcome.Succeeded()) << result.stderr_text;
    }
    // Curves decide where no metric was declared to: such a record is not admitted unasked.
    const ProcessResult added =
        Run({kRharness, "--quiet", "history", "add", "--force", "--history", "runs.db", "runs"});
    ASSERT_TRUE(added.outcome.Succeeded()) << added.stderr_text;
  }
  Report DrillTo(const std::string& stack, int exit_code,
                 const std::vector<std::string>& more = {}) {
    std::vector<std::string> options = {"--env", "STACK=" + stack};
    options.insert(options.end(), more.begin(), more.end());
    const ProcessResult result = Drill(options);
    EXPECT_EQ(result.outcome.exit_code, exit_code) << result.stdout_text << result.stderr_text;
    return StoredReport();
  }
};

const ReportRun& RunOf(const Report& report, const std::string& run_id) {
  return *std::ranges::find(report.runs, run_id, &ReportRun::run_id);
}

TEST_F(DrillSiblings, TellTogetherWhatNoneTellsAlone) {
  RecordSeeds(1, 12);
  const Report few = DrillTo("2", 3,
                             {"--select",
                              "run_id ~ \"s?\" and "
                              "not run_id = s5 and not run_id = s6"});
  ASSERT_EQ(few.counts.at("inconclusive"), 7) << "seven are too few to tell of each other";
  std::filesystem::remove_all(At("out"));
  const Report all = DrillTo("2", 1);
  EXPECT_EQ(all.counts.at("equivalent"), 11);
  EXPECT_EQ(all.counts.at("drifted"), 1);
  EXPECT_THAT(RunOf(all, "s1").headline, HasSubstr("11 runs of tiny moved by"));
  const ReportRun& regressed = RunOf(all, "s5");
  EXPECT_EQ(regressed.verdict, Verdict::kDrifted) << regressed.headline;
  EXPECT_THAT(regressed.headline, HasSubstr("apart from its siblings"));
  ASSERT_EQ(all.siblings.size(), 1U);
  EXPECT_EQ(all.siblings[0].name, "tiny");
  EXPECT_EQ(all.siblings[0].pairs, 12U);
}

TEST_F(DrillSiblings, DriftTogether) {
  RecordSeeds(1, 12);
  const Report report = DrillTo("3", 1);
  EXPECT_EQ(report.counts.at("drifted"), 12);
  const auto with = std::ranges::count_if(report.runs, [](const ReportRun& run) {
    return run.headline.find("with its siblings") != run.headline.npos;
  });
  EXPECT_GE(with, 6) << "most are too small a shift to be told alone";
  ASSERT_EQ(report.siblings.size(), 1U);
  EXPECT_EQ(report.siblings[0].up, 12U);
}

TEST_F(DrillSiblings, AreJudgedAlikeWhereTheDrillWasResumed) {
  RecordSeeds(1, 9);
  const Report whole = DrillTo("2", 1, {"--jobs", "1"});
  const std::string journal = Read(At("out/journal.jsonl"));
  std::size_t end = 0;
  for (int line = 0; line < 20; ++line) end = journal.find('\n', end) + 1;
  ASSERT_LT(end, journal.size());
  Write("out/journal.jsonl", journal.substr(0, end));  // as it stood after some reruns
  const ProcessResult resumed = Run({kRharness, "drill", "--resume", "--out", "out"});
  EXPECT_EQ(resumed.outcome.exit_code, 1) << resumed.stderr_text;
  const Report again = StoredReport();
  ASSERT_EQ(again.runs.size(), 9U);
  for (const ReportRun& run : whole.runs) {
    EXPECT_EQ(RunOf(again, run.run_id).headline, run.headline);
  }
  EXPECT_EQ(again.siblings.size(), whole.siblings.size());
}

}  // namespace
}  // namespace rharness
