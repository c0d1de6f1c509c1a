// The answer to an auditor as one page.
#include <fmt/format.h>

#include <algorithm>

#include "reports/audit_words.h"
#include "reports/html_escape.h"
#include "reports/html_page.h"
#include "reports/text.h"

namespace rharness {
namespace {

constexpr std::string_view kAuditRecord = "the output of --json";

std::string AuditFacts(const AuditReport& report) {
  std::string facts;
  for (const AuditFact& fact : report.made) {
    facts += HtmlFact(HtmlText(fact.name, 100),
                      fact.name == kAuditCommand ? HtmlWords(fact.value) : HtmlText(fact.value));
  }
  return fmt::format(
      "<section id=\"made\"><h2>How it was made, and from what</h2>\n<dl "
      "class=\"facts\">{}</dl>\n</section>\n",
      facts);
}

std::string AuditVerdictRows(const AuditReport& report, std::size_t shown) {
  std::string rows;
  for (std::size_t i = 0; i < shown; ++i) {
    const auto& [said, on] = report.verdicts[i];
    std::string reasons;
    for (const Reason& reason : said.reasons) {
      reasons += (reasons.empty() ? "" : "<br>") + HtmlSaid(ReasonText(reason), 600);
    }
    rows += fmt::format(
        "<tr class=\"{}\"><th scope=\"row\">{}</th><td data-l=\"Verdict\">{}</td><td "
        "data-l=\"Drill\">{}</td><td class=\"n\" data-l=\"Reruns\">{}</td><td "
        "data-l=\"Why\">{}</td><td class=\"long\" data-l=\"Where\">{}</td></tr>\n",
        VerdictName(said.verdict), FormatMinute(said.decided), HtmlBadge(said.verdict),
        HtmlText(said.drill_id, 200), said.reruns, reasons,
        on.empty() ? "not kept" : HtmlText(on, 800));
  }
  return rows;
}

std::string AuditVerdictSection(const AuditReport& report) {
  if (report.verdicts.empty()) {
    return "<section><h2>Last reproduced</h2><p>never drilled</p></section>\n";
  }
  const std::size_t shown = std::min(report.verdicts.size(), kMostAuditVerdicts);
  return "<section>" +
         HtmlTable("Last reproduced",
                   HtmlHeads({"When", "Verdict", "Drill", Numbers("Reruns"), "Why", "Where"}),
                   AuditVerdictRows(report, shown), "stack") +
         HtmlLeftOut(report.verdicts.size(), shown, kAuditRecord) + "</section>\n";
}

std::string AuditExceptionSection(const AuditReport& report) {
  std::string rows;
  for (const AuditException& one : report.exceptions) {
    rows += fmt::format(
        "<tr class=\"{}\"><th scope=\"row\">{}</th><td data-l=\"Of\">{}</td><td "
        "data-l=\"Why\">{}</td><td data-l=\"Signed by\">{}</td><td "
        "data-l=\"Until\">{}{}</td></tr>\n",
        !one.doubt.empty() ? "drifted"
        : one.holds        ? "inconclusive"
                           : "infra",
        HtmlText(one.kind, 40), HtmlText(one.about, 200), HtmlText(one.reason, 600),
        HtmlText(one.doubt.empty() ? one.signed_by : "doubtful: " + one.doubt, 600),
        HtmlText(one.until, 100), one.holds ? "" : " (over)");
  }
  std::string none = NoExceptionWords(report);
  if (!none.empty()) none = "<p>" + HtmlText(none, 200) + "</p>";
  if (rows.empty()) return "<section><h2>Exceptions</h2>" + none + "</section>\n";
  return "<section>" +
         HtmlTable("Exceptions", HtmlHeads({"Kind", "Of", "Why", "Signed by", "Until"}), rows,
                   "stack") +
         none + "</section>\n";
}

std::string AuditStatementSection(const AuditReport& report) {
  std::string rows;
  for (const AuditStatement& one : report.statements) {
    const std::string_view kind = !one.refused.empty()       ? "drifted"
                                  : !one.not_counted.empty() ? "inconclusive"
                                                             : "identical";
    rows += fmt::format(
        "<tr class=\"{}\"><th scope=\"row\">{}</th><td data-l=\"Says\">{}</td><td data-l=\"Signed "
        "by\">{}</td></tr>\n",
        kind, HtmlText(one.file, 300),
        HtmlText(fmt::format("{}{}", StatementMark(one), StatementWords(one)), 600),
        HtmlText(one.signed_by, 300));
  }
  if (rows.empty()) {
    return "<section><h2>Signed statements</h2><p>none that was given</p></section>\n";
  }
  return "<section>" +
         HtmlTable("Signed statements", HtmlHeads({"File", "Says", "Signed by"}), rows, "stack") +
         "</section>\n";
}

std::string AuditEntrySection(const AuditReport& report) {
  std::string rows;
  const std::size_t shown = std::min(report.entries.size(), kMostAuditEntries);
  for (std::size_t i = 0; i < shown; ++i) {
    const AuditEntryRow& row = report.entries[i];
    const std::string_view kind = IsFault(row.state)                          ? "drifted"
                                  : row.state == AuditEntryState::kNotEntered ? "inconclusive"
                                                                              : "identical";
    rows += fmt::format(
        "<tr class=\"{}\"><th scope=\"row\">{}</th><td data-l=\"State\"><span "
        "class=\"b\">{}</span></td><td data-l=\"What\">{} <code>{}</code></td><td "
        "data-l=\"SHA-256\">{}</td><td "
        "data-l=\"Entered\">{}</td><td data-l=\"Under a head\">{}</td></tr>\n",
        kind, EntryPlace(row), AuditStateWords(row.state), HtmlText(row.kind, 40),
        HtmlText(row.name, 300), HtmlCode(row.sha256.substr(0, 16)),
        row.entered ? FormatMinute(*row.entered) : std::string("-"),
        row.signed_over ? "yes" : "no");
  }
  std::string facts = HtmlFact("Entries of the log", std::to_string(report.tree_size));
  facts += HtmlFact("Root", HtmlCode(report.root_sha256));
  facts += HtmlFact("Newest head", report.head.empty() ? "none" : HtmlText(report.head, 600));
  return "<section>" +
         HtmlTable("In the log",
                   HtmlHeads({"Place", "State", "What", "SHA-256", "Entered", "Under a head"}),
                   rows, "stack") +
         HtmlLeftOut(report.entries.size(), shown, kAuditRecord) +
         fmt::format("<dl class=\"facts\">{}</dl></section>\n", facts);
}

}  // namespace

std::string WriteHtml(const AuditReport& report) {
  const bool shown = !report.verdicts.empty() && NextToReproduce(report).empty();
  const std::string_view page = report.exit_code != 0 ? "drifted"
                                : shown               ? "identical"
                                                      : "inconclusive";
  std::string out = HtmlHead(report.headline);
  out += HtmlTop({.page_class = page,
                  .eyebrow_html = fmt::format("Audit · {}", FormatMinute(report.at)),
                  .answer = report.headline,
                  .next_html = report.next.empty() ? "nothing to do" : HtmlText(report.next, 600),
                  .skip_id = "made",
                  .skip_words = "Skip to how it was made"});
  out += HtmlNotes(report.notes);
  out += AuditFacts(report);
  out += AuditVerdictSection(report);
  out += AuditExceptionSection(report);
  out += AuditStatementSection(report);
  out += AuditEntrySection(report);
  return out + HtmlEnd(report.version, kAuditRecord, false);
}

}  // namespace rharness
