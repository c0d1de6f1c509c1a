// An incident on a terminal: the answer, the postmortem's five answers, the basis of the rollback.
#include <fmt/format.h>

#include <algorithm>

#include "reports/incident_report.h"
#include "reports/terminal_parts.h"
#include "reports/text.h"
#include "reports/words.h"

namespace rharness {
namespace {

constexpr std::size_t kMostFacts = 8;
constexpr std::size_t kMostCandidates = 8;
constexpr int kLeastIncidentColumns = 40;

std::string Answer(const IncidentAnswer& answer, int columns) {
  std::string out = Wrapped(answer.question, columns);
  for (std::size_t i = 0; i < std::min(answer.facts.size(), kMostFacts); ++i) {
    const IncidentFact& fact = answer.facts[i];
    out += Wrapped(fmt::format("- {} [{}]", SafeText(fact.text, 600), SafeText(fact.source, 200)),
                   columns, 2);
  }
  if (answer.facts.size() > kMostFacts) {
    out += Wrapped(fmt::format("and {} more", answer.facts.size() - kMostFacts), columns, 2);
  }
  if (!answer.not_known.empty()) {
    out += Wrapped("- not known: " + SafeText(answer.not_known, 600), columns, 2);
  }
  return out;
}

std::string Candidates(const IncidentReport& report, int columns) {
  if (report.good || report.candidates.empty()) return "";
  std::string out = "\nRuns of the family\n";
  const std::size_t shown = std::min(report.candidates.size(), kMostCandidates);
  for (std::size_t i = 0; i < shown; ++i) {
    const IncidentCandidate& one = report.candidates[i];
    out += Wrapped(fmt::format("{}, recorded {}: {}", SafeText(one.run_id, 200),
                               FormatMinute(one.started), SafeText(one.why_not, 400)),
                   columns, 2);
  }
  const std::size_t more = report.candidates.size() - shown + report.candidates_left_out;
  return out + (more > 0 ? fmt::format("  and {} more\n", more) : "");
}

std::string Pages(const IncidentReport& report, int columns) {
  if (report.pages.empty()) return "";
  std::string codes;
  for (const IncidentPage& page : report.pages) {
    codes += (codes.empty() ? "" : ", ") + SafeText(page.code, 100);
  }
  return "\n" + Wrapped("Runbook: " + codes, columns);
}

}  // namespace

std::string SpacedName(std::string name) {
  std::ranges::replace(name, '_', ' ');
  return name;
}

std::string_view GoodWords(const IncidentReport& report) {
  return report.named ? "The run that --good names" : "The last good run";
}

std::string WriteTerminal(const IncidentReport& report, int columns, bool color) {
  columns = std::max(columns, kLeastIncidentColumns);
  const bool good = report.run.last && Reproduced(report.run.last->verdict);
  const Verdict colour = report.exit_code == 0   ? (good ? Verdict::kIdentical : Verdict::kInfra)
                         : report.exit_code == 3 ? Verdict::kInconclusive
                                                 : Verdict::kDrifted;
  std::string head = Wrapped(SafeText(report.headline, 1000), columns);
  if (head.ends_with('\n')) head.pop_back();
  std::string out = Painted(head, ColourOf(colour), color) + "\n";
  for (const IncidentAnswer& answer : report.answers) out += "\n" + Answer(answer, columns);
  out += Candidates(report, columns);
  out += Pages(report, columns);
  for (const std::string& note : report.notes) {
    out += "\n" + Wrapped("Note: " + SafeText(note, 600), columns);
  }
  if (!report.next.empty()) out += "\n" + Wrapped("Next: " + SafeText(report.next, 600), columns);
  return out;
}

}  // namespace rharness
