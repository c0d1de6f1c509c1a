// The answer to an auditor in every format.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reports/audit_report.h"
#include "tests/reports/html_checker.h"

namespace rharness {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr char kHostile[] = "a<script>x</script>\x1b[31m\"&'";

AuditReport Sample() {
  AuditReport report{.version = "1",
                     .history = "runs.db",
                     .run_id = "b",
                     .headline = "b was made so",
                     .next = "ask Ada"};
  report.made = {{kAuditCommand, "train --seed 1"}, {"code", "commit 12"}};
  report.verdicts = {{StoredVerdict{.drill_id = "d2",
                                    .verdict = Verdict::kDrifted,
                                    .reruns = 3,
                                    .reasons = {{"bits_differ", "4 of 4 tensors differ"}}},
                      "node n1"},
                     {StoredVerdict{.drill_id = "d1", .verdict = Verdict::kIdentical}, ""}};
  report.policies = {"policy.yaml"};
  report.exceptions = {{"waiver", "math_*", "reviewed", "ada", "through 2026-12-31", false, ""},
                       {"substitute", "A100 -> H100", "same", "bob", "", true, "is not signed so"}};
  report.statements = {{"good.jsonl", "identical by drill d1", "Ada", "", ""},
                       {"bad.jsonl", "", "", "the key is not known", ""},
                       {"old.jsonl", "", "", "", "an older content"}};
  report.entries = {
      {5, "manifest", "b.json", std::string(64, 'a'), WallTime{}, AuditEntryState::kAsEntered,
       true},
      {6, "verdict", "d2/b", std::string(64, 'b'), WallTime{}, AuditEntryState::kChanged, true},
      {{}, "verdict", "d3/b", std::string(64, 'c'), {}, AuditEntryState::kNotEntered, false}};
  report.tree_size = 17;
  report.root_sha256 = std::string(64, 'f');
  report.head = "over 17 entries, signed by Ada";
  report.notes = {"a note"};
  report.exit_code = 5;
  return report;
}

TEST(AuditDocument, SaysTheSameInEveryFormatForPeople) {
  const Document document = DocumentOf(Sample());
  for (const std::string& text :
       {WriteHtml(document), WriteTerminal(document, 200, false), WriteMarkdown(document)}) {
    for (const char* part : {"b was made so",
                             "ask Ada",
                             "commit 12",
                             "drifted",
                             "bits differ: 4 of 4 tensors differ",
                             "node n1",
                             "not kept",
                             "waiver",
                             "through 2026-12-31",
                             "doubtful: is not signed so",
                             "reviewed",
                             "REFUSED: the key is not known",
                             "not counted: an older content",
                             "identical by drill d1",
                             "CHANGED",
                             "not entered yet",
                             "entry 6",
                             "bbbbbbbbbbbbbbbb",
                             "17",
                             "over 17 entries, signed by Ada",
                             "a note"}) {
      EXPECT_THAT(text, HasSubstr(part));
    }
  }
  EXPECT_EQ(document.tone, Verdict::kDrifted);
  const std::string page = WriteHtml(document);
  EXPECT_EQ(CheckHtml(page).error, "");
  EXPECT_THAT(
      page, HasSubstr("<tr class=\"drifted\"><th scope=\"row\" class=\"name\">verdict d2/b</th>"));
  EXPECT_THAT(
      page,
      HasSubstr("<tr class=\"inconclusive\"><th scope=\"row\" class=\"name\">verdict d3/b</th>"));
  EXPECT_THAT(page, HasSubstr("(over)"));
  EXPECT_THAT(page, HasSubstr("train <span class=\"w\">--seed</span> 1"))
      << "an option stays whole";
}

TEST(AuditDocument, HasACaseAStatementAndAnEntry) {
  AuditReport report = Sample();
  EXPECT_THAT(WriteJunit(DocumentOf(report)),
              HasSubstr("tests=\"6\" failures=\"2\" errors=\"0\" skipped=\"2\""));
  report.statements.resize(1);
  report.entries.resize(1);
  EXPECT_THAT(WriteJunit(DocumentOf(report)), HasSubstr("tests=\"3\" failures=\"1\""))
      << "the answer, for the exit code";
  report.exit_code = 0;
  EXPECT_THAT(WriteJunit(DocumentOf(report)), HasSubstr("tests=\"2\" failures=\"0\""));
}

TEST(AuditDocument, SaysWhatThereIsNot) {
  const Document document = DocumentOf(AuditReport{.run_id = "b"});
  for (const std::string& text :
       {WriteHtml(document), WriteTerminal(document, 200, false), WriteMarkdown(document)}) {
    for (const char* part :
         {"never drilled", "no policy was given", "no statement was given", "nothing to do"}) {
      EXPECT_THAT(text, HasSubstr(part));
    }
  }
  EXPECT_EQ(document.tone, Verdict::kInconclusive);
}

TEST(AuditDocument, IsNotGreenOfARetiredRunWhoseLastVerdictIsBad) {
  AuditReport report{.run_id = "b"};
  report.verdicts.push_back({});
  report.verdicts.front().said.verdict = Verdict::kDrifted;
  report.exceptions.push_back({.kind = "retirement"});
  EXPECT_EQ(DocumentOf(report).tone, Verdict::kInconclusive);
  report.verdicts.front().said.verdict = Verdict::kIdentical;
  EXPECT_EQ(DocumentOf(report).tone, Verdict::kIdentical);
}

TEST(AuditDocument, OnlyShowsTextOfStrangers) {
  AuditReport report = Sample();
  report.headline = report.next = report.run_id = report.head = report.root_sha256 = kHostile;
  report.made[0].name = report.made[0].value = kHostile;
  report.verdicts[0].said.drill_id = report.verdicts[0].where = kHostile;
  report.exceptions[1] = {kHostile, kHostile, kHostile, kHostile, kHostile, true, kHostile};
  report.statements[1] = {kHostile, kHostile, kHostile, kHostile, ""};
  report.entries[0].kind = report.entries[0].name = report.entries[0].sha256 = kHostile;
  const Document document = DocumentOf(report);
  const std::string page = WriteHtml(document);
  EXPECT_EQ(CheckHtml(page).error, "");
  EXPECT_THAT(page, Not(HasSubstr("<script")));
  for (const std::string& text :
       {page, WriteTerminal(document, 80, false), WriteMarkdown(document), WriteJunit(document)}) {
    EXPECT_THAT(text, Not(HasSubstr("\x1b")));
  }
}

}  // namespace
}  // namespace rharness
