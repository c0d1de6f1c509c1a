// How outputs were compared, in each report.
#include "reports/outputs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rharness {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using State = ExactComparison::State;

ExactComparison Exact(std::string subject, State state, ComparedBy by, std::string detail = {}) {
  return {.subject = std::move(subject),
          .state = state,
          .compared_by = by,
          .first_difference = {},
          .detail = std::move(detail),
          .tensor = {}};
}

Report Drilled() {
  Report report;
  for (const bool equal : {true, false}) {
    ReportRun& run = report.runs.emplace_back();
    run.run_id = equal ? "mlp-1" : "mlp-2";
    run.verdict = equal ? Verdict::kIdentical : Verdict::kInconclusive;
    run.exact = {
        Exact("weights model.safetensors", State::kEqual, ComparedBy::kTensors),
        Exact("other model.pkl", equal ? State::kEqual : State::kDiffers, ComparedBy::kFileDigest),
        Exact("curve train_loss", State::kEqual, ComparedBy::kValues)};
    if (!equal) {
      run.exact.push_back(Exact("other vocab.txt", State::kMissing, ComparedBy::kNothing,
                                "the rerun did not write it"));
    }
  }
  Tally(&report);
  return report;
}

TEST(Outputs, AreToldWithHowTheyWereCompared) {
  EXPECT_THAT(OutputLines(Drilled(), true),
              ElementsAre("other vocab.txt: not compared in 1 run: the rerun did not write it",
                          "other model.pkl: by SHA-256 of the file in 2 runs; equal in 1",
                          "weights model.safetensors: by tensors in 2 runs; equal"));
  EXPECT_EQ(OutputLines(Drilled(), false).size(), 2U) << "tensors are what one expects";
}

TEST(Outputs, StandInEveryReport) {
  const Report report = Drilled();
  EXPECT_THAT(WriteTerminal(DocumentOf(report), 100, false),
              HasSubstr("other model.pkl: by SHA-256"));
  EXPECT_THAT(WriteTerminal(DocumentOf(report), 100, false), Not(HasSubstr("by tensors")));
  EXPECT_THAT(WriteTerminal(DocumentOf(report, true), 100, false),
              HasSubstr("by tensors in 2 runs; equal"));
  EXPECT_THAT(WriteMarkdown(DocumentOf(report)),
              HasSubstr("other model.pkl: by SHA-256 of the file in 2"));
  EXPECT_THAT(WriteHtml(DocumentOf(report)), HasSubstr("other model.pkl"));
  EXPECT_THAT(WriteJunit(DocumentOf(report)), HasSubstr("other model.pkl"));
}

TEST(Outputs, ThatNothingComparesAreNamedWhereAllReproduced) {
  Report report;
  for (const char* name : {"a.txt", "a.txt", "b.txt", "c.txt"}) {
    ReportRun& run = report.runs.emplace_back();
    run.verdict = Verdict::kIdentical;
    run.notes = {"a note", "output '/x/d.npy' is not compared: it lies elsewhere",
                 std::string("not compared: ") + name};
  }
  Tally(&report);
  ASSERT_EQ(report.exit_code, 0);
  EXPECT_EQ(NotComparedLine(report), "Not compared: /x/d.npy and 3 more.");
  EXPECT_THAT(WriteTerminal(DocumentOf(report), 80, false),
              HasSubstr("reproduced.\nNot compared: /x/d.npy and 3 more.\n"));
  for (ReportRun& run : report.runs) run.notes = {"a note", "metric loss: not compared elsewhere"};
  EXPECT_EQ(NotComparedLine(report), "");
  EXPECT_THAT(WriteTerminal(DocumentOf(report), 80, false), Not(HasSubstr("Not compared")));
}

TEST(Outputs, KeepInJsonHowTheyWereCompared) {
  const auto read = ParseReport(ToJson(Drilled()), "report.json");
  ASSERT_TRUE(read.ok()) << read.error().ToString();
  EXPECT_EQ(read->runs[1].exact[1].compared_by, ComparedBy::kFileDigest);
  EXPECT_EQ(OutputLines(*read, true), OutputLines(Drilled(), true));
}

}  // namespace
}  // namespace rharness
