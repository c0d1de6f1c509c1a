// The answer to an auditor as a document.
#include <fmt/format.h>

#include <algorithm>

#include "reports/audit_words.h"
#include "reports/text.h"
#include "reports/words.h"

namespace rharness {
namespace {

using As = DocumentCell::As;

DocumentSection MadeSection(const AuditReport& report) {
  DocumentSection section{.title = "How it was made, and from what"};
  for (const AuditFact& fact : report.made) section.facts.emplace_back(fact.name, fact.value);
  return section;
}

DocumentSection VerdictSection(const AuditReport& report) {
  DocumentSection section{
      .title = "Last reproduced",
      .columns = {{"When"}, {"Verdict"}, {"Drill"}, {"Reruns", true}, {"Where"}}};
  if (report.verdicts.empty()) section.words = "never drilled";
  for (const auto& [said, on] : report.verdicts) {
    DocumentRow row{
        .tone = said.verdict,
        .cells = {FormatMinute(said.decided),
                  {fmt::format("{} {}", VerdictSign(said.verdict), VerdictLabel(said.verdict)),
                   As::kBadge},
                  said.drill_id,
                  std::to_string(said.reruns),
                  on.empty() ? "not kept" : on}};
    row.details = ReasonWords(said.reasons);
    section.rows.push_back(std::move(row));
  }
  return section;
}

std::string KindWords(const std::string& kind) {
  if (kind == "retirement") return "retired";
  return kind == kAuditRetirementRequest ? "to be retired" : kind;
}

DocumentSection ExceptionSection(const AuditReport& report) {
  DocumentSection section{.title = "Exceptions",
                          .words = NoExceptionWords(report),
                          .columns = {{"Kind"}, {"Of"}, {"Signed by"}, {"Holds"}, {"Why"}}};
  for (const AuditException& one : report.exceptions) {
    const Verdict tone = !one.doubt.empty() ? Verdict::kDrifted
                         : one.holds        ? Verdict::kInconclusive
                                            : Verdict::kInfra;
    const bool unsigned_one = one.kind == "retirement" && one.signed_by.empty();
    DocumentRow row{
        .tone = tone,
        .cells = {KindWords(one.kind), one.about, unsigned_one ? "unsigned" : one.signed_by,
                  one.until + (one.holds ? "" : " (over)"), one.reason}};
    if (!one.doubt.empty()) row.details = {"doubtful: " + one.doubt};
    section.rows.push_back(std::move(row));
  }
  return section;
}

DocumentSection StatementSection(const AuditReport& report) {
  DocumentSection section{.title = "Signed statements",
                          .words = report.statements.empty() ? "no statement was given" : "",
                          .columns = {{"File"}, {"Signed by"}, {"Says"}},
                          .cases = true};
  for (const AuditStatement& one : report.statements) {
    const Verdict tone = !one.refused.empty()       ? Verdict::kDrifted
                         : !one.not_counted.empty() ? Verdict::kInconclusive
                                                    : Verdict::kIdentical;
    section.rows.push_back(
        {.tone = tone,
         .cells = {one.file, one.signed_by,
                   fmt::format("{}{}", StatementMark(one), StatementWords(one))}});
  }
  return section;
}

Verdict ToneOf(AuditEntryState state) {
  if (IsFault(state)) return Verdict::kDrifted;
  return state == AuditEntryState::kNotEntered ? Verdict::kInconclusive : Verdict::kIdentical;
}

DocumentSection EntrySection(const AuditReport& report) {
  DocumentSection section{
      .title = "In the log",
      .facts = {{"Entries of the log", std::to_string(report.tree_size)},
                {"Root", report.root_sha256},
                {"Newest head", report.head.empty() ? "none" : report.head}},
      .columns = {{"What"}, {"State"}, {"Place"}, {"SHA-256"}, {"Entered"}, {"Under a head"}},
      .cases = true};
  for (const AuditEntryRow& row : report.entries) {
    section.rows.push_back({.tone = ToneOf(row.state),
                            .cells = {fmt::format("{} {}", row.kind, row.name),
                                      {std::string(AuditStateWords(row.state)), As::kBadge},
                                      EntryPlace(row),
                                      {row.sha256.substr(0, 16), As::kCode},
                                      row.entered ? FormatMinute(*row.entered) : "-",
                                      row.signed_over ? "yes" : "no"}});
  }
  return section;
}

}  // namespace

Document DocumentOf(const AuditReport& report) {
  const bool shown = !report.verdicts.empty() && Reproduced(report.verdicts.front().said.verdict);
  Document document{.name = "audit",
                    .about = fmt::format("Audit of {}", report.run_id),
                    .version = report.version,
                    .made = report.at,
                    .tone = report.exit_code != 0 ? Verdict::kDrifted
                            : shown               ? Verdict::kIdentical
                                                  : Verdict::kInconclusive,
                    .headline = report.headline,
                    .next = report.next.empty() ? "nothing to do" : report.next,
                    .notes = report.notes,
                    .record = "the output of --json",
                    .exit_code = report.exit_code};
  document.sections = {MadeSection(report), VerdictSection(report), ExceptionSection(report),
                       StatementSection(report), EntrySection(report)};
  std::erase_if(document.sections, IsEmpty);
  return document;
}

}  // namespace rharness
