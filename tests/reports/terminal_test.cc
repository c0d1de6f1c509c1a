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
  for (const int columns : {20, 40, 60, 80, 100, 200}) {
    for (const std::string& line : ReportLinesOf(WriteTerminal(SampleReport(), columns, false))) {
      EXPECT_LE(DisplayWidth(line), columns) << line;
    }
  }
}

TEST(Terminal, ColumnsAreAligned) {
  const std::vector<std::string> lines = ReportLinesOf(WriteTerminal(SampleReport(), 100, false));
  const int width = DisplayWidth(lines[0]);
  int rows = 0;
  for (const std::string& line : lines) {
    if (line.empty()) break;
    if (line.starts_with(" ")) continue;  // a headline below its row
    ++rows;
    EXPECT_EQ(DisplayWidth(line), width) << line;
  }
  EXPECT_EQ(rows, 13);
}

TEST(Terminal, LongNamesLoseTheirMiddle) {
  const std::string text = WriteTerminal(SampleReport(), 80, false);
  EXPECT_TRUE(Contains(text, "lm-small/2026-09-21"));
  EXPECT_TRUE(Contains(text, "…"));
  EXPECT_TRUE(Contains(text, "long-name-of-its-own"));
}

TEST(Terminal, EndsWithCountsAnswerAndNextStep) {
  const std::vector<std::string> lines = ReportLinesOf(WriteTerminal(SampleReport(), 200, false));
  const std::size_t n = lines.size();
  EXPECT_EQ(lines[n - 3],
            "4 identical, 1 equivalent, 3 drifted, 1 inconclusive, 1 not comparable, 1 failed, "
            "1 infrastructure");
  EXPECT_EQ(lines[n - 2], "3 of 12 runs drifted.");
  EXPECT_TRUE(lines[n - 1].starts_with("Next: Look first at"));
}

TEST(Terminal, ColoursAreOptionalAndAllThatColouringAdds) {
  const std::string plain = WriteTerminal(SampleReport(), 100, false);
  const std::string coloured = WriteTerminal(SampleReport(), 100, true);
  EXPECT_FALSE(Contains(plain, "\x1b"));
  EXPECT_TRUE(Contains(coloured, "\x1b[1;31m✗ drifted"));
  EXPECT_EQ(SafeText(coloured, 100'000, Lines::kKeep), plain);  // SafeText drops colours
}

TEST(Terminal, HostileTextMovesNoCursorAndFits) {
  for (const std::string& text : HostileTexts()) {
    const std::string out = WriteTerminal(HostileReport(text), 80, false);
    for (const char c : out) EXPECT_TRUE(static_cast<unsigned char>(c) >= 0x20 || c == '\n');
    EXPECT_FALSE(Contains(out, "\u202E"));
    for (const std::string& line : ReportLinesOf(out)) EXPECT_LE(DisplayWidth(line), 80) << line;
    EXPECT_LT(out.size(), 100'000U);
  }
}

TEST(Terminal, ALargeDrillIsCountedAndNotListed) {
  const std::string text = WriteTerminal(LargeReport(10'000, 2), 100, false);
  EXPECT_LT(ReportLinesOf(text).size(), 500U);
  EXPECT_TRUE(Contains(text, "… and 4,800 more runs that did not reproduce"));
  EXPECT_TRUE(Contains(text, "… and 4,970 more runs that reproduced"));
}

TEST(Terminal, SaysThatNothingWasSelected) {
  const std::string text = WriteTerminal(EmptyReport(), 80, false);
  EXPECT_TRUE(Contains(text, "No runs were selected"));
  EXPECT_TRUE(Contains(text, "0 runs"));
}

}  // namespace
}  // namespace rharness
