// A game day as a document: detection rates, and false alarms.
#include <fmt/format.h>

#include "reports/gameday_report.h"
#include "reports/text.h"

namespace rharness {
namespace {

using As = DocumentCell::As;

// Found or missed if there are enough trials, else open.
Verdict ToneOf(const SensitivityRate& rate, bool is_fault) {
  if (!rate.cannot.empty() || rate.trials == 0) return Verdict::kInfra;
  if (!is_fault) return rate.found == 0 ? Verdict::kIdentical : Verdict::kDrifted;
  if (!rate.enough) return Verdict::kInconclusive;
  return 2 * rate.found > rate.trials ? Verdict::kIdentical : Verdict::kDrifted;
}

// The remark beside a rate: why there is none, what is missing, its subject.
std::string Remark(const SensitivityRate& rate, bool is_fault, bool planned) {
  if (!rate.cannot.empty()) return rate.cannot;
  std::string remark;
  if (planned) return rate.example;
  if (is_fault && !rate.enough && rate.more > 0) {
    remark = Counted(static_cast<std::uint64_t>(rate.more), "more run") + " needed. ";
  } else if (is_fault && !rate.enough) {
    remark = "Too few trials. ";
  }
  if (rate.equal > 0) remark += fmt::format("{} equal bit for bit. ", rate.equal);
  if (rate.not_made > 0) remark += fmt::format("{} not made. ", rate.not_made);
  return remark + rate.example;
}

DocumentSection RateSection(std::string title, const std::vector<SensitivityRate>& rates,
                            bool is_fault, bool planned) {
  DocumentSection section{.title = std::move(title),
                          .columns = {{is_fault ? "Planted" : "Trial"},
                                      {is_fault ? "Found" : "Called"},
                                      {"Undecided", true},
                                      {"Remark"}}};
  for (const SensitivityRate& rate : rates) {
    const bool measured = rate.cannot.empty() && !planned;
    section.rows.push_back({.tone = ToneOf(rate, is_fault),
                            .cells = {rate.words,
                                      {measured ? RateWords(rate) : "", As::kBadge},
                                      measured ? std::to_string(rate.undecided) : "",
                                      Remark(rate, is_fault, planned)}});
  }
  return section;
}

}  // namespace

Document DocumentOf(const GamedayReport& report) {
  const Sensitivity& sensitivity = report.sensitivity;
  Document document{
      .name = "gameday",
      .about = "Game day",
      .version = sensitivity.version,
      .made = sensitivity.made,
      .tone = report.exit_code == 0 ? Verdict::kIdentical : Verdict::kInconclusive,
      .headline = report.headline,
      .next = report.next,
      .notes = report.notes,
      .facts = {{"Game day", sensitivity.gameday_id},
                {"Reruns", fmt::format("{}, {} s of run time as recorded", report.reruns,
                                       FormatNumber(report.run_seconds, 3))},
                {"Intervals",
                 fmt::format("Clopper-Pearson, {:.0f} %; shown where no wider than {:.0f} points",
                             100 * sensitivity.confidence, 100 * sensitivity.width)}},
      .exit_code = report.exit_code};
  if (!sensitivity.host.empty()) document.facts.emplace_back("Host", sensitivity.host);
  for (const SensitivityFamily& family : sensitivity.families) {
    DocumentSection faults =
        RateSection(family.name + ": planted faults", family.faults, true, report.planned);
    faults.words = fmt::format("{}{}, {}", Counted(static_cast<std::uint64_t>(family.runs), "run"),
                               family.declared.empty() ? "" : ", declared " + family.declared,
                               WayWords(family));
    document.sections.push_back(std::move(faults));
    if (report.planned) continue;
    document.sections.push_back(
        RateSection(family.name + ": nothing planted", family.unchanged, false, false));
  }
  std::erase_if(document.sections, IsEmpty);
  if (sensitivity.families.empty()) {
    document.sections = {{.title = "Faults", .words = "There are no trials; the notes say why."}};
  }
  return document;
}

}  // namespace rharness
