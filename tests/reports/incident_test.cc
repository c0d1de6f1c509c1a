// An incident as a page, on a terminal and as JSON; pages of the runbook.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "reports/incident_report.h"
#include "reports/runbook_page.h"
#include "reports/schemas.h"
#include "reports/text.h"
#include "tests/reports/html_checker.h"
#include "tests/reports/schema_validator.h"

namespace rharness {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr char kHostile[] = "a<script>x</script>\x1b[31m\"&'";

IncidentReport Rich() {
  IncidentReport report;
  report.version = "1";
  report.history = "runs.db";
  report.family = kHostile;
  report.run = {.run_id = "c",
                .declared = "bitwise",
                .started = {},
                .last = StoredVerdict{.drill_id = "d2",
                                      .verdict = Verdict::kDrifted,
                                      .decided = {},
                                      .reruns = 1,
                                      .reasons = {{"", kHostile}}}};
  report.good = report.run;
  report.good->run_id = "a";
  report.good->last.reset();
  report.candidates = {{"a", {}, Verdict::kIdentical, ""}, {"b", {}, Verdict::kDrifted, kHostile}};
  report.headline = kHostile;
  report.next = "rharness isolate c";
  report.exit_code = 1;
  report.answers = {{"what_happened", "What happened?", {{kHostile, "history"}}, ""},
                    {"way_back", "How to get back?", {}, "anything"}};
  report.files = {{"w.pt", "weights", FileState::kChanged, kHostile, true}};
  report.signatures = {{"f.intoto.jsonl", SignatureState::kRefused, kHostile}};
  report.rollback = {RollbackState::kRefuted, "d3", Verdict::kDrifted, kHostile, 2, 1.5};
  report.compared = Verdict::kDrifted;
  report.causes = {{"code_changed", Layer::kCode, Strength::kLikely, kHostile, {}, "git diff"}};
  report.layers[1].layer = Layer::kCode;
  report.layers[1].state = LayerState::kDiffers;
  report.layers[1].differences = {
      {.layer = Layer::kCode, .key = "the commit x is gone", .recorded = "x", .observed = {}}};
  report.pages = {{"bits_differ", "Bits differ", "the comparison"}};
  report.bundle = {{"comparison/report.html", "the comparison"}};
  report.notes = {kHostile};
  return report;
}

TEST(IncidentSchema, DescribesExactlyWhatIsWritten) {
  const Json schema = IncidentSchema();
  for (const IncidentReport& report : {Rich(), IncidentReport()}) {
    Validator(schema).Check(ToJson(report), schema, "$");
  }
}

TEST(IncidentHtml, IsAWholePageThatNoNameBreaks) {
  for (const IncidentReport& report : {Rich(), IncidentReport()}) {
    const std::string page = WriteHtml(DocumentOf(report));
    EXPECT_EQ(CheckHtml(page).error, "");
    EXPECT_THAT(page, Not(HasSubstr("<script>x")));
  }
  const std::string page = WriteHtml(DocumentOf(Rich()));
  EXPECT_THAT(page, HasSubstr("href=\"./runbook/bits_differ.html\""));
  EXPECT_THAT(page, HasSubstr("href=\"./comparison/report.html\""));
  EXPECT_THAT(page, HasSubstr("<li>Not known: anything</li>"));
  IncidentReport kept = Rich();
  kept.files.front().state = FileState::kAsRecorded;
  kept.candidates.back().verdict = Verdict::kNotComparable;
  kept.named = true;
  EXPECT_THAT(WriteHtml(DocumentOf(kept)), HasSubstr("as recorded"));
  EXPECT_THAT(WriteHtml(DocumentOf(kept)), HasSubstr("not comparable"));
  EXPECT_THAT(WriteHtml(DocumentOf(kept)), HasSubstr("The run that --good names"));
  EXPECT_THAT(WriteHtml(DocumentOf(kept)), Not(HasSubstr("The last good run")));
}

TEST(IncidentHtml, IsGreenOnlyWhereNothingIsWrong) {
  IncidentReport report = Rich();
  report.exit_code = 0;  // the way back is proven, and the run drifted
  EXPECT_EQ(DocumentOf(report).tone, Verdict::kInfra);
  EXPECT_THAT(WriteTerminal(DocumentOf(report), 80, true), Not(HasSubstr("\x1b[32m")));
  report.run.last->verdict = Verdict::kIdentical;
  EXPECT_EQ(DocumentOf(report).tone, Verdict::kIdentical);
  EXPECT_THAT(WriteTerminal(DocumentOf(report), 80, true), HasSubstr("\x1b[32m"));
}

TEST(IncidentDocument, SaysAllThatIsKnownInEveryFormatForPeople) {
  IncidentReport report = Rich();
  report.candidates_left_out = 7;
  const Document document = DocumentOf(report);
  for (const std::string& text :
       {WriteHtml(document), WriteTerminal(document, 200, false), WriteMarkdown(document)}) {
    for (const char* part :
         {"rharness isolate c", "history", "The last good run", "w.pt", "f.intoto.jsonl", "refused",
          "the commit x is gone", "git diff", "7 that this report leaves out", "Bits differ",
          "comparison/report.html", "likely", "never drilled"}) {
      EXPECT_THAT(text, HasSubstr(part));
    }
  }
  EXPECT_THAT(
      WriteHtml(document),
      HasSubstr(
          "<tr class=\"drifted\"><th scope=\"row\" class=\"name\"><code class=\"name\">w.pt"));
}

TEST(IncidentDocument, HasCasesForTheRollbackAndTheFilesInJunit) {
  IncidentReport report = Rich();
  const std::string refuted = WriteJunit(DocumentOf(report));
  EXPECT_THAT(refuted, HasSubstr("classname=\"incident.rollback\""));
  EXPECT_THAT(refuted, HasSubstr("tests=\"3\" failures=\"3\""));
  report.exit_code = 0;
  report.rollback.state = RollbackState::kProven;
  report.signatures[0].state = SignatureState::kNotChecked;
  report.files[0].state = FileState::kAsRecorded;
  const std::string proven = WriteJunit(DocumentOf(report));
  EXPECT_THAT(proven, HasSubstr("failures=\"0\" errors=\"0\" skipped=\"1\""));
  report.files[0].state = FileState::kMissing;
  report.exit_code = 3;
  EXPECT_THAT(WriteJunit(DocumentOf(report)),
              HasSubstr("failures=\"1\" errors=\"0\" skipped=\"2\""))
      << "the answer fails where no case does";
}

TEST(IncidentTerminal, FitsTheColumnsAndForgesNoLine) {
  for (const int columns : {10, 40, 80, 200}) {
    const std::string text = WriteTerminal(DocumentOf(Rich()), columns, false);
    EXPECT_THAT(text, Not(HasSubstr("\x1b")));
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      EXPECT_LE(DisplayWidth(line), std::max(columns, 40)) << line;
    }
  }
  EXPECT_THAT(WriteTerminal(DocumentOf(Rich()), 80, false), HasSubstr("Not known: anything"));
}

TEST(RunbookPage, IsAWholePageWithItsCommandsAsCode) {
  const RunbookPage page{"bits_differ",
                         "verdict",
                         {{"Means", "Bits differ. So they do."},
                          {"Check", "look <here>"},
                          {"Causes", "code: x"},
                          {"Do", "this"},
                          {"Next", "`rharness compare A B`"}}};
  EXPECT_EQ(RunbookTitle(page), "Bits differ");
  const std::string html = WriteHtml(page, "1.2", "");
  EXPECT_EQ(CheckHtml(html).error, "");
  EXPECT_THAT(html, Not(HasSubstr("index.html")));
  const std::string linked = WriteHtml(page, "1.2", "All <codes>");
  EXPECT_EQ(CheckHtml(linked).error, "");
  EXPECT_THAT(linked, HasSubstr("<a href=\"../index.html\">All &lt;codes&gt;</a>"));
  EXPECT_THAT(html, HasSubstr("<code>rharness compare A B</code>"));
  EXPECT_THAT(html, HasSubstr("look &lt;here&gt;"));
  EXPECT_THAT(html, HasSubstr(">Bits differ. So they do.</p>"));
  EXPECT_THAT(html, Not(HasSubstr("Next:")));  // what it means is no step
  EXPECT_EQ(CheckHtml(WriteRunbookIndex({page}, "1.2")).error, "");
  EXPECT_THAT(WriteMarkdown(page, "1.2"), HasSubstr("**How to check.** look <here>\n"));
  EXPECT_THAT(WriteMarkdown(page, "1.2"), HasSubstr("rharness 1.2"));
}

}  // namespace
}  // namespace rharness
