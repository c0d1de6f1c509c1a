// What many runs say alike is told once, with the runs counted.
#include "reports/told_once.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "reports/summary.h"

namespace rharness {
namespace {

// `count` runs named PREFIX-1, ... of one verdict and headline.
void AddRuns(Report* report, int count, const std::string& prefix, Verdict verdict,
             const std::string& headline) {
  for (int i = 1; i <= count; ++i) {
    ReportRun& run = report->runs.emplace_back();
    run.run_id = fmt::format("{}-{}", prefix, i);
    run.verdict = verdict;
    run.headline = headline;
    for (std::size_t k = 0; k < kLayers.size(); ++k) run.layers[k].layer = kLayers[k];
    run.findings.push_back({.code = "decided", .message = headline, .decisive = true});
  }
}

std::size_t CountIn(std::string_view text, std::string_view part) {
  std::size_t count = 0;
  for (auto at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++count;
  return count;
}

std::vector<std::string> WordsOf(const Report& report) {
  std::vector<std::string> words;
  for (const ToldOnce& told : TellOnce(report)) words.push_back(ToldWords(told));
  return words;
}

using Texts = std::vector<std::string>;

Report FortyRuns() {
  Report report;
  AddRuns(&report, 40, "digits", Verdict::kNotComparable, "the data is not the recorded one");
  AddRuns(&report, 1, "lone", Verdict::kFailed, "the run exited with 1");
  for (ReportRun& run : report.runs) {
    run.layers[2].not_known = {"Python packages not recorded"};
    run.layers[2].state = LayerState::kPartlyKnown;
  }
  Tally(&report);
  return report;
}

TEST(ToldOnce, CountsTheRunsThatSayTheSame) {
  EXPECT_EQ(
      WordsOf(FortyRuns()),
      (Texts{"40 runs (digits-1, digits-2, digits-3 and 37 more): the data is not the "
             "recorded one",
             "41 runs (lone-1, digits-1, digits-2 and 38 more): environment not known: Python "
             "packages not recorded"}));
}

TEST(ToldOnce, SaysNothingOfWhatOneRunAloneHas) {
  Report report;
  AddRuns(&report, 1, "a", Verdict::kDrifted, "one thing");
  AddRuns(&report, 1, "b", Verdict::kDrifted, "another thing");
  report.runs[0].findings.push_back({.code = "x", .message = "twice"});
  report.runs[0].findings.push_back({.code = "x", .message = "twice"});  // of two of its reruns
  EXPECT_EQ(WordsOf(report), Texts{});
  EXPECT_EQ(WordsOf(Report{}), Texts{});
}

TEST(ToldOnce, TellsOfGreenRunsWhatChangedEvenOfOne) {
  Report report;
  AddRuns(&report, 2, "a", Verdict::kIdentical, "all 3 that decide are equal bit for bit");
  report.runs[1].findings.push_back(
      {.code = "facts_changed", .message = "Identical, although numpy went from 1.26.4 to 2.4.6."});
  EXPECT_EQ(WordsOf(report), Texts{"a-2: Identical, although numpy went from 1.26.4 to 2.4.6."})
      << "that both are equal is no news";
}

TEST(ToldOnce, TellsOfRerunsThatDifferEvenOfOneRun) {
  Report report;
  AddRuns(&report, 1, "a", Verdict::kDrifted, "bits differ");
  report.runs[0].findings.push_back({.code = "reruns_differ", .message = "The reruns differ."});
  report.runs[0].causes.push_back({.code = "reruns_differ", .statement = "The reruns differ."});
  EXPECT_EQ(WordsOf(report), Texts{"a-1: The reruns differ."});
}

TEST(ToldOnce, TellsOneCauseOfManyRunsOnce) {
  Report report;
  AddRuns(&report, 3, "a", Verdict::kDrifted, "");
  for (ReportRun& run : report.runs) {
    run.causes.push_back({.code = "variable_changed",
                          .layer = Layer::kEnvironment,
                          .strength = Strength::kLikely,
                          .statement = "OMP_NUM_THREADS changed.",
                          .evidence = {"variable.OMP_NUM_THREADS: 1 in A, 2 in B"}});
  }
  EXPECT_EQ(WordsOf(report),
            Texts{"3 runs (a-1, a-2, a-3): likely cause (environment): OMP_NUM_THREADS changed. "
                  "variable.OMP_NUM_THREADS: 1 in A, 2 in B"});
}

TEST(ToldOnce, NamesLastWhatMattersToASignatureAlone) {
  Report report;
  AddRuns(&report, 3, "a", Verdict::kEquivalent, "as good");
  for (ReportRun& run : report.runs) {
    run.findings.push_back({.code = "file_unproven", .message = "nothing shows that a file is it"});
    run.findings.push_back({.code = "seed_not_set", .message = "nobody set a seed"});
    run.causes.push_back({.code = "x", .statement = "a cause"});
  }
  const Texts words = WordsOf(report);
  ASSERT_EQ(words.size(), 3U);
  EXPECT_NE(words.back().find("nothing shows that a file is it"), std::string::npos);
}

TEST(ToldOnce, NamesTheMostTellingOfSharedChangesFirst) {
  Report report;
  AddRuns(&report, 2, "a", Verdict::kDrifted, "");
  for (ReportRun& run : report.runs) {
    run.layers[2].differences = {
        {Layer::kEnvironment, "software.host_packages", FactWeight::kContext, "a", "b"},
        {Layer::kEnvironment, "variable.OPENBLAS_CORETYPE", FactWeight::kContext, "Haswell",
         "Nehalem"}};
  }
  EXPECT_EQ(WordsOf(report),
            (Texts{"2 runs (a-1, a-2): environment variable.OPENBLAS_CORETYPE: Haswell → Nehalem",
                   "2 runs (a-1, a-2): environment software.host_packages: a → b"}));
}

TEST(ToldOnce, CountsPackagesBesideTheRunTogether) {
  Report report;
  AddRuns(&report, 2, "a", Verdict::kDrifted, "");
  for (ReportRun& run : report.runs) {
    for (const char* name : {"a2ps", "htop", "tzdata", "wget"}) {
      run.layers[2].differences.push_back({Layer::kEnvironment,
                                           fmt::format("package.dpkg.{}:amd64", name),
                                           FactWeight::kContext, "1", "2", FactUse::kNotUsed});
    }
  }
  EXPECT_EQ(WordsOf(report),
            Texts{"2 runs (a-1, a-2): environment 4 packages changed that the run is not known to "
                  "have used: a2ps, htop, tzdata and 1 more"});
}

TEST(ToldOnce, StandsOnceInEveryFormat) {
  const Report report = FortyRuns();
  const std::string headline = "the data is not the recorded one";
  const std::string terminal = WriteTerminal(DocumentOf(report), 200, false);
  EXPECT_EQ(CountIn(terminal, headline), 1u);
  EXPECT_EQ(CountIn(terminal, "40 runs: " + headline), 1u);
  EXPECT_EQ(CountIn(terminal, "Python packages not recorded"), 1u);
  EXPECT_EQ(CountIn(terminal, "digits-40"), 1u) << "every run keeps its row";
  const std::string markdown = WriteMarkdown(DocumentOf(report));
  const std::string table = markdown.substr(0, markdown.find("<details>"));
  EXPECT_EQ(CountIn(table, headline), 1u);
  EXPECT_EQ(CountIn(table, "as in 40 runs, see above"), 40u);
  const std::string page = WriteHtml(DocumentOf(report));
  EXPECT_EQ(CountIn(page, "40 runs (digits-1, digits-2, digits-3 and 37 more)"), 1u);
}

// A thousand drifted runs, each with another change of its reruns.
TEST(ToldOnce, LeavesTheRunsInSightHoweverMuchIsTold) {
  Report report;
  AddRuns(&report, 1000, "a", Verdict::kDrifted, "");
  for (std::size_t i = 0; i < report.runs.size(); ++i) {
    report.runs[i].findings.push_back(
        {.code = "reruns_differ", .message = fmt::format("{} tensors differ", i)});
  }
  Tally(&report);
  const std::string page = WriteHtml(DocumentOf(report));
  const std::string open = page.substr(0, page.find("<summary>994 more</summary>"));
  EXPECT_LT(open.size(), page.size());
  EXPECT_EQ(CountIn(open, "tensors differ"), 6u);
}

TEST(ToldOnce, IsFoldedOnAGreenNight) {
  Report report;
  AddRuns(&report, 2, "a", Verdict::kIdentical, "Identical.");
  for (ReportRun& run : report.runs) run.layers[2].not_known = {"Python packages not recorded"};
  Tally(&report);
  const std::string words = "2 runs (a-1, a-2): environment not known";
  const std::string terminal = WriteTerminal(DocumentOf(report), 200, false);
  EXPECT_EQ(CountIn(terminal, words), 0u);
  EXPECT_EQ(CountIn(WriteTerminal(DocumentOf(report, true), 200, false), words), 1u);
  const std::string folded = "<summary>The same in several runs: 1 remark</summary>";
  EXPECT_EQ(CountIn(WriteHtml(DocumentOf(report)), folded), 1u);
  EXPECT_EQ(CountIn(WriteMarkdown(DocumentOf(report)), folded), 1u);
  report.runs[0].verdict = Verdict::kFailed;
  Tally(&report);
  EXPECT_EQ(CountIn(WriteTerminal(DocumentOf(report), 200, false), words), 1u);
  EXPECT_EQ(CountIn(WriteHtml(DocumentOf(report)), folded), 0u);
  EXPECT_EQ(CountIn(WriteMarkdown(DocumentOf(report)), folded), 0u);
}

TEST(ToldOnce, PutsRunsWithOneHeadlineTogether) {
  Report report;
  AddRuns(&report, 1, "a", Verdict::kFailed, "x");
  AddRuns(&report, 1, "b", Verdict::kFailed, "y");
  AddRuns(&report, 1, "c", Verdict::kFailed, "x");
  AddRuns(&report, 1, "d", Verdict::kDrifted, "x");
  Tally(&report);
  std::string order;
  const Summary summary = Summarize(report);
  for (const ReportRun* run : summary.order) order += run->run_id.substr(0, 1);
  EXPECT_EQ(order, "dacb");
}

}  // namespace
}  // namespace rharness
