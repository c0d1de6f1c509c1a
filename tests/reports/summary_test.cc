// The answer at the top, the shared change, and the order of runs.
#include "reports/summary.h"

#include <gtest/gtest.h>

#include "tests/reports/sample_report.h"

namespace rharness {
namespace {

Report Only(std::initializer_list<Verdict> kept) {
  Report report = SampleReport();
  std::erase_if(report.runs, [&](const ReportRun& run) {
    return std::find(kept.begin(), kept.end(), run.verdict) == kept.end();
  });
  Tally(&report);
  return report;
}

TEST(Summary, AnswersByTheWorstThatHappened) {
  EXPECT_EQ(Summarize(SampleReport()).answer, "3 of 12 runs drifted.");
  EXPECT_EQ(Summarize(Only({Verdict::kIdentical, Verdict::kFailed, Verdict::kInfra})).answer,
            "2 of 6 runs failed or could not be run; none drifted, but this is no pass.");
  EXPECT_EQ(Summarize(Only({Verdict::kIdentical, Verdict::kInconclusive})).answer,
            "1 of 5 runs could not be decided; none drifted, but this is no pass.");
  EXPECT_EQ(Summarize(Only({Verdict::kInconclusive})).answer,
            "The one run could not be decided; none drifted, but this is no pass.");
  EXPECT_EQ(Summarize(Only({Verdict::kInconclusive, Verdict::kNotComparable})).answer,
            "Neither run could be decided; none drifted, but this is no pass.");
  EXPECT_EQ(Summarize(Only({Verdict::kIdentical, Verdict::kEquivalent})).answer,
            "All 5 runs reproduced.");
  EXPECT_EQ(Summarize(EmptyReport()).answer, "No runs were selected, so nothing was shown.");
}

TEST(Summary, NeverCallsAnInterruptedDrillAPass) {
  Report report = Only({Verdict::kIdentical});
  report.interrupted = true;
  report.exit_code = 4;
  const Summary summary = Summarize(report);
  EXPECT_EQ(
      summary.answer,
      "All 4 runs reproduced, but the drill ended with exit code 4. The drill was interrupted "
      "before its end.");
  EXPECT_NE(summary.next_step.find("--resume"), std::string::npos);
}

TEST(Summary, FindsTheChangeThatTheDriftedRunsShare) {
  const Report report = SampleReport();
  const Summary summary = Summarize(report);
  ASSERT_EQ(summary.shared.size(), 2U);
  EXPECT_EQ(summary.shared[0].key, "driver.version");
  EXPECT_EQ(summary.shared[0].drifted, 3);
  EXPECT_EQ(summary.shared[0].reproduced, 1);
  EXPECT_EQ(summary.shared[1].key, "library.cublas");
  EXPECT_EQ(summary.shared[1].drifted, 1);
  EXPECT_EQ(
      summary.next_step,
      "Look first at environment driver.version (580.65.06 → 590.12.01), which changed in all 3 "
      "drifted runs and in 1 of 5 that reproduced.");
}

TEST(Summary, TellsAnUndeclaredFileByItsPathAndDigestsInShort) {
  Report report = Only({Verdict::kDrifted});
  report.runs.resize(1);
  Tally(&report);
  report.runs[0].layers = {};
  report.runs[0].causes.clear();  // they rest on what is taken away here
  LayerComparison& data = report.runs[0].layers[0];
  data.state = LayerState::kDiffers;
  data.differences = {{.layer = Layer::kData,
                       .key = "input./site/lib/kernel.py",
                       .recorded = std::string(64, 'a'),
                       .observed = std::string(64, 'b')}};
  const std::string next = Summarize(report).next_step;
  EXPECT_TRUE(
      next.starts_with("Look first at the undeclared file /site/lib/kernel.py "
                       "(aaaaaaaaaaaa… → bbbbbbbbbbbb…), which changed"))
      << next;
}

TEST(Summary, CountsInWordsWhereThereIsNothingToCount) {
  Report report = Only({Verdict::kDrifted});
  EXPECT_TRUE(Summarize(report).next_step.ends_with("in all 3 drifted runs; no run reproduced."))
      << Summarize(report).next_step;
  report.runs.resize(1);
  Tally(&report);
  EXPECT_NE(Summarize(report).next_step.find("in the one drifted run, as did 1 other fact; no run"),
            std::string::npos)
      << Summarize(report).next_step;
  Report other = Only({Verdict::kDrifted, Verdict::kIdentical});
  for (ReportRun& run : other.runs) {
    if (run.verdict == Verdict::kIdentical) run.layers = {};
  }
  EXPECT_NE(Summarize(other).next_step.find("in all 3 drifted runs and in none that reproduced"),
            std::string::npos)
      << Summarize(other).next_step;
}

TEST(Summary, OnlyAGateSpeaksOfARollout) {
  for (const Report& report :
       {SampleReport(), EmptyReport(), Only({Verdict::kIdentical}), Only({Verdict::kDrifted})}) {
    for (const std::string& text :
         {Summarize(report).answer, Summarize(report).next_step, WriteHtml(DocumentOf(report)),
          WriteMarkdown(DocumentOf(report)), WriteTerminal(DocumentOf(report), 100, false),
          WriteJunit(DocumentOf(report))}) {
      EXPECT_EQ(text.find("rollout"), std::string::npos) << text.substr(0, 300);
      EXPECT_EQ(text.find("roll out"), std::string::npos) << text.substr(0, 300);
    }
  }
}

TEST(Summary, AChangeThatReproducedRunsHaveTooComesLast) {
  Report report = Only({Verdict::kDrifted, Verdict::kIdentical});
  const FactDifference common = {Layer::kHardware, "host.name", FactWeight::kContext, "a", "b"};
  for (ReportRun& run : report.runs) run.layers[3].differences = {common};
  const Summary summary = Summarize(report);
  ASSERT_EQ(summary.shared.size(), 3U);
  EXPECT_EQ(summary.shared[0].key, "driver.version");
  EXPECT_EQ(summary.shared[2].key, "host.name");  // 3 of 3 against 4 of 4 tells nothing
}

TEST(Summary, LooksAtAVariableBeforeAnUnrelatedPackage) {
  Report report = Only({Verdict::kDrifted});
  for (ReportRun& run : report.runs) {
    run.layers[2].differences = {
        {Layer::kEnvironment, "package.dpkg.htop:amd64", FactWeight::kContext, "3.2", "3.3",
         FactUse::kNotUsed},
        {Layer::kEnvironment, "software.host_packages", FactWeight::kContext, "aaaa", "bbbb"},
        {Layer::kEnvironment, "variable.OPENBLAS_CORETYPE", FactWeight::kContext, "Haswell",
         "Nehalem"}};
    run.layers[3].differences.clear();
  }
  const Summary summary = Summarize(report);
  ASSERT_EQ(summary.shared.size(), 2U);
  EXPECT_EQ(summary.shared[0].key, "variable.OPENBLAS_CORETYPE");
  EXPECT_EQ(summary.shared[1].key, "software.host_packages");
  EXPECT_NE(summary.next_step.find("OPENBLAS_CORETYPE (Haswell → Nehalem)"), std::string::npos);
}

// 24 runs that drifted, each of which has this cause first.
Report Drifted24(const Cause& cause) {
  Report report = Only({Verdict::kDrifted});
  const ReportRun run = report.runs.front();
  report.runs.assign(24, run);
  for (std::size_t i = 0; i < report.runs.size(); ++i) {
    report.runs[i].run_id = "run-" + std::to_string(i);
    report.runs[i].layers = {};
    report.runs[i].causes = {cause};
  }
  Tally(&report);
  return report;
}

void Change(const std::string& key, ReportRun* run) {
  LayerComparison& layer = run->layers[static_cast<std::size_t>(Layer::kEnvironment)];
  layer.layer = Layer::kEnvironment;
  layer.state = LayerState::kDiffers;
  layer.differences.push_back(
      {.layer = Layer::kEnvironment, .key = key, .recorded = "1", .observed = "2"});
}

TEST(Summary, AFactOfTwoOfTwentyFourDriftedRunsNeverLeads) {
  Report report = Drifted24({"generator_unseeded",
                             Layer::kRandomness,
                             Strength::kLikely,
                             "A generator without a seed is drawn from: random.",
                             {"random"},
                             ""});
  Change("variable.OMP_NUM_THREADS", &report.runs[3]);
  Change("variable.OMP_NUM_THREADS", &report.runs[9]);
  EXPECT_NE(Summarize(report).next_step.find("A generator without a seed"), std::string::npos);
  for (ReportRun& run : report.runs) run.causes.clear();
  EXPECT_EQ(Summarize(report).next_step.find("OMP_NUM_THREADS"), std::string::npos);
}

TEST(Summary, ACauseOfAllComesBeforeAFactThatItDoesNotRestOn) {
  const Cause unseeded{"generator_unseeded", Layer::kRandomness,
                       Strength::kLikely,    "A generator without a seed is drawn from: random.",
                       {"random"},           ""};
  Report report = Drifted24(unseeded);
  for (ReportRun& run : report.runs) Change("package.python.numpy", &run);
  EXPECT_NE(Summarize(report).next_step.find("A generator without a seed"), std::string::npos);
  Cause library = unseeded;
  library.evidence = {"package.python.numpy: 1 in A, 2 in B"};
  for (ReportRun& run : report.runs) {
    run.causes = {library};
    Change("library.libnccl.so.2", &run);
  }
  EXPECT_NE(Summarize(report).next_step.find("package.python.numpy"), std::string::npos);
}

TEST(Summary, SaysWhatTheBudgetLeftOut) {
  Report report = Only({Verdict::kIdentical});
  report.left_out = {"slow-1", "slow-2"};
  report.exit_code = 3;
  EXPECT_EQ(Summarize(report).answer, "4 of 6 selected runs reproduced; 2 were not rerun.");
  EXPECT_TRUE(Summarize(report).next_step.starts_with("Raise --budget"));
  report.runs.clear();
  EXPECT_EQ(Summarize(report).answer,
            "No selected run could be rerun within the budget and the slots.");
}

TEST(Summary, SaysHowManyMoreRerunsWouldDecide) {
  EXPECT_EQ(Summarize(Only({Verdict::kInconclusive})).next_step,
            "Drill the undecided runs again with --reruns 3 to decide every metric.");
}

TEST(Summary, SaysThatNoRerunDecidesByACurveThatShowsNothing) {
  Report report = Only({Verdict::kInconclusive});
  report.runs[0].findings = {
      {.code = "vacuous_curve", .subject = "curve loss", .message = "", .decisive = true}};
  EXPECT_EQ(Summarize(report).next_step.substr(0, 38), "No rerun decides by the curve loss of ");
}

TEST(Summary, OrdersTheWorstFirstAndKeepsTheOrderWithin) {
  const Report report = SampleReport();
  const Summary summary = Summarize(report);
  std::vector<std::string> order;
  for (const ReportRun* run : summary.order) order.emplace_back(VerdictName(run->verdict));
  EXPECT_EQ(order, (std::vector<std::string>{"drifted", "drifted", "drifted", "failed", "infra",
                                             "not_comparable", "inconclusive", "equivalent",
                                             "identical", "identical", "identical", "identical"}));
  EXPECT_EQ(summary.order[0], &report.runs[2]);
  EXPECT_EQ(summary.order[1], &report.runs[5]);
}

TEST(ErrorOf, NamesTheErrorAndNoFrameOfItsStack) {
  ReportRun run;
  run.headline = "it failed";
  const auto error = [&run](const std::string& tail) {
    run.reruns = {{.index = 1, .stderr_path = "e", .stderr_tail = tail}};
    return ErrorOf(run);
  };
  EXPECT_EQ(error("Traceback:\n  File \"t.py\"\nKeyError: 'lr'\n\n"), "KeyError: 'lr' (e)");
  EXPECT_EQ(error("Fatal Python error: x\nModuleNotFoundError: No module named 'encodings'\n\n"
                  "Current thread 0x1 (most recent call first):\n  <no Python frame>\n"),
            "ModuleNotFoundError: No module named 'encodings' (e)");
  EXPECT_EQ(error("RuntimeError in step 3, going on\nSegmentation fault\n"),
            "Segmentation fault (e)");
  EXPECT_EQ(error("\n   at main\n"), "at main (e)");
  EXPECT_EQ(error(" \n"), "it failed");
  run.folder = "../tonight";
  EXPECT_EQ(error("x\n"), "x (../tonight/e)") << "as it can be opened from here";
  run.reruns = {{.index = 1, .stderr_path = "", .stderr_tail = "x\n"}};
  EXPECT_EQ(ErrorOf(run), "x") << "of a file that was not kept";
}

}  // namespace
}  // namespace rharness
