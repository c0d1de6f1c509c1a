// The bundle's first page: the answer, the postmortem's five answers, and their sources.
#include <fmt/format.h>

#include <algorithm>

#include "reports/history_html_parts.h"
#include "reports/html_escape.h"
#include "reports/html_page.h"
#include "reports/incident_report.h"
#include "reports/text.h"
#include "reports/words.h"

namespace rharness {
namespace {

constexpr std::string_view kIncidentRecord = "incident.json";
constexpr std::size_t kMostIncidentRows = 200;

std::string AnswerHtml(const IncidentAnswer& answer) {
  std::string out = fmt::format("<h2 id=\"{}\">{}</h2>\n<ul>\n", answer.key, answer.question);
  for (const IncidentFact& fact : answer.facts) {
    out += fmt::format("<li>{} <span class=\"soft\">({})</span></li>\n", HtmlText(fact.text, 1000),
                       HtmlText(fact.source, 300));
  }
  if (!answer.not_known.empty()) {
    out += fmt::format("<li><b>Not known:</b> {}</li>\n", HtmlText(answer.not_known, 1000));
  }
  return out + "</ul>\n";
}

std::string RunRow(std::string_view what, const IncidentRun& run) {
  const StoredVerdict last = run.last.value_or(StoredVerdict());
  return fmt::format(
      "<tr class=\"{}\"><th scope=\"row\">{}</th><td data-l=\"Run\">{}</td><td "
      "data-l=\"Recorded\">{}</td><td data-l=\"Last verdict\">{}</td><td data-l=\"Decided\">{}</td>"
      "<td data-l=\"Why\">{}</td></tr>\n",
      run.last ? VerdictName(last.verdict) : "infra", what, HtmlCode(run.run_id, 200),
      FormatMinute(run.started), run.last ? HtmlBadge(last.verdict) : std::string("never drilled"),
      run.last ? FormatMinute(last.decided) : std::string(),
      last.reasons.empty() ? std::string() : HtmlText(ReasonText(last.reasons.front()), 400));
}

std::string Runs(const IncidentReport& report) {
  std::string rows = RunRow("The run", report.run);
  if (report.good) rows += RunRow(GoodWords(report), *report.good);
  return HtmlTable("The two runs",
                   HtmlHeads({"", "Run", "Recorded", "Last verdict", "Decided", "Why"}), rows,
                   "stack");
}

std::string StateClass(std::string_view state) {
  if (state == "as_recorded" || state == "verified" || state == "proven") return "identical";
  if (state == "changed" || state == "refused" || state == "refuted") return "drifted";
  return state == "failed" ? "failed" : "infra";
}

std::string Files(const IncidentReport& report) {
  std::string rows;
  for (std::size_t i = 0; i < std::min(report.files.size(), kMostIncidentRows); ++i) {
    const IncidentFile& file = report.files[i];
    rows += fmt::format(
        "<tr class=\"{}\"><th scope=\"row\">{}</th><td data-l=\"Role\">{}</td><td "
        "data-l=\"State\"><span class=\"b\">{}</span></td><td data-l=\"Seen\">{}</td></tr>\n",
        StateClass(file.state), HtmlCode(file.path, 300), HtmlText(file.role, 60),
        HtmlText(SpacedName(file.state), 60), HtmlText(file.words, 400));
  }
  for (const IncidentSignature& one : report.signatures) {
    rows += fmt::format(
        "<tr class=\"{}\"><th scope=\"row\">{}</th><td data-l=\"Role\">signatures</td><td "
        "data-l=\"State\"><span class=\"b\">{}</span></td><td data-l=\"Seen\">{}</td></tr>\n",
        StateClass(one.state), HtmlCode(one.file, 300), HtmlText(SpacedName(one.state), 60),
        HtmlText(one.words, 600));
  }
  if (rows.empty()) return "";
  return HtmlTable(
             report.named ? "Files of the run that --good names" : "Files of the last good run",
             HtmlHeads({"File", "Role", "State", "Seen"}), rows, "stack") +
         HtmlLeftOut(report.files.size(), std::min(report.files.size(), kMostIncidentRows),
                     kIncidentRecord);
}

std::string CauseRows(const IncidentReport& report) {
  std::string rows;
  for (const Cause& cause : report.causes) {
    rows += fmt::format(
        "<tr><th scope=\"row\">{}</th><td data-l=\"Layer\">{}</td><td "
        "data-l=\"Strength\">{}</td><td data-l=\"To confirm\">{}</td></tr>\n",
        HtmlText(cause.statement, 500), LayerName(cause.layer), StrengthName(cause.strength),
        HtmlText(cause.confirm, 400));
  }
  return rows;
}

std::string Differences(const IncidentReport& report) {
  if (!report.good) return "";
  std::string out = fmt::format("<h2 id=\"layers\">From {} to this one, by layer</h2>\n<ul>\n",
                                HtmlCode(report.good->run_id, 200));
  for (const LayerComparison& layer : report.layers) {
    out += fmt::format("<li>{}</li>\n", HtmlText(LayerWords(layer), 300));
  }
  out += "</ul>\n" + HtmlDifferences(true, report.layers);
  const std::string causes = CauseRows(report);
  if (causes.empty()) return out;
  return out + HtmlTable("Causes that the comparison names",
                         HtmlHeads({"Cause", "Layer", "Strength", "To confirm"}), causes, "stack");
}

std::string CandidateTable(const IncidentReport& report) {
  std::string rows;
  const std::size_t shown = std::min(report.candidates.size(), kMostIncidentRows);
  for (std::size_t i = 0; i < shown; ++i) {
    const IncidentCandidate& one = report.candidates[i];
    rows += fmt::format(
        "<tr><th scope=\"row\">{}</th><td data-l=\"Recorded\">{}</td><td "
        "data-l=\"Verdict\">{}</td><td data-l=\"Taken\">{}</td></tr>\n",
        HtmlCode(one.run_id, 200), FormatMinute(one.started),
        one.verdict ? std::string(VerdictLabel(*one.verdict)) : "never drilled",
        one.why_not.empty() ? HtmlText(GoodWords(report), 60) : HtmlText(one.why_not, 400));
  }
  if (rows.empty()) return "";
  return HtmlTable("Runs of the family",
                   HtmlHeads({"Run", "Recorded", "Last verdict", "Taken, or why not"}), rows,
                   "stack") +
         HtmlLeftOut(report.candidates.size() + report.candidates_left_out, shown, kIncidentRecord);
}

std::string Links(const IncidentReport& report) {
  std::string rows;
  for (const auto& [file, what] : report.bundle) {
    rows += fmt::format("<tr><th scope=\"row\"><a href=\"{}\">{}</a></th><td>{}</td></tr>\n",
                        RelativeHref(file), HtmlText(file, 300), HtmlText(what, 300));
  }
  std::string out;
  if (!rows.empty()) out += HtmlTable("In this folder", HtmlHeads({"File", "Is"}), rows);
  rows.clear();
  for (const IncidentPage& page : report.pages) {
    rows +=
        fmt::format("<tr><th scope=\"row\"><a href=\"{}\">{}</a></th><td>{}</td><td>{}</td></tr>\n",
                    RelativeHref("runbook/" + page.code + ".html"), HtmlText(page.code, 100),
                    HtmlText(page.title, 300), HtmlText(page.met_in, 200));
  }
  if (rows.empty()) return out;
  return out + HtmlTable("Runbook", HtmlHeads({"Code", "Means", "Met in"}), rows);
}

// Green only if nothing is wrong: even with a proven rollback the run went bad.
std::string_view PageClass(const IncidentReport& report) {
  const bool good = report.run.last && Reproduced(report.run.last->verdict);
  if (report.exit_code == 0) return good ? "identical" : "infra";
  if (report.exit_code == 1 || report.exit_code == 5) return "drifted";
  return report.exit_code == 4 ? "failed" : "inconclusive";
}

}  // namespace

std::string WriteHtml(const IncidentReport& report) {
  std::string out = HtmlHead(report.headline);
  out += HtmlTop({.page_class = PageClass(report),
                  .eyebrow_html = fmt::format(
                      "Incident of {} · family {} · {}", HtmlText(report.run.run_id, 200),
                      HtmlText(report.family, 200), FormatMinute(report.made)),
                  .answer = report.headline,
                  .next_html = HtmlText(report.next, 600),
                  .skip_id = "way_back",
                  .skip_words = "Skip to the way back"});
  out += HtmlNotes(report.notes);
  for (const IncidentAnswer& answer : report.answers) out += AnswerHtml(answer);
  out += Runs(report) + Files(report) + Differences(report) + CandidateTable(report);
  return out + Links(report) + HtmlEnd(report.version, kIncidentRecord, false);
}

}  // namespace rharness
