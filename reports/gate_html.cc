// A gate's decision as one self-contained HTML page.
#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "harness/base/version.h"
#include "reports/fingerprint_report.h"
#include "reports/gate_report.h"
#include "reports/html_escape.h"
#include "reports/html_page.h"
#include "reports/text.h"

namespace rharness {
namespace {

constexpr char kGateRecord[] = "the output of --json";
constexpr std::size_t kMostReasons = 500;
constexpr std::size_t kOpenNotes = 6;  // that neither close nor warn; more are folded
constexpr std::size_t kMostImpactedRuns = 1000;
constexpr std::size_t kNamedProbes = 12;

std::string_view PageClass(const GateDecision& decision) {
  if (decision.open) return "identical";
  return decision.exit_code == 1 ? "drifted" : "inconclusive";
}

std::string ReasonRow(const GateReason& reason) {
  const std::string_view colour = reason.warns            ? "inconclusive"
                                  : !reason.closes        ? "infra"
                                  : reason.lacks_evidence ? "inconclusive"
                                                          : "drifted";
  const std::string_view word = reason.warns            ? "! warns"
                                : !reason.closes        ? "· noted"
                                : reason.lacks_evidence ? "? closes: no evidence"
                                                        : "✗ closes";
  return fmt::format(
      "<tr class=\"{}\"><td><span class=\"b\">{}</span></td><th scope=\"row\">{}</th>"
      "<td data-l=\"Reason\"><code>{}</code></td><td>{}</td><td data-l=\"Rule\">{}</td></tr>\n",
      colour, word, HtmlName(reason.subject), HtmlName(reason.code), HtmlText(reason.message, 1200),
      HtmlText(reason.rule, 600));
}

std::string ReasonTable(std::span<const GateReason> reasons) {
  if (reasons.empty()) return "";
  std::string rows;
  const std::size_t shown = std::min(reasons.size(), kMostReasons);
  for (const GateReason& reason : reasons.first(shown)) rows += ReasonRow(reason);
  return fmt::format(
      "<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-labelledby=\"reasons\"><table "
      "class=\"stack\"><thead><tr>{}</tr></thead><tbody>\n{}</tbody></table></div>\n{}",
      HtmlHeads({"", "Of", "Reason", "What was seen", "Rule that decided"}), rows,
      HtmlLeftOut(reasons.size(), shown, kGateRecord));
}

// Closing reasons first, then warnings; many notes are folded away.
std::string Reasons(const GateDecision& decision) {
  std::string out = "<h2 id=\"reasons\">Reasons</h2>\n";
  const std::span<const GateReason> all(decision.reasons);
  if (all.empty()) return out + "<p>Every probe gave the same results as before.</p>\n";
  const auto seen = static_cast<std::size_t>(std::ranges::count_if(
      all, [](const GateReason& reason) { return reason.closes || reason.warns; }));
  const std::size_t notes = all.size() - seen;
  if (notes <= kOpenNotes) return out + ReasonTable(all);
  return out + ReasonTable(all.first(seen)) +
         fmt::format(
             "<details><summary>{} that close{} nothing: changes that the policy allows, "
             "waivers</summary>\n{}</details>\n",
             Counted(notes, "note"), notes == 1 ? "s" : "", ReasonTable(all.subspan(seen)));
}

std::string RunRow(const ImpactedRun& run, const std::map<std::string, Verdict>& drilled) {
  std::string probes;
  for (std::size_t i = 0; i < std::min(run.probes.size(), kNamedProbes); ++i) {
    probes += (i > 0 ? ", " : "") + HtmlText(run.probes[i], 120);
  }
  if (run.probes.size() > kNamedProbes) {
    probes += fmt::format(" and {} more", run.probes.size() - kNamedProbes);
  }
  std::string verdict = "<span class=\"soft\">not drilled</span>";
  std::string_view colour;
  if (const auto found = drilled.find(run.run_id); found != drilled.end()) {
    verdict = HtmlBadge(found->second);
    colour = VerdictName(found->second);
  }
  return fmt::format(
      "<tr class=\"{}\"><th scope=\"row\">{}</th><td data-l=\"Family\">{}</td>"
      "<td data-l=\"Depends on\">{}</td><td data-l=\"Drill\">{}</td></tr>\n",
      colour, HtmlText(run.run_id, 160), HtmlText(run.family, 100), probes, verdict);
}

std::string Runs(const GateReport& report) {
  if (!report.has_history) return "";
  const GateDecision& decision = report.decision;
  std::string rows;
  const std::size_t shown = std::min(decision.impacted_runs.size(), kMostImpactedRuns);
  for (std::size_t i = 0; i < shown; ++i) {
    rows += RunRow(decision.impacted_runs[i], report.drilled);
  }
  std::string out = fmt::format(
      "<h2 id=\"runs\">Impacted runs</h2>\n<p class=\"soft\">{} on a probe that changed; {} on "
      "none.</p>\n",
      decision.impacted_runs.size() == 1
          ? std::string("1 historical run depends")
          : fmt::format("{} historical runs depend", decision.impacted_runs.size()),
      decision.unaffected_runs == 1 ? std::string("1 depends")
                                    : fmt::format("{} depend", decision.unaffected_runs));
  if (rows.empty()) return out;
  return out + fmt::format(
                   "<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-labelledby=\"runs\">"
                   "<table class=\"stack\"><thead><tr>{}</tr></thead><tbody>\n{}</tbody></table>"
                   "</div>\n{}",
                   HtmlHeads({"Run", "Family", "Depends on", "Drill"}), rows,
                   HtmlLeftOut(decision.impacted_runs.size(), shown, kGateRecord));
}

std::string Facts(const GateReport& report) {
  std::string out = "<h2>The gate</h2>\n<dl class=\"facts\">\n";
  out += HtmlFact("Baseline", HtmlText(report.baseline.file, 300));
  out += HtmlFact("Candidate", HtmlText(report.candidate.file, 300));
  out += HtmlFact("Hardware", HtmlText(report.candidate.hardware_class, 200));
  if (report.acceptance) {
    out += HtmlFact("Baseline accepted by", HtmlText(report.acceptance->accepted_by, 200));
    out += HtmlFact("because", HtmlText(report.acceptance->reason, 600));
    out += HtmlFact("Baseline holds until", FormatMinute(report.acceptance->expires));
  }
  out += HtmlFact("Policy", fmt::format("{}, {}, drill {}", Counted(report.rules, "rule"),
                                        Counted(report.waivers, "waiver"),
                                        report.drill_required ? "required" : "optional"));
  out += HtmlFact("Probes compared", std::to_string(report.decision.difference.compared));
  out += HtmlFact("Exit code", std::to_string(report.decision.exit_code));
  return out + "</dl>\n";
}

}  // namespace

std::string WriteHtml(const GateReport& report) {
  const GateDecision& decision = report.decision;
  std::string out = HtmlHead(decision.headline);
  out += HtmlTop(
      {.page_class = PageClass(decision),
       .eyebrow_html = fmt::format("{} → {} · {}", HtmlText(report.baseline.file, 200),
                                   HtmlText(report.candidate.file, 200), FormatMinute(report.made)),
       .answer = decision.headline,
       .next_html = HtmlText(NextStep(decision)),
       .skip_id = "reasons",
       .skip_words = "Skip to the reasons"});
  out += Reasons(decision);
  out += HtmlGrid(decision.difference, report.baseline, report.candidate);
  out += HtmlTrees(decision.difference, report.baseline, report.candidate);
  out += Runs(report);
  out += HtmlStack(decision.difference, kGateRecord);
  out += Facts(report);
  return out + HtmlEnd(kVersion, kGateRecord, false);
}

}  // namespace rharness
