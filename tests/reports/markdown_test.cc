// The Markdown summary: its tables, its limits, and text that stays text.
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "reports/model.h"
#include "tests/reports/hostile.h"
#include "tests/reports/sample_report.h"
#include "tests/reports/text_parts.h"

namespace rharness {
namespace {

// Cells of a table line: unescaped pipes, less the outer ones.
int Cells(const std::string& line) {
  int pipes = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '\\') {
      ++i;
    } else if (line[i] == '|') {
      ++pipes;
    }
  }
  return pipes - 1;
}

TEST(Markdown, OpensWithTheAnswerAndTheNextStep) {
  const std::string markdown = WriteMarkdown(DocumentOf(SampleReport()));
  EXPECT_TRUE(markdown.starts_with("## 3 of 12 runs drifted.\n\n**Next:** Look"));
}

TEST(Markdown, EveryTableLineHasTheCellsOfItsHead) {
  for (const std::string& text : HostileTexts()) {
    std::istringstream lines(WriteMarkdown(DocumentOf(HostileReport(text))));
    std::string line;
    int cells = 0;
    while (std::getline(lines, line)) {
      if (!line.starts_with("|")) {
        cells = 0;
        continue;
      }
      if (cells == 0) cells = Cells(line);
      EXPECT_EQ(Cells(line), cells) << line.substr(0, 300);
    }
  }
}

TEST(Markdown, HostileTextMakesNoElementsLinksOrMentions) {
  const std::string plain = WriteMarkdown(DocumentOf(HostileReport("x")));
  for (const std::string& text : HostileTexts()) {
    const std::string markdown = WriteMarkdown(DocumentOf(HostileReport(text)));
    EXPECT_FALSE(Contains(markdown, "<script"));
    EXPECT_FALSE(Contains(markdown, "<img"));
    EXPECT_FALSE(Contains(markdown, "<!--"));
    EXPECT_FALSE(Contains(markdown, "\x1b"));
    EXPECT_LE(CountOf(markdown, "<details>"), CountOf(plain, "<details>"));
    EXPECT_EQ(CountOf(markdown, "<details>"), CountOf(markdown, "</details>"));
    EXPECT_EQ(CountOf(markdown, "<code>"), CountOf(markdown, "</code>"));
    // A <pre> block is raw, and GitHub looks for no mentions or links in one.
    const std::string before_logs = markdown.substr(0, markdown.find("<pre>"));
    EXPECT_FALSE(Contains(before_logs, "@everyone"));
    EXPECT_FALSE(Contains(before_logs, "#123"));
    EXPECT_FALSE(Contains(before_logs, "https://"));
    EXPECT_LT(markdown.size(), 1'048'576U);
  }
}

TEST(Markdown, SaysInWordsWhatItCutsAndStaysBelowOneMebibyte) {
  const std::string markdown = WriteMarkdown(DocumentOf(LargeReport(20'000, 2)));
  EXPECT_LT(markdown.size(), 1'048'576U);
  EXPECT_TRUE(Contains(markdown, " more rows are in report.json._"));
  EXPECT_TRUE(Contains(markdown, "_The details of "));
}

TEST(Markdown, CutsNothingFromASmallDrill) {
  EXPECT_FALSE(Contains(WriteMarkdown(DocumentOf(SampleReport())), " in report.json._"));
}

TEST(Markdown, DetailsAreThereForWhatDidNotReproduceAndForOutputs) {
  EXPECT_EQ(CountOf(WriteMarkdown(DocumentOf(SampleReport())), "<details>"), 10)
      << "seven runs, the logs of two of them, and how outputs were compared";
}

TEST(Markdown, SaysThatNothingWasSelected) {
  const std::string markdown = WriteMarkdown(DocumentOf(EmptyReport()));
  EXPECT_TRUE(Contains(markdown, "No runs were selected"));
  EXPECT_TRUE(Contains(markdown, "exit code 3"));
}

}  // namespace
}  // namespace rharness
