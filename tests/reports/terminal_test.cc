// Terminal output: columns, colours, and text that moves no cursor.
#include <gtest/gtest.h>

#include <sstream>

#include "reports/model.h"
#include "reports/text.h"
#include "tests/reports/hostile.h"
#include "tests/reports/sample_report.h"
#include "tests/reports/text_parts.h"

namespace rharness {
namespace {

std::vector<std::string> ReportLinesOf(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

TEST(Terminal, EveryLineFitsTheColumns) {
  for (const int columns : {40, 60, 80, 100, 200}) {
    for (const std::string& line :
         ReportLinesOf(WriteTerminal(DocumentOf(SampleReport()), columns, false))) {
      EXPECT_LE(DisplayWidth(line), columns) << line;
    }
  }
}

TEST(Terminal, ColumnsAreAligned) {
  const std::vector<std::string> lines =
      ReportLinesOf(WriteTerminal(DocumentOf(SampleReport()), 100, false));
  const auto head = std::ranges::find(lines, "Runs") + 1;
  const auto column = [](const std::string& line, const char* word) {
    return DisplayWidth(line.substr(0, line.find(word)));
  };
  int rows = 0;
  for (auto line = head + 1; !line->starts_with("Note"); ++line) {
    if (line->starts_with("   ")) continue;  // a headline below its row
    ++rows;
    for (const char* verdict : {"✓", "≈", "✗", "?", "≠", "!", "∅"}) {
      if (!Contains(*line, verdict)) continue;
      EXPECT_EQ(column(*line, verdict), column(*head, "Verdict")) << *line;
    }
  }
  EXPECT_EQ(rows, 12);
}

TEST(Terminal, LongNamesLoseTheirMiddle) {
  const std::string text = WriteTerminal(DocumentOf(SampleReport()), 80, false);
  EXPECT_TRUE(Contains(text, "lm-small/2026-09-21"));
  EXPECT_TRUE(Contains(text, "…"));
  EXPECT_TRUE(Contains(text, "long-name-of-its-own"));
}

TEST(Terminal, EndsWithCountsAnswerAndNextStep) {
  const std::vector<std::string> lines =
      ReportLinesOf(WriteTerminal(DocumentOf(SampleReport()), 200, false));
  const std::size_t n = lines.size();
  EXPECT_EQ(lines[n - 3],
            "4 identical, 1 equivalent, 3 drifted, 1 inconclusive, 1 not comparable, 1 failed, "
            "1 infra");
  EXPECT_EQ(lines[n - 2], "3 of 12 runs drifted.");
  EXPECT_TRUE(lines[n - 1].starts_with("Next: Look first at"));
}

TEST(Terminal, ColoursAreOptionalAndAllThatColouringAdds) {
  const std::string plain = WriteTerminal(DocumentOf(SampleReport()), 100, false);
  const std::string coloured = WriteTerminal(DocumentOf(SampleReport()), 100, true);
  EXPECT_FALSE(Contains(plain, "\x1b"));
  EXPECT_TRUE(Contains(coloured, "\x1b[1;31m  digits-mlp/2026-08-14/seed-3"));
  EXPECT_EQ(SafeText(coloured, 100'000, Lines::kKeep), plain);  // SafeText drops colours
}

TEST(Terminal, HostileTextMovesNoCursorAndFits) {
  for (const std::string& text : HostileTexts()) {
    const std::string out = WriteTerminal(DocumentOf(HostileReport(text)), 80, false);
    for (const char c : out) EXPECT_TRUE(static_cast<unsigned char>(c) >= 0x20 || c == '\n');
    EXPECT_FALSE(Contains(out, "\u202E"));
    for (const std::string& line : ReportLinesOf(out)) EXPECT_LE(DisplayWidth(line), 80) << line;
    EXPECT_LT(out.size(), 100'000U);
  }
}

TEST(Terminal, ALargeDrillIsCountedAndNotListed) {
  const std::string text = WriteTerminal(DocumentOf(LargeReport(10'000, 2)), 100, false);
  EXPECT_LT(ReportLinesOf(text).size(), 500U);
  EXPECT_TRUE(Contains(text, "and 9,800 more (5,000 identical, 4,800 drifted), in report.json\n"));
}

Report GreenReport(int runs, int changes) {
  Report report = LargeReport(runs, 0);
  for (ReportRun& run : report.runs) {
    run.causes = {
        {.code = "variable_changed", .strength = Strength::kPossible, .statement = "A cause."}};
    for (int i = 0; i < changes; ++i) {
      run.layers[2].differences.push_back({.layer = Layer::kEnvironment,
                                           .key = "software.lib" + std::to_string(i),
                                           .recorded = "1.0",
                                           .observed = "2.0"});
    }
  }
  for (int i = 0; i < 8; ++i) {
    report.families.push_back(
        {.name = "family-" + std::to_string(i), .verdict = Verdict::kIdentical});
    report.notes.push_back("a remark about the drill as a whole, number " + std::to_string(i));
  }
  Tally(&report);
  return report;
}

TEST(Terminal, AGreenDrillTakesTenLinesWithThePlaceOfItsPage) {
  for (const int columns : {60, 80, 120}) {
    const std::string text = WriteTerminal(DocumentOf(GreenReport(40, 20)), columns, false);
    EXPECT_LE(ReportLinesOf(text).size(), 9U) << text;
  }
  const std::string text = WriteTerminal(DocumentOf(GreenReport(40, 20)), 200, false);
  EXPECT_TRUE(Contains(text, "40 identical\n"));
  EXPECT_TRUE(Contains(text, "All 40 runs reproduced."));
  EXPECT_TRUE(Contains(text, "Families: family-0 identical"));
  EXPECT_TRUE(Contains(
      text,
      "Changed without effect: environment software.lib0 (1.0 → 2.0) in 40 runs; 19 more facts."));
  EXPECT_TRUE(Contains(text, "more remarks: see the page, or use -v."));
  EXPECT_FALSE(Contains(text, "A cause."));
  Report report = GreenReport(40, 20);
  report.runs[3].verdict = Verdict::kEquivalent;
  EXPECT_TRUE(Contains(WriteTerminal(DocumentOf(report), 200, false),
                       "\nChanged: environment software.lib0"))
      << "bits that differ are an effect";
}

TEST(Terminal, AGreenDrillHasItsRunsAndCausesWhereTheyAreAskedFor) {
  const std::string text = WriteTerminal(DocumentOf(GreenReport(3, 2), true), 200, false);
  EXPECT_TRUE(Contains(text, "Reruns  Time\n"));
  EXPECT_TRUE(Contains(text, "A cause."));
}

TEST(Terminal, NamesTheErrorOfAFailedRunAndItsFile) {
  Report report = LargeReport(2, 0);
  ReportRun& run = report.runs[1];
  run.run_id = "np-1";
  run.verdict = Verdict::kFailed;
  run.headline = "the run exited with 1";
  run.reruns = {{.index = 1,
                 .state = RerunEnd::State::kFailed,
                 .stderr_path = "runs/np-1/1/stderr.log",
                 .stderr_tail = "Traceback (most recent call last):\r\n  File \"t.py\", line 1\r\n"
                                "ModuleNotFoundError: numpy\r\n\n"}};
  Tally(&report);
  const std::string error = "ModuleNotFoundError: numpy (runs/np-1/1/stderr.log)";
  const std::string text = WriteTerminal(DocumentOf(report), 200, false);
  EXPECT_TRUE(Contains(text, "Next: Fix np-1 first: " + error + "\n")) << text;
  EXPECT_TRUE(Contains(text, "  " + error + "\n")) << "below its row, too";
  const std::string page = WriteHtml(DocumentOf(report));
  EXPECT_LT(page.find("Fix np-1 first: " + error), page.find("<main"));
}

TEST(Terminal, SaysThatNothingWasSelected) {
  const std::string text = WriteTerminal(DocumentOf(EmptyReport()), 80, false);
  EXPECT_TRUE(Contains(text, "No runs were selected"));
  EXPECT_TRUE(Contains(text, "0 runs"));
}

}  // namespace
}  // namespace rharness
