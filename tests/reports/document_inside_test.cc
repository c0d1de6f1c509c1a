// Rows with sections of their own, lists beside a margin, and what else a document has for details.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "reports/document.h"
#include "reports/text.h"
#include "tests/reports/html_checker.h"
#include "tests/reports/search_document.h"

namespace rharness {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using As = DocumentCell::As;

// A run of a search with a table, a log and a subject inside; in brief only the table.
std::vector<DocumentSection> Inside(bool in_full) {
  DocumentSection table{
      .title = "Facts",
      .columns = {{"Fact"}, {"Then"}, {.name = "Seen", .details = true}, {"To do"}},
      .rows = {{.cells = {"driver", {"580 open", As::kCode}, "", {"rharness hash x", As::kStep}},
                .details = {"in the log"},
                .sign = "✗",
                .sentence = "driver: 550, recorded 535"}}};
  table.rows[0].cells[1].other = "590 open";
  if (!in_full) return {table};
  return {
      table,
      {.title = "Last lines", .log = "one\n<two>", .folded = true},
      {.title = "Weights",
       .rows =
           {{.tone = Verdict::kDrifted,
             .cells = {"w.bin", {"differs", As::kBadge}, "explains"},
             .sentence = "w.bin: 4 of 4",
             .inside =
                 [](bool) {
                   return std::vector<DocumentSection>{{.title = "", .facts = {{"ULP", "127"}}}};
                 }}},
       .subjects = true}};
}

Document WithInside(std::size_t rows) {
  Document document = SearchDocument();
  document.counted = "run";
  DocumentSection section{.title = "Runs",
                          .columns = {{"Run"}, {"Verdict"}},
                          .filter = "Find a run",
                          .most = {.page = 100'000, .markdown = 100'000},
                          .cases = true};
  for (std::size_t i = 0; i < rows; ++i) {
    section.rows.push_back({.tone = Verdict::kDrifted,
                            .cells = {"r" + std::to_string(i), {"✗ drifted", As::kBadge}},
                            .details = {"it moved"},
                            .case_class = "suite",
                            .case_seconds = 2.5,
                            .inside = Inside});
  }
  document.sections = {std::move(section)};
  return document;
}

TEST(DocumentInside, OpensBelowItsRowOnAPage) {
  const std::string page = WriteHtml(WithInside(2));
  EXPECT_EQ(CheckHtml(page).error, "");
  EXPECT_THAT(page,
              AllOf(HasSubstr("<tr class=\"d\"><td colspan=\"2\"><details><summary>it moved"),
                    HasSubstr("<h3>Facts</h3>"), HasSubstr("<mark>580</mark> open</code>"),
                    HasSubstr("data-l=\"Seen\"><p>in the log</p></td>"),
                    HasSubstr("<pre class=\"cmd\">rharness hash x</pre>"),
                    HasSubstr("<summary>Last lines</summary><pre tabindex=\"0\">one\n&lt;two"),
                    HasSubstr("<dl class=\"numbers\"><dt>ULP</dt><dd>127</dd></dl>"),
                    HasSubstr("<span class=\"soft\">explains</span>")));
}

TEST(DocumentInside, IsListedInTheOtherFormats) {
  const Document document = WithInside(1);
  EXPECT_THAT(WriteMarkdown(document),
              AllOf(HasSubstr("<details><summary>✗ drifted <code>r0</code>: it moved</summary>"),
                    HasSubstr("#### Facts\n\n- ✗ driver: 550, recorded 535\n  - in the log\n"
                              "  - To do: <code>rharness hash x</code>\n"),
                    HasSubstr("<pre>one\n&lt;two&gt;</pre>"), HasSubstr("- w.bin: 4 of 4\n")));
  EXPECT_THAT(WriteJunit(document),
              AllOf(HasSubstr("classname=\"suite\" name=\"r0\" time=\"2.500\""),
                    HasSubstr("drifted: it moved\nFacts:\n- ✗ driver: 550, recorded 535\n"
                              "  - in the log\n  To do: rharness hash x\n"
                              "Last lines:\none\n")));
  EXPECT_THAT(WriteTerminal(document, 80, false),
              AllOf(HasSubstr("  r0   ✗ drifted\n      it moved\n"), Not(HasSubstr("550, rec"))));
}

TEST(DocumentInside, IsShownInBriefOrNotAtAllWhereThePageIsFull) {
  const std::string page = WriteHtml(WithInside(9'000));
  EXPECT_LE(page.size(), 5'000'000U);
  EXPECT_THAT(page, AllOf(HasSubstr("<h3>Facts</h3>"), HasSubstr("in the log"),
                          HasSubstr(" runs are left out to keep this page small; they are in "
                                    "search.json.")));
  std::size_t rows = 0;
  for (std::size_t at = 0; (at = page.find("<tbody class=\"drifted\"", at)) != page.npos; ++at) {
    ++rows;
  }
  EXPECT_EQ(rows, 9'000U) << "every run has its row";
}

TEST(DocumentInside, RunsThatSayTheSameAreToldOnceOnATerminal) {
  EXPECT_THAT(WriteTerminal(WithInside(3), 80, false),
              HasSubstr("  r0   ✗ drifted\n  r1   ✗ drifted\n  r2   ✗ drifted\n"
                        "      3 runs: it moved\n"));
}

TEST(DocumentInside, AnExplainingCaseNeitherFailsNorIsSkipped) {
  Document document = WithInside(1);
  document.exit_code = 0;
  document.sections[0].rows[0].explains = true;
  EXPECT_THAT(WriteJunit(document),
              AllOf(HasSubstr("failures=\"0\""), HasSubstr("(this explains; it does not decide)")));
}

TEST(DocumentMargin, ListsFitTheScreenAndCountWhatTheyLeaveOut) {
  Document document = SearchDocument();
  document.verdict = Verdict::kDrifted;
  document.sections = Inside(false);
  document.sections[0].margin = "causes";
  document.sections[0].rows.resize(30, document.sections[0].rows[0]);
  document.sections.push_back({.title = "Notes", .items = {"one"}, .margin = "notes"});
  const std::string text = WriteTerminal(document, 80, false, 10);
  EXPECT_THAT(text,
              AllOf(HasSubstr("✗ drifted  Search of np-1\nthe driver makes np-1 drift\n"
                              "causes   ✗ driver: 550, recorded 535\n"
                              "           → rharness hash x\n"),
                    HasSubstr(" more causes\n"), HasSubstr("notes    one\n         a note\n")))
      << text;
  EXPECT_LE(std::ranges::count(text, '\n'), 10);
  EXPECT_THAT(WriteMarkdown(document), HasSubstr("## ✗ drifted — the driver makes np-1 drift"));
}

TEST(DocumentInShort, TakesNineLinesAndCountsFurtherRemarks) {
  Document document = SearchDocument();
  document.counts = {{"identical", 3}};
  document.in_short.emplace(12, std::string(70, 'r'));
  const std::string text = WriteTerminal(document, 80, false);
  EXPECT_EQ(std::ranges::count(text, '\n'), 9);
  EXPECT_THAT(text, AllOf(HasSubstr("3 identical\nthe driver makes np-1 drift\n"),
                          HasSubstr("\n6 more remarks: see the page, or use -v.\n")));
}

}  // namespace
}  // namespace rharness
