// The document model: every format says the same, none acts, none grows without bound.
#include "reports/document.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "reports/text.h"
#include "tests/reports/hostile.h"
#include "tests/reports/html_checker.h"
#include "tests/reports/search_document.h"

namespace rharness {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

Document Hostile(const std::string& text) {
  Document document = SearchDocument();
  document.about = document.headline = document.next = document.version = text;
  document.notes = {text};
  document.facts[0].first = document.facts[0].second = text;
  document.cases = {{.title = text, .rows = {{.cells = {text}, .details = {text}}}}};
  for (DocumentSection& section : document.sections) {
    section.title = section.words = text;
    section.items = {text};
    section.facts = {{text, text}};
    section.pictures = {{"<svg></svg>", text}, {"<svg></svg>", text}};
    for (DocumentRow& row : section.rows) {
      row.details = {text};
      for (DocumentCell& cell : row.cells) cell.text = cell.href = text;
    }
  }
  return document;
}

TEST(Document, SaysTheSameInEveryFormat) {
  Document document = SearchDocument();
  document.sections[1].cases = true;
  for (const std::string& text : {WriteHtml(document), WriteTerminal(document, 100, false),
                                  WriteMarkdown(document), WriteJunit(document)}) {
    for (const char* part : {"the driver makes np-1 drift", "drifts", "it drifted by 0.3", "3 s"}) {
      EXPECT_THAT(text, HasSubstr(part));
    }
  }
  for (const std::string& text :
       {WriteHtml(document), WriteTerminal(document, 100, false), WriteMarkdown(document)}) {
    for (const char* part : {"set it back", "a note", "8 of 20", "In words", "rerun 7"}) {
      EXPECT_THAT(text, HasSubstr(part));
    }
    EXPECT_THAT(text, Not(HasSubstr("Never filled")));
  }
}

TEST(Document, IsAWellFormedPageWithItsLinks) {
  const HtmlFacts facts = CheckHtml(WriteHtml(SearchDocument()));
  EXPECT_EQ(facts.error, "");
  EXPECT_THAT(facts.hrefs, testing::Contains("./runs/2/evidence.json"));
}

TEST(Document, HasACaseARowInJunit) {
  Document document = SearchDocument();
  document.sections[1].cases = true;
  const std::string junit = WriteJunit(document);
  EXPECT_THAT(junit, HasSubstr("tests=\"2\""));
  EXPECT_THAT(junit, HasSubstr("failures=\"1\""));
  EXPECT_THAT(junit, HasSubstr("message=\"it drifted by 0.3\""));
}

TEST(Document, HasATypeAndAMessageOfACaseOfItsOwnAndNoTimeThatIsNotKnown) {
  Document document = SearchDocument();
  document.cases = {{.title = "",
                     .rows = {{.tone = Verdict::kInfra,
                               .cells = {"baseline"},
                               .details = {"baseline_expired: it is over (rule: holds)"},
                               .message = "it is over",
                               .case_type = "no_evidence"}}}};
  const std::string junit = WriteJunit(document);
  EXPECT_THAT(junit,
              HasSubstr("<error message=\"it is over\" type=\"no_evidence\">baseline_expired: "
                        "it is over (rule: holds)\n</error>"));
  EXPECT_THAT(junit, Not(HasSubstr("timestamp")));
  document.made = *ParseTime("2026-11-20T08:03:00Z");
  EXPECT_THAT(WriteJunit(document), HasSubstr("timestamp=\"2026-11-20T08:03:00\""));
}

TEST(Document, ShowsTheBeginningOfEverySectionOnAShortScreen) {
  Document document = SearchDocument();
  DocumentSection& table = document.sections[1];
  while (table.rows.size() < 50) table.rows.push_back(table.rows[1]);
  document.sections.push_back({.title = "Behind", .words = "still here"});
  const std::string screen = WriteTerminal(document, 80, false, 24);
  EXPECT_THAT(screen,
              AllOf(HasSubstr("\n  first"), ContainsRegex("and 4[4-7] more, in search.json"),
                    HasSubstr("still here")))
      << screen;
  EXPECT_THAT(WriteTerminal(document, 80, false, 200), Not(HasSubstr(" more, in search.json")));
}

TEST(Document, HasTheDetailsOfGoodRowsBehindThoseOfOthers) {
  Document document = SearchDocument();
  document.sections[1].rows[1].details = {"4 of 4 tensors equal"};
  std::ranges::reverse(document.sections[1].rows);
  for (const std::string& text :
       {WriteHtml(document), WriteMarkdown(document), WriteTerminal(document, 80, false)}) {
    EXPECT_THAT(text, HasSubstr("4 of 4 tensors equal"));
  }
  const std::string markdown = WriteMarkdown(document);
  EXPECT_LT(markdown.find("it drifted by 0.3"), markdown.find("4 of 4 tensors equal"));
}

TEST(Document, FailsInJunitAsItsExitCodeSays) {
  Document document = SearchDocument();
  EXPECT_THAT(WriteJunit(document), HasSubstr("failures=\"1\"")) << "the answer is the one case";
  document.exit_code = 0;
  EXPECT_THAT(WriteJunit(document), HasSubstr("failures=\"0\""));
  EXPECT_THAT(WriteJunit(document), HasSubstr("tests=\"1\""));
  document.sections[1].cases = true;
  document.sections[1].rows.erase(document.sections[1].rows.begin());
  document.exit_code = 3;
  EXPECT_THAT(WriteJunit(document), HasSubstr("failures=\"1\"")) << "no case fails, the code does";
}

TEST(Document, OnlyShowsTextOfStrangers) {
  for (const std::string& text : HostileTexts()) {
    const Document document = Hostile(text);
    const std::string page = WriteHtml(document);
    EXPECT_EQ(CheckHtml(page).error, "");
    EXPECT_THAT(page, Not(HasSubstr("<script")));
    for (const std::string& out : {page, WriteTerminal(document, 80, false),
                                   WriteMarkdown(document), WriteJunit(document)}) {
      EXPECT_THAT(out, Not(HasSubstr("\x1b")));
      EXPECT_THAT(out, Not(HasSubstr("\u202e")));
    }
  }
}

TEST(Document, KeepsToTheLimitsOfEachFormat) {
  Document document = SearchDocument();
  DocumentSection& table = document.sections[1];
  while (table.rows.size() < 3000) table.rows.push_back(table.rows[0]);
  for (DocumentRow& row : table.rows) row.cells[0].text = std::string(2000, 'x');
  for (int i = 0; i < 100; ++i) document.sections.push_back(document.sections[1]);
  EXPECT_LT(WriteHtml(document).size(), 5'000'000U);
  EXPECT_LT(WriteMarkdown(document).size(), 1'000'000U);
  EXPECT_LT(WriteTerminal(document, 100, false).size(), 500'000U);
  for (const std::string& text :
       {WriteHtml(document), WriteMarkdown(document), WriteTerminal(document, 100, false)}) {
    EXPECT_THAT(text, HasSubstr("search.json")) << "where the rest is";
  }
}

TEST(Document, KeepsToTheColumnsOfATerminal) {
  for (const int columns : {80, 120}) {
    const std::string text = WriteTerminal(SearchDocument(), columns, false);
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = text.find('\n', at);
      EXPECT_LE(DisplayWidth(text.substr(at, end - at)), columns);
      at = end + 1;
    }
  }
}

TEST(Document, ShowsPicturesAndHowToReadThemOnPagesAlone) {
  Document document = SearchDocument();
  document.sections.push_back(
      {.title = "Drawn", .pictures = {{"<svg></svg>", "Red is bad.", true}}});
  EXPECT_THAT(WriteHtml(document), HasSubstr("Red is bad.</p>\n<figure><svg></svg></figure>"));
  for (const std::string& text : {WriteTerminal(document, 80, false), WriteMarkdown(document)}) {
    EXPECT_THAT(text, Not(HasSubstr("Drawn")));
    EXPECT_THAT(text, Not(HasSubstr("svg")));
  }
}

TEST(Document, ShowsSeveralPicturesBesideEachOtherAndNoneForNothingDrawn) {
  Document document = SearchDocument();
  document.sections = {
      {.title = "Drawn",
       .pictures = {{"<svg>1</svg>", "before"}, {"", "lost"}, {"<svg>2</svg>", "now"}}}};
  const std::string page = WriteHtml(document);
  EXPECT_THAT(page, HasSubstr("<figure><svg>1</svg><figcaption>before</figcaption></figure>"));
  EXPECT_THAT(page, HasSubstr("<figcaption>now</figcaption>"));
  EXPECT_THAT(page, HasSubstr("<div class=\"plots\">"));
  EXPECT_THAT(page, Not(HasSubstr("lost")));
  document.sections[0].pictures = {{"", "lost"}};
  EXPECT_TRUE(IsEmpty(document.sections[0]));
}

TEST(Document, SaysTheFactsOfASectionInEveryFormatForPeople) {
  Document document = SearchDocument();
  document.sections[0].facts = {{"Entries", "17"}, {"Root", "beef"}};
  EXPECT_THAT(WriteHtml(document), HasSubstr("<dt>Root</dt><dd>beef</dd>"));
  EXPECT_THAT(WriteTerminal(document, 80, false), HasSubstr("  Entries: 17\n  Root: beef\n"));
  EXPECT_THAT(WriteMarkdown(document), HasSubstr("- Entries: 17\n- Root: beef\n"));
  document.sections = {{.title = "Log", .facts = {{"Entries", "17"}}}};
  EXPECT_FALSE(IsEmpty(document.sections[0]));
}

TEST(Document, ColoursABadgeOfItsOwn) {
  Document document = SearchDocument();
  document.sections[1].rows[0].cells[1].tone = Verdict::kEquivalent;
  EXPECT_THAT(WriteHtml(document), HasSubstr("<span class=\"b equivalent\">drifts</span>"));
  document.sections[1].rows[0].cells[1].tone.reset();
  EXPECT_THAT(WriteHtml(document), HasSubstr("<span class=\"b\">drifts</span>"));
}

TEST(Document, BreaksNoShortName) {
  Document document = SearchDocument();
  document.sections[1].rows[0].cells[0] = "gemm_tree_fp16";
  document.sections[1].rows[1].cells[0] = std::string(100, 'x');
  const std::string page = WriteHtml(document);
  EXPECT_THAT(page, HasSubstr("<th scope=\"row\" class=\"name\">gemm_tree_fp16</th>"));
  EXPECT_THAT(page, HasSubstr("<th scope=\"row\">xxxx"));
  EXPECT_THAT(page, HasSubstr("<code class=\"name\">as recorded</code>"));
}

TEST(Document, BreaksLongWordsAndSetsNoLongNameInBold) {
  Document document = SearchDocument();
  EXPECT_THAT(WriteHtml(document), Not(HasSubstr("class=\"stack plain\"")));
  document.sections[1].rows[0].cells[1] = "packages=" + std::string(64, 'f') + ", kernel=6";
  EXPECT_THAT(WriteHtml(document), HasSubstr("<td class=\"long\" data-l=\"Answer\">packages="));
  document.sections[1].rows[1].cells[0] = "attestation " + std::string(64, 'a');
  EXPECT_THAT(WriteHtml(document), HasSubstr("class=\"stack plain\""));
}

TEST(Document, HasCasesThatAreShownInJunitAlone) {
  Document document = SearchDocument();
  document.cases = {
      {.title = "math",
       .columns = {{"Probe"}, {"Bits"}},
       .rows = {{.tone = Verdict::kInfra, .cells = {"expf", "2 of 3"}, .details = {"x"}}}},
      {.title = "", .rows = {{.tone = Verdict::kIdentical, .cells = {"baseline"}}}}};
  const std::string junit = WriteJunit(document);
  EXPECT_THAT(junit, HasSubstr("classname=\"search.math\" name=\"expf\""));
  EXPECT_THAT(junit, HasSubstr("classname=\"search\" name=\"baseline\""));
  EXPECT_THAT(junit, HasSubstr("errors=\"1\""));
  EXPECT_THAT(junit, HasSubstr("Bits: 2 of 3"));
  for (const std::string& text :
       {WriteHtml(document), WriteTerminal(document, 80, false), WriteMarkdown(document)}) {
    EXPECT_THAT(text, Not(HasSubstr("expf")));
  }
}

TEST(Document, NamesItsRecordAndItsTimeIfItHasOne) {
  Document document = SearchDocument();
  document.sections[1].rows.resize(1000, document.sections[1].rows[0]);
  document.record = "the output of --json";
  for (const std::string& text :
       {WriteHtml(document), WriteMarkdown(document), WriteTerminal(document, 100, false)}) {
    EXPECT_THAT(text, HasSubstr("the output of --json"));
    EXPECT_THAT(text, Not(HasSubstr("search.json")));
    EXPECT_THAT(text, Not(HasSubstr("not recorded")));
  }
  document.made = *ParseTime("2026-11-20T08:03:00Z");
  EXPECT_THAT(WriteHtml(document), HasSubstr("Search of np-1 · 2026-11-20 08:03 UTC"));
}

TEST(Document, WrapsTheLastColumnAndMovesColumnsWithoutRoomBelowTheirRow) {
  Document document = SearchDocument();
  document.sections = {
      {.title = "Wide",
       .columns = {{"One"}, {"Two"}, {"Three"}, {"Four"}},
       .rows = {{.cells = {"first", "second", std::string(26, 't'),
                           "a sentence that is longer than its column has room"}}}}};
  EXPECT_THAT(
      WriteTerminal(document, 80, false),
      HasSubstr("  One    Two     Three                       Four\n"
                "  first  second  tttttttttttttttttttttttttt  a sentence that is longer than its\n"
                "                                             column has room\n"));
  document.sections[0].rows[0].cells[1] = std::string(40, 's');
  EXPECT_THAT(WriteTerminal(document, 80, false),
              HasSubstr("  One    Three                       Four\n"))
      << "nothing is cut";
  EXPECT_THAT(WriteTerminal(document, 80, false), HasSubstr("\n      Two: ssss"));
  document.sections[0].rows[0].cells = {std::string(90, 'f') + " f1", "second"};
  EXPECT_THAT(WriteTerminal(document, 80, false), HasSubstr("\n      f1\n"))
      << "a name that is cut stands below, whole";
  document.sections[0].rows[0].cells = {"first", "second", std::string(26, 't'),
                                        "a sentence that is longer than its column has room"};
  const std::string narrow = WriteTerminal(document, 40, false);
  EXPECT_THAT(narrow, HasSubstr("  One    Two\n  first  second\n      Three: tttt"));
  EXPECT_THAT(narrow, HasSubstr(" · Four: a"));
  document.sections[0].rows.push_back(document.sections[0].rows[0]);
  EXPECT_THAT(WriteMarkdown(document), HasSubstr("longer than its column has room |"));
}

TEST(Document, GivesItsSectionsToAnotherPage) {
  const std::string sections = HtmlSections(SearchDocument());
  EXPECT_THAT(sections, HasSubstr("<h2>Trials</h2>"));
  EXPECT_THAT(sections, Not(HasSubstr("<h1>")));
  EXPECT_THAT(WriteHtml(SearchDocument()), HasSubstr(sections));
}

TEST(Document, LeavesWhatIsInDepthToTheOtherFormatsAndSaysSo) {
  Document document = SearchDocument();
  document.sections[0].in_depth = true;
  const std::string text = WriteTerminal(document, 80, false);
  EXPECT_THAT(text, Not(HasSubstr("rerun 7")));
  EXPECT_THAT(text, HasSubstr("\nIn the other formats, too: Shown by\n"));
  EXPECT_THAT(WriteHtml(document), HasSubstr("rerun 7"));
  EXPECT_THAT(WriteMarkdown(document), HasSubstr("rerun 7"));
}

TEST(Document, LeavesOutColumnsThatNoRowFills) {
  EXPECT_THAT(UsedColumns(SearchDocument().sections[1]), ElementsAre(0, 1, 2));
}

// A section with `rows` bad rows, each with `details` long sentences, and a short one behind it.
Document Crowded(int rows, int details) {
  Document document = SearchDocument();
  DocumentSection crowd{.title = "Crowd", .columns = {{"Name"}, {"Why"}}};
  for (int i = 0; i < rows; ++i) {
    crowd.rows.push_back({.tone = Verdict::kDrifted,
                          .cells = {std::to_string(i), "because"},
                          .details = std::vector<std::string>(static_cast<std::size_t>(details),
                                                              std::string(900, 'x'))});
  }
  document.sections = {crowd, {.title = "Behind", .words = "still here"}};
  return document;
}

TEST(Document, ShowsPartOfASectionThatIsTooLargeAndAllBehindIt) {
  for (const auto& [rows, details] : {std::pair{300, 40}, std::pair{9000, 1}}) {
    const Document document = Crowded(rows, details);
    const std::string markdown = WriteMarkdown(document);
    EXPECT_LE(markdown.size(), std::size_t{1} << 20);
    if (details > 1) {
      EXPECT_THAT(markdown, ContainsRegex("_The details of [0-9]+ more rows are in search.json._"));
    }
    EXPECT_THAT(markdown, AllOf(HasSubstr("### Crowd"), HasSubstr("| 0 | because |"),
                                HasSubstr("### Behind"), HasSubstr("more rows are in")));
    const std::string page = WriteHtml(document);
    EXPECT_LE(page.size(), std::size_t{5} << 20);
    EXPECT_THAT(page, AllOf(HasSubstr("<h2>Crowd</h2>"), HasSubstr("because"),
                            HasSubstr("<h2>Behind</h2>"), HasSubstr("still here")));
  }
}

TEST(Document, LeavesNoColourBehindOnATerminal) {
  Document document = SearchDocument();
  document.headline = std::string(300, 'a') + " " + std::string(300, 'b');
  for (int rows = 2; rows < 20; ++rows) {
    const std::string text = WriteTerminal(document, 40, true, rows);
    const std::size_t last = text.rfind("\x1b[");
    EXPECT_EQ(text.compare(last, 4, "\x1b[0m"), 0) << rows << text;
  }
}

TEST(Document, HasItsLastColumnAsTheMessageOfACaseWithoutDetails) {
  Document document = SearchDocument();
  document.cases = {{.title = "Runs",
                     .columns = {{"Run"}, {"State"}, {"Seen"}},
                     .rows = {{.tone = Verdict::kDrifted, .cells = {"a", "missed", "0 of 3"}}}}};
  EXPECT_THAT(WriteJunit(document), HasSubstr("message=\"Seen: 0 of 3\""));
}

}  // namespace
}  // namespace rharness
