// A gate's decision as a document, and what to do next.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "harness/base/version.h"
#include "reports/fingerprint_grid.h"
#include "reports/fingerprint_report.h"
#include "reports/gate_report.h"
#include "reports/text.h"
#include "reports/words.h"

namespace rharness {
namespace {

using As = DocumentCell::As;
using ReasonsBySubject = std::map<std::string, std::vector<const GateReason*>>;

constexpr std::size_t kOpenNotes = 6;  // that neither close nor warn; more come last
constexpr std::size_t kNamedProbes = 12;
constexpr std::size_t kNamedSubjects = 20;  // of a sentence
constexpr std::size_t kNamedFamilies = 12;

bool Closes(const GateDecision& decision, std::string_view code) {
  return std::ranges::any_of(decision.reasons, [&](const GateReason& reason) {
    return reason.closes && reason.code == code;
  });
}

std::string Names(const std::vector<std::string>& names, std::size_t most) {
  const auto shown = static_cast<std::ptrdiff_t>(std::min(names.size(), most));
  std::string words = fmt::format("{}", fmt::join(names.begin(), names.begin() + shown, ", "));
  if (names.size() > most) words += fmt::format(" and {} more", names.size() - most);
  return words;
}

Verdict ToneOf(const GateReason& reason) {
  if (reason.warns) return Verdict::kInconclusive;
  if (!reason.closes) return Verdict::kInfra;
  return reason.lacks_evidence ? Verdict::kInconclusive : Verdict::kDrifted;
}

std::string StateWords(const GateReason& reason) {
  if (reason.warns) return "! warns";
  if (!reason.closes) return "· noted";
  return reason.lacks_evidence ? "? closes: no evidence" : "✗ closes";
}

// Equal statements on several subjects are one row, which names them all.
struct SharedReason {
  const GateReason* first;
  std::vector<std::string> others;  // subjects beside the first one's
};

std::vector<SharedReason> Shared(const std::vector<GateReason>& reasons) {
  std::vector<SharedReason> shared;
  std::map<std::tuple<std::string_view, std::string_view, std::string_view, bool>, std::size_t> at;
  for (const GateReason& reason : reasons) {
    const auto [found, fresh] =
        at.try_emplace({reason.code, reason.message, reason.rule, reason.closes}, shared.size());
    if (fresh) {
      shared.push_back({&reason, {}});
    } else {
      shared[found->second].others.push_back(reason.subject);
    }
  }
  return shared;
}

DocumentRow RowOf(const SharedReason& shared) {
  const GateReason& reason = *shared.first;
  const std::string more =
      shared.others.empty() ? "" : fmt::format(" and {} more", FormatCount(shared.others.size()));
  DocumentRow row{.tone = ToneOf(reason),
                  .cells = {reason.subject + more,
                            {StateWords(reason), As::kBadge},
                            {reason.code, As::kCode},
                            reason.rule,
                            reason.message}};
  for (std::size_t at = 0; at < shared.others.size(); at += kNamedSubjects) {
    const std::size_t end = std::min(shared.others.size(), at + kNamedSubjects);
    const auto first = shared.others.begin();
    row.details.push_back(fmt::format("{} {}", at == 0 ? "the same of" : "of",
                                      fmt::join(first + static_cast<std::ptrdiff_t>(at),
                                                first + static_cast<std::ptrdiff_t>(end), ", ")));
  }
  return row;
}

// Closing reasons and warnings; notes as well while they are few, else by themselves.
std::pair<DocumentSection, DocumentSection> ReasonSections(const GateDecision& decision) {
  DocumentSection reasons{
      .title = "Reasons",
      .columns = {{"Of"}, {"State"}, {"Reason"}, {"Rule that decided"}, {"What was seen"}}};
  DocumentSection notes{.title = "What closes nothing: changes that the policy allows, waivers",
                        .columns = reasons.columns};
  if (decision.reasons.empty()) reasons.words = "Every probe gave the same results as before.";
  const auto is_note = [](const GateReason& one) { return !one.closes && !one.warns; };
  const bool apart = std::ranges::count_if(decision.reasons, is_note) > std::ptrdiff_t{kOpenNotes};
  for (const SharedReason& shared : Shared(decision.reasons)) {
    (apart && is_note(*shared.first) ? notes : reasons).rows.push_back(RowOf(shared));
  }
  return {std::move(reasons), std::move(notes)};
}

std::string FamilyWords(const GateDecision& decision) {
  std::map<std::string, int> families;
  for (const ImpactedRun& run : decision.impacted_runs) {
    ++families[run.family.empty() ? "no family" : run.family];
  }
  if (families.size() < 2) return "";
  std::vector<std::string> words;
  for (const auto& [family, runs] : families) words.push_back(fmt::format("{} {}", runs, family));
  return fmt::format(" By family: {}.", Names(words, kNamedFamilies));
}

DocumentSection RunSection(const GateReport& report) {
  const GateDecision& decision = report.decision;
  DocumentSection section{.title = "Impacted runs",
                          .columns = {{"Run"}, {"Family"}, {"Drill"}, {"Depends on"}}};
  const bool known = !decision.impacted_runs.empty() || decision.unaffected_runs > 0;
  if (!report.has_history && !known) return section;
  section.words = fmt::format(
      "{} on a probe that changed; {} on none.{}",
      decision.impacted_runs.size() == 1
          ? std::string("1 historical run depends")
          : fmt::format("{} historical runs depend", decision.impacted_runs.size()),
      decision.unaffected_runs == 1 ? std::string("1 depends")
                                    : fmt::format("{} depend", decision.unaffected_runs),
      FamilyWords(decision));
  for (const ImpactedRun& run : decision.impacted_runs) {
    const auto found = report.drilled.find(run.run_id);
    const bool drilled = found != report.drilled.end();
    section.rows.push_back(
        {.tone = drilled ? found->second : Verdict::kInfra,
         .cells = {run.run_id, run.family,
                   drilled ? DocumentCell(fmt::format("{} {}", VerdictSign(found->second),
                                                      VerdictLabel(found->second)),
                                          As::kBadge)
                           : "not drilled",
                   Names(run.probes, kNamedProbes)}});
  }
  return section;
}

std::string ReasonLine(const GateReason& reason) {
  return fmt::format("{}: {} (rule: {})", reason.code, reason.message, reason.rule);
}

// A change fails; an unknown is an error, and both keep a pipeline red. The reason that decides
// comes first: it is the case's message.
void JudgeCase(const std::vector<const GateReason*>& reasons, DocumentRow* row) {
  const GateReason* decides = nullptr;
  for (const GateReason* reason : reasons) {
    if (!reason->closes) continue;
    if (decides == nullptr || (decides->lacks_evidence && !reason->lacks_evidence)) {
      decides = reason;
    }
  }
  if (decides != nullptr) {
    row->tone = decides->lacks_evidence ? Verdict::kInfra : Verdict::kDrifted;
    if (decides->lacks_evidence) row->case_type = "no_evidence";
    row->message = decides->message;
  }
  for (const GateReason* reason : reasons) row->details.push_back(ReasonLine(*reason));
}

DocumentRow CaseOfProbe(const GridRow& row, const ReasonsBySubject& reasons) {
  DocumentRow shown{.tone = Verdict::kIdentical, .cells = {row.probe}};
  for (const GridCell& cell : row.cells) {
    shown.cells.emplace_back(cell.state == GridCell::State::kNotShown ? "" : cell.Words());
  }
  if (row.difference == nullptr && row.status != "ok") {
    shown.tone = Verdict::kNotComparable;
    shown.details = {row.status};
  }
  if (const auto found = reasons.find(row.probe); found != reasons.end()) {
    JudgeCase(found->second, &shown);
  }
  return shown;
}

// One per probe, and one for every other subject of a reason.
std::vector<DocumentSection> CasesOf(const GateReport& report) {
  ReasonsBySubject reasons;
  for (const GateReason& reason : report.decision.reasons) {
    reasons[reason.subject].push_back(&reason);
  }
  std::vector<DocumentColumn> columns = {{"Probe"}};
  for (const std::string_view layer : kGridLayers) columns.push_back({layer});
  std::vector<DocumentSection> cases;
  std::set<std::string> told;
  for (const GridRow& row :
       BuildGrid(report.decision.difference, report.baseline, report.candidate)) {
    const std::string family = row.family.empty() ? "probes" : row.family;
    if (cases.empty() || cases.back().title != family) {
      cases.push_back({.title = family, .columns = columns});
    }
    told.insert(row.probe);
    cases.back().rows.push_back(CaseOfProbe(row, reasons));
  }
  DocumentSection others{.title = "", .columns = {{"Subject"}}};
  for (const auto& [subject, list] : reasons) {
    if (told.contains(subject)) continue;
    others.rows.push_back({.tone = Verdict::kIdentical, .cells = {subject}, .details = {}});
    JudgeCase(list, &others.rows.back());
  }
  // Before the probes, which may be cut.
  cases.insert(cases.begin(), std::move(others));
  return cases;
}

DocumentFacts FactsOf(const GateReport& report) {
  DocumentFacts facts = {{"Baseline", report.baseline.file},
                         {"Candidate", report.candidate.file},
                         {"Hardware", report.candidate.hardware_class}};
  if (report.acceptance) {
    facts.emplace_back("Baseline accepted by", report.acceptance->accepted_by);
    facts.emplace_back("because", report.acceptance->reason);
    facts.emplace_back("Baseline holds", report.acceptance->holds);
  }
  facts.emplace_back("Policy", fmt::format("{}, {}, drill {}", Counted(report.rules, "rule"),
                                           Counted(report.waivers, "waiver"),
                                           report.drill_required ? "required" : "optional"));
  facts.emplace_back("Probes compared", std::to_string(report.decision.difference.compared));
  facts.emplace_back("Change", report.decision.difference.summary);
  facts.emplace_back("Exit code", std::to_string(report.decision.exit_code));
  return facts;
}

}  // namespace

std::string SentenceOf(const GateReason& reason) {
  if (reason.message.find(reason.subject) != std::string::npos) return reason.message;
  return fmt::format("{}: {}", reason.subject, reason.message);
}

std::string NextStep(const GateDecision& decision) {
  if (decision.open) return "Roll out, and accept the candidate as the next baseline.";
  if (Closes(decision, "baseline_expired")) {
    return "Run the probes on the stack in use again and accept them as the baseline.";
  }
  if (decision.difference.silent == "candidate") {
    return "Probe the candidate again, rharness probe run --out FILE, and gate that file: nothing "
           "is known of the candidate.";
  }
  if (decision.difference.silent == "baseline") {
    return "Probe the stack in use again and accept that as the baseline: nothing is known of this "
           "one.";
  }
  if (!decision.difference.comparable) {
    return "Run the probes on both stacks again: nothing could be compared.";
  }
  if (Closes(decision, "drill_missing")) {
    return "Drill the impacted runs: rharness gate ... --drill impacted --out DIR.";
  }
  if (Closes(decision, "drill_elsewhere")) {
    return "Drill on the candidate, with its variables: the runs were rerun on another stack, or "
           "their "
           "evidence does not show on which.";
  }
  if (Closes(decision, "drill_drifted")) {
    return "Keep this stack back: runs drifted on it, and no policy or waiver allows that. The "
           "drill's report says where they differ first.";
  }
  if (decision.exit_code == 3) return "Get the missing evidence that the reasons name.";
  return "Keep this stack back, or allow the change in the policy, or sign a waiver for it.";
}

Document DocumentOf(const GateReport& report) {
  const GateDecision& decision = report.decision;
  Document document{.name = "gate",
                    .about = fmt::format("{} → {}", report.baseline.file, report.candidate.file),
                    .version = kVersion,
                    .made = report.made,
                    .tone = decision.open             ? Verdict::kIdentical
                            : decision.exit_code == 1 ? Verdict::kDrifted
                                                      : Verdict::kInconclusive,
                    .headline = decision.headline,
                    .next = NextStep(decision),
                    .facts = FactsOf(report),
                    .cases = CasesOf(report),
                    .record = "the output of --json",
                    .exit_code = decision.exit_code};
  auto [reasons, notes] = ReasonSections(decision);
  auto grid = GridSections(decision.difference, report.baseline, report.candidate);
  // What a roll-out would move comes first: a short screen ends somewhere.
  document.sections = {RunSection(report), std::move(reasons), std::move(grid[0])};
  std::ranges::move(TreeSections(decision.difference, report.baseline, report.candidate),
                    std::back_inserter(document.sections));
  document.sections.push_back(StackSection(decision.difference));
  document.sections.push_back(std::move(notes));
  document.sections.push_back(std::move(grid[1]));
  std::erase_if(document.sections, IsEmpty);
  return document;
}

}  // namespace rharness
