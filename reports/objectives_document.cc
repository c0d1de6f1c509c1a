// Objectives as a document: the families, and what is known of each.
#include <fmt/format.h>

#include <algorithm>

#include "reports/objectives_words.h"
#include "reports/text.h"

namespace rharness {
namespace {

using As = DocumentCell::As;

Verdict ToneOf(const FamilyObjectives& family) {
  return family.checks.empty() ? Verdict::kInfra : VerdictOf(family.state());
}

DocumentRow RowOf(const FamilyObjectives& family) {
  const std::int64_t judged = family.good + family.bad + family.open;
  const bool asked = !family.checks.empty();
  return {.tone = ToneOf(family),
          .cells = {family.family,
                    {asked ? ObjectiveBadge(family.state()) : "-", asked ? As::kBadge : As::kText},
                    RateWords(family),
                    BudgetWords(family),
                    ShareWords(judged, family.runs),
                    std::to_string(family.open),
                    DaysWords(family.oldest_days),
                    ShareWords(family.flipped, family.checked_twice),
                    family.rate ? fmt::format("{:.4g} %", 100.0 * family.worst_case) : "-",
                    family.owner}};
}

// Of all families, so that one look is enough.
DocumentSection MissedSection(const ObjectivesReport& report) {
  DocumentSection section{.title = "Missed, or not known",
                          .columns = {{"Family"}, {"Objective"}, {"State"}, {"Owner"}, {"Seen"}}};
  for (const FamilyObjectives& family : report.families) {
    for (const ObjectiveCheck& check : family.checks) {
      if (check.state == ObjectiveState::kMet) continue;
      section.rows.push_back({.tone = VerdictOf(check.state),
                              .cells = {family.family,
                                        check.name,
                                        {ObjectiveBadge(check.state), As::kBadge},
                                        family.owner,
                                        check.words}});
    }
  }
  return section;
}

// What else was counted, a sentence a family.
DocumentSection BesideSection(const ObjectivesReport& report) {
  DocumentSection section{.title = "Counted besides"};
  for (const FamilyObjectives& family : report.families) {
    std::string words;
    const auto add = [&](const std::string& more) { words += (words.empty() ? "" : "; ") + more; };
    if (family.flakes.all > 0) add("flaky with nothing changed " + ShareWords(family.flakes));
    if (family.attested.part > 0) add("signed " + ShareWords(family.attested));
    if (family.ratio_sd) add("a rerun takes " + RuntimeWords(family));
    if (!words.empty()) section.items.push_back(fmt::format("{}: {}", family.family, words));
  }
  return section;
}

DocumentFacts FactsOf(const FamilyObjectives& family) {
  DocumentFacts facts = {
      {"Equal to the bit", ShareWords(family.identical, family.good + family.bad)},
      {"Flaky with nothing changed", ShareWords(family.flakes)},
      {"Verdicts that are signed", ShareWords(family.attested)},
      {"Declared bitwise, and drifted", std::to_string(family.violations)},
      {"Never verified", ShareWords(family.never, family.runs)},
      {"All parts available", ShareWords(family.had, family.had + family.gone)},
      {"Time of reruns", RuntimeWords(family)},
      {"Rerun until a verdict",
       family.seconds_to_verdict ? fmt::format("{:.3g} s", *family.seconds_to_verdict) : "-"},
      {"Checkpoints equal to the bit", ShareWords(family.weights_equal, family.weights)},
      {"Spread of metrics",
       family.spread ? fmt::format("{:.2g} of the margin", *family.spread) : "-"},
      {"Runs with operators that warned", ShareWords(family.warned, family.looked_at)},
      {"Data available", ShareWords(family.data_had, family.data)},
      {"Nothing missing in the record", ShareWords(family.records_whole, family.records)},
      {"Rollbacks that reproduced", RollbackRateWords(family)}};
  if (!family.where.empty()) facts.emplace_back("Objective", family.where);
  return facts;
}

DocumentSection CheckSection(const FamilyObjectives& family) {
  DocumentSection section{.title = family.family, .columns = {{"Objective"}, {"State"}, {"Seen"}}};
  for (const ObjectiveCheck& check : family.checks) {
    section.rows.push_back(
        {.tone = VerdictOf(check.state),
         .cells = {check.name, {ObjectiveBadge(check.state), As::kBadge}, check.words}});
  }
  return section;
}

DocumentSection AlarmSection(const FamilyObjectives& family) {
  DocumentSection section{
      .title = family.family + ": how fast the budget goes",
      .columns =
          {{"Alarm"}, {"Windows"}, {"Burn", true}, {"Above", true}, {"Runs", true}, {"Fires"}},
      .in_depth = true};
  for (const BudgetAlarm& alarm : family.alarms) {
    section.rows.push_back(
        {.tone = alarm.fires ? Verdict::kDrifted : Verdict::kIdentical,
         .cells = {fmt::format("{}, {}", alarm.name, alarm.page ? "page" : "ticket"),
                   fmt::format("{:.3g} h and {:.3g} h", alarm.long_hours, alarm.short_hours),
                   fmt::format("{:.3g} and {:.3g}", alarm.long_burn, alarm.short_burn),
                   fmt::format("{:.3g}", alarm.threshold), std::to_string(alarm.long_checks),
                   alarm.fires ? DocumentCell("fires", As::kBadge) : "no"}});
  }
  return section;
}

}  // namespace

Document DocumentOf(const ObjectivesReport& report) {
  const bool judged = std::ranges::any_of(
      report.families, [](const auto& family) { return !family.checks.empty(); });
  Document document{.name = "slo",
                    .about = "Objectives",
                    .version = report.version,
                    .made = report.at,
                    .tone = !judged                 ? Verdict::kInfra
                            : report.exit_code == 0 ? Verdict::kIdentical
                            : report.exit_code == 1 ? Verdict::kDrifted
                                                    : Verdict::kInconclusive,
                    .headline = report.headline,
                    .next = report.next,
                    .notes = report.notes,
                    .record = "the output of --json",
                    .exit_code = report.exit_code};
  DocumentSection families{.title = "Families",
                           .columns = {{"Family"},
                                       {"State"},
                                       {"Reproducible (95 %)"},
                                       {"Budget"},
                                       {"Judged"},
                                       {"Open", true},
                                       {"Waits longest"},
                                       {"Flaky"},
                                       {"Worst case"},
                                       {"Owner"}}};
  for (const FamilyObjectives& family : report.families) families.rows.push_back(RowOf(family));
  document.sections = {std::move(families), MissedSection(report), BesideSection(report)};
  for (const FamilyObjectives& family : report.families) {
    DocumentSection checks = CheckSection(family);
    document.cases.push_back(checks);
    checks.words =
        fmt::format("{}, over {:.4g} days", Counted(static_cast<std::uint64_t>(family.runs), "run"),
                    family.period_days);
    checks.facts = FactsOf(family);
    checks.in_depth = true;
    document.sections.push_back(std::move(checks));
    document.sections.push_back(AlarmSection(family));
  }
  std::erase_if(document.sections, IsEmpty);
  return document;
}

}  // namespace rharness
