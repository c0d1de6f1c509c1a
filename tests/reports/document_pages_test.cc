// What only the page of a document has: folds, filters, strips.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/reports/html_checker.h"
#include "tests/reports/search_document.h"

namespace rharness {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

TEST(DocumentPage, FoldsRowsOnPagesAloneAndKeepsColumnsInDepthFromATerminal) {
  Document document = SearchDocument();
  DocumentSection& table = document.sections[1];
  table.folds = {{.tone = Verdict::kDrifted, .badge = "bad", .title = "one trial", .rows = 1},
                 {.title = "all others", .rows = 1, .open = true}};
  table.columns[1].in_depth = true;
  const std::string page = WriteHtml(document);
  EXPECT_EQ(CheckHtml(page).error, "");
  EXPECT_THAT(page, HasSubstr("<details><summary><span class=\"b\">bad</span> one trial<"));
  EXPECT_THAT(page, HasSubstr("<details open><summary> all others<"));
  const std::string text = WriteTerminal(document, 80, false);
  EXPECT_THAT(text, AllOf(Not(HasSubstr("all others")), Not(HasSubstr("as recorded"))));
  EXPECT_THAT(text, HasSubstr("second"));
  EXPECT_THAT(WriteMarkdown(document),
              AllOf(Not(HasSubstr("all others")), HasSubstr("as recorded")));
}

TEST(DocumentPage, FiltersRowsByItsScriptAndLeadsFromCountsToTheFirstOfEachVerdict) {
  Document document = SearchDocument();
  document.counts = {{"drifted", 1}, {"identical", 2}};
  document.counted = "trial";
  document.sections[1].filter = "Find a trial";
  document.sections[1].rows.push_back(document.sections[1].rows[0]);
  const std::string page = WriteHtml(document);
  const HtmlFacts facts = CheckHtml(page);
  EXPECT_EQ(facts.error, "");
  EXPECT_EQ(facts.elements.at("script"), 1);
  EXPECT_THAT(facts.ids, testing::Contains("first-drifted").Times(1));
  EXPECT_THAT(facts.hrefs, testing::Contains("#first-drifted"));
  EXPECT_THAT(page, HasSubstr("<tbody class=\"never\">")) << "a row without a badge";
  EXPECT_THAT(WriteTerminal(document, 80, false), HasSubstr("\n2 identical, 1 drifted\n"));
  EXPECT_THAT(WriteMarkdown(document), HasSubstr("✗ drifted **1**"));
}

TEST(DocumentPage, ColoursEachSignOfAStrip) {
  Document document = SearchDocument();
  document.sections[1].rows[0].cells[2] = {"✓✗ ·", DocumentCell::As::kStrip};
  document.sections[0].strip = {{Verdict::kIdentical, "night 1"}, {Verdict::kDrifted, "night 2"}};
  const std::string page = WriteHtml(document);
  EXPECT_THAT(page, HasSubstr("<i class=\"identical\">✓</i><i class=\"drifted\">✗</i><i "
                              "class=\"no\">·</i></span>"));
  EXPECT_THAT(page, HasSubstr("<li class=\"drifted\" title=\"night 2\">✗</li></ol>"));
  EXPECT_THAT(WriteTerminal(document, 80, false), HasSubstr("✓✗ ·"));
}

TEST(DocumentPage, BreaksNoFactThatIsToStayWhole) {
  Document document = SearchDocument();
  const std::string command = "train " + std::string(90, 'x');
  document.sections[0].facts = {{"command", command}};
  EXPECT_THAT(WriteTerminal(document, 60, false), Not(HasSubstr(command)));
  document.sections[0].whole = true;
  EXPECT_THAT(WriteTerminal(document, 60, false), HasSubstr("  command: " + command + "\n"));
}

}  // namespace
}  // namespace rharness
