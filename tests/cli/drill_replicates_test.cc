// Replicates as a user has them: a chaotic training, rerun where sums are added in another order.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "harness/drill/journal.h"
#include "harness/history/store.h"
#include "tests/cli/unfinished_drill.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

// $1: a folder. A loss that falls, and on it a chaotic part, which any last bit moves: the hook's,
// or another order of addition (ORDER). A learning rate (RATE) moves the whole curve. While "gate"
// is there, replicate 2 hangs; while "deaf" is, the hook is not heeded.
constexpr char kTraining[] = R"sh(echo "run $RHARNESS_REPLICATE" >> "$1/calls"
[ -e "$1/deaf" ] && RHARNESS_REPLICATE=0
if [ -e "$1/gate" ] && [ "$RHARNESS_REPLICATE" = 2 ]; then while :; do sleep 600; done; fi
if [ -e "$1/broken" ] && [ "$RHARNESS_REPLICATE" = 2 ]; then exit 7; fi
awk -v seed="$3" -v k="${RHARNESS_REPLICATE:-0}" -v order="${ORDER:-0}" -v rate="${RATE:-1}" 'BEGIN {
  x = 0.31 + seed / 100 + k * 1e-12 + order * 7e-12
  for (i = 1; i <= 40; i++) {
    for (j = 0; j < 8; j++) x = 3.9 * x * (1 - x)
    steps = steps (i > 1 ? "," : "") i
    values = values (i > 1 ? "," : "") sprintf("%.17g", rate * (1 + 2 * exp(-i / 8)) + 0.0003 * x)
  }
  printf "{\"metrics\": {\"val_loss\": %.17g}, \"curves\": {\"val_loss\": ", rate + 0.0003 * x
  printf "{\"steps\": [%s], \"values\": [%s]}}}", steps, values
}' > metrics.json
)sh";

class DrillReplicates : public UnfinishedDrill {
 protected:
  DrillReplicates() { Write("train.sh", kTraining); }

  void RecordSeeds(int count) {
    for (int seed = 1; seed <= count; ++seed) {
      const std::string run_id = fmt::format("s{}", seed);
      const ProcessResult result = Run({kRharness,
                                        "--quiet",
                                        "record",
                                        "--out",
                                        "runs/" + run_id + ".json",
                                        "--family",
                                        "tiny",
                                        "--root",
                                        ".",
                                        "--code-file",
                                        "train.sh",
                                        "--metrics",
                                        "metrics.json",
                                        "--metric",
                                        "val_loss,direction=lower",
                                        "--seed",
                                        fmt::format("init={}", seed),
                                        "--determinism",
                                        "statistical",
                                        "--",
                                        "sh",
                                        "train.sh",
                                        At("").string(),
                                        "--seed",
                                        std::to_string(seed)});
      ASSERT_TRUE(result.outcome.Succeeded()) << result.stderr_text;
    }
    // Without a primary metric: its curve decides.
    const ProcessResult added =
        Run({kRharness, "--quiet", "history", "add", "--force", "--history", "runs.db", "runs"});
    ASSERT_TRUE(added.outcome.Succeeded()) << added.stderr_text;
    fs::remove(At("calls"));
  }
  // A drill of its own folder.
  Report DrillTo(const std::string& out, const std::vector<std::string>& options) {
    std::vector<std::string> argv = {kRharness, "--quiet", "drill", "--history",
                                     "runs.db", "--out",   out};
    argv.insert(argv.end(), options.begin(), options.end());
    const ProcessResult result = Run(argv);
    EXPECT_EQ(result.outcome.kind, OutcomeKind::kExited) << result.stderr_text;
    const auto json = ReadJsonFile(At(out + "/report.json"));
    EXPECT_TRUE(json.ok()) << result.stdout_text << result.stderr_text;
    return json.ok() ? ParseReport(*json, "report.json").value() : Report();
  }
  std::string CallsText() const { return fs::exists(At("calls")) ? Read(At("calls")) : ""; }
  static std::string NotesOf(const Report& report) {
    return fmt::format("{}", fmt::join(report.notes, "\n"));
  }
  static std::vector<Verdict> VerdictsOf(const Report& report) {
    std::vector<Verdict> verdicts;
    for (const ReportRun& run : report.runs) verdicts.push_back(run.verdict);
    return verdicts;
  }
};

TEST_F(DrillReplicates, DecideBothWaysAndCostOnce) {
  RecordSeeds(2);
  const Report report = DrillTo("first", {"--env", "ORDER=1", "--replicates", "3"});
  EXPECT_THAT(VerdictsOf(report), testing::Each(Verdict::kEquivalent));
  EXPECT_THAT(report.runs.at(1).headline, HasSubstr("the band of 3 replicates made on this stack"));
  EXPECT_THAT(report.runs.at(1).headline, HasSubstr("of another seed"));
  EXPECT_THAT(NotesOf(report), HasSubstr("how far rounding carries tiny is known from 3"));
  const auto is_rounding = [](const Cause& cause) { return cause.code == "rounding"; };
  EXPECT_TRUE(std::ranges::any_of(report.runs.at(0).causes, is_rounding));
  EXPECT_EQ(Calls(), 5) << "two reruns, and three replicates for both:\n" << CallsText();
  EXPECT_THAT(CallsText(), HasSubstr("run 1\n"));
  EXPECT_TRUE(fs::exists(At("first/runs/s1/replicate-3/evidence.json")));
  EXPECT_THAT(Read(At("first/report.html")), HasSubstr("3 replicates made on this stack"));

  fs::remove(At("calls"));
  const Report again = DrillTo("second", {"--env", "ORDER=1", "--replicates", "3"});
  EXPECT_EQ(Calls(), 2) << "the history has them";
  EXPECT_EQ(VerdictsOf(again), VerdictsOf(report));
  EXPECT_EQ(again.runs.at(1).headline, report.runs.at(1).headline);

  // Where every run has moved, each gets replicates of its own.
  fs::remove(At("calls"));
  const Report shifted =
      DrillTo("third", {"--env", "ORDER=1", "--env", "RATE=1.02", "--replicates", "3"});
  EXPECT_THAT(VerdictsOf(shifted), testing::Each(Verdict::kDrifted));
  EXPECT_THAT(shifted.runs.at(0).headline, HasSubstr("further than rounding carries"));
  EXPECT_EQ(Calls(), 10) << "two reruns, each confirmed by another one, and three replicates of "
                            "each:\n"
                         << CallsText();

  const ProcessResult shown = Run({kRharness, "history", "show", "--history", "runs.db", "s2"});
  EXPECT_THAT(shown.stdout_text, HasSubstr("3 replicates of s1 made on 20"));
}

TEST_F(DrillReplicates, AreShownByADryRunUntilTheHistoryHasThem) {
  RecordSeeds(2);
  const ProcessResult plan = Drill({"--env", "ORDER=1", "--replicates", "3", "--dry-run"});
  EXPECT_THAT(plan.stdout_text, HasSubstr("s1.replicate-3"));
  EXPECT_THAT(plan.stdout_text, HasSubstr("3 replicates of the configuration of s1"));
  EXPECT_EQ(Calls(), 0);
  DrillTo("first", {"--env", "ORDER=1", "--replicates", "3"});
  const ProcessResult next = Drill({"--env", "ORDER=1", "--replicates", "3", "--dry-run"});
  EXPECT_THAT(next.stdout_text, Not(HasSubstr("replicate"))) << next.stdout_text;
  const ProcessResult other =
      Drill({"--env", "OMP_NUM_THREADS=2", "--env", "ORDER=1", "--replicates", "3", "--dry-run"});
  EXPECT_THAT(other.stdout_text, HasSubstr("s1.replicate-1")) << "another stack";
}

TEST_F(DrillReplicates, AreNotMadeWhereEveryRerunIsIdentical) {
  RecordSeeds(2);
  const Report report = DrillTo("out", {"--replicates", "3"});
  EXPECT_THAT(VerdictsOf(report), testing::Each(Verdict::kIdentical));
  EXPECT_EQ(Calls(), 2);
}

TEST_F(DrillReplicates, OfARunThatDoesNotHeedThemAreTold) {
  RecordSeeds(1);
  const Report without = DrillTo("without", {"--env", "ORDER=1"});
  Write("deaf", "");
  const Report report = DrillTo("out", {"--env", "ORDER=1", "--replicates", "3"});
  EXPECT_THAT(NotesOf(report),
              HasSubstr("bit-equal to its rerun: the run ignored RHARNESS_REPLICATE"));
  EXPECT_EQ(VerdictsOf(report), VerdictsOf(without)) << "a zero is no spread";
  EXPECT_THAT(Read(At("out/report.html")), HasSubstr("the run ignored"));
  fs::remove(At("calls"));
  DrillTo("again", {"--env", "ORDER=1", "--replicates", "3"});
  EXPECT_EQ(Calls(), 1) << "they are not made again";
}

TEST_F(DrillReplicates, ThatFailMakeNoVerdict) {
  RecordSeeds(1);
  const Report without = DrillTo("without", {"--env", "ORDER=1"});
  Write("broken", "");
  const Report report = DrillTo("out", {"--env", "ORDER=1", "--replicates", "3"});
  EXPECT_EQ(VerdictsOf(report), VerdictsOf(without));
  EXPECT_EQ(report.exit_code, without.exit_code);
  EXPECT_THAT(NotesOf(report), HasSubstr("replicate 2 of s1 is left out: the run exited with 7"));
  const auto store = HistoryStore::Open(At("runs.db").string()).value();
  const auto kept = store->Replicates(store->Find("s1")->configuration).value();
  EXPECT_EQ(kept.size(), 3U) << "the rerun and two";
}

TEST_F(DrillReplicates, GoOnAfterTheDrillWasKilled) {
  RecordSeeds(2);
  Write("gate", "");
  std::vector<std::string> argv =
      DrillArguments({"--jobs", "1", "--env", "ORDER=1", "--replicates", "3"});
  Background drill(argv, At(""), environment_);
  ASSERT_TRUE(Eventually([&] { return CallsText().find("run 2\n") != std::string::npos; }));
  drill.Signal(SIGKILL);
  drill.Wait();
  fs::remove(At("gate"));
  fs::remove(At("calls"));
  const ProcessResult result = Run({kRharness, "drill", "--resume", "--out", "out"});
  EXPECT_EQ(result.outcome.exit_code, 0) << result.stdout_text << result.stderr_text;
  EXPECT_EQ(CallsText(), "run 2\nrun 3\n") << "what was finished is not repeated";
  EXPECT_THAT(VerdictsOf(StoredReport()), testing::Each(Verdict::kEquivalent));
  const ProcessResult once_more = Run({kRharness, "drill", "--resume", "--out", "out"});
  EXPECT_EQ(once_more.outcome.exit_code, 0);
  EXPECT_EQ(CallsText(), "run 2\nrun 3\n");
}

TEST_F(DrillReplicates, RefuseTheHookAsAVariableOfEveryRerun) {
  RecordSeeds(1);
  for (const char* given : {"RHARNESS_REPLICATE=1", "RHARNESS_REPLICATE"}) {
    const ProcessResult result = Drill({"--env", given});
    EXPECT_EQ(result.outcome.exit_code, 2);
    EXPECT_THAT(result.stderr_text, HasSubstr("--replicates"));
  }
  EXPECT_EQ(Drill({"--replicates", "-1"}).outcome.exit_code, 2);
  EXPECT_FALSE(fs::exists(At("out")));
}

}  // namespace
}  // namespace rharness
