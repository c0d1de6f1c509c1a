// Objectives as a page: a table of families with their objectives and states.
#include <fmt/format.h>

#include <algorithm>

#include "reports/html_escape.h"
#include "reports/html_page.h"
#include "reports/objectives_words.h"
#include "reports/text.h"

namespace rharness {
namespace {

constexpr std::size_t kMostObjectiveSections = 300;
constexpr std::string_view kObjectivesRecord = "the output of --json";

std::string_view ObjectiveKind(ObjectiveState state) { return VerdictName(VerdictOf(state)); }

std::string ObjectivePageRow(const FamilyObjectives& family) {
  const bool asked = !family.checks.empty();
  const std::int64_t judged = family.good + family.bad + family.open;
  return fmt::format(
      "<tr class=\"{}\"><th scope=\"row\">{}</th><td data-l=\"State\">{}</td>"
      "<td data-l=\"Reproducible\">{}</td><td data-l=\"Worst case\">{}</td>"
      "<td data-l=\"Budget\">{}</td><td data-l=\"Judged\">{}</td><td data-l=\"Open\">{}</td><td "
      "data-l=\"Flaky\">{}</td>"
      "<td data-l=\"Waits longest\">{}</td><td data-l=\"Owner\">{}</td></tr>\n",
      asked ? ObjectiveKind(family.state()) : "infra", HtmlText(family.family, 200),
      asked ? fmt::format("<span class=\"b\">{}</span>", ObjectiveBadge(family.state())) : "-",
      RateWords(family), family.rate ? fmt::format("{:.4g} %", 100.0 * family.worst_case) : "-",
      BudgetWords(family), ShareWords(judged, family.runs), family.open,
      ShareWords(family.flipped, family.checked_twice), DaysWords(family.oldest_days),
      HtmlText(family.owner, 100));
}

std::string CheckRows(const FamilyObjectives& family) {
  std::string rows;
  for (const ObjectiveCheck& check : family.checks) {
    rows += fmt::format(
        "<tr class=\"{}\"><th scope=\"row\">{}</th><td data-l=\"State\"><span "
        "class=\"b\">{}</span></td><td data-l=\"Told\">{}</td></tr>\n",
        ObjectiveKind(check.state), HtmlText(check.name, 40), ObjectiveBadge(check.state),
        HtmlText(check.words, 600));
  }
  return rows;
}

std::string AlarmRows(const FamilyObjectives& family) {
  std::string rows;
  for (const BudgetAlarm& alarm : family.alarms) {
    rows += fmt::format(
        "<tr class=\"{}\"><th scope=\"row\">{}, {}</th><td data-l=\"Windows\">{:.3g} h and {:.3g} "
        "h</td><td class=\"n\" data-l=\"Burn\">{:.3g} and {:.3g}</td><td class=\"n\" "
        "data-l=\"Above\">{:.3g}</td><td class=\"n\" data-l=\"Runs\">{}</td><td "
        "data-l=\"Fires\">{}</td></tr>\n",
        alarm.fires ? "drifted" : "identical", alarm.name, alarm.page ? "page" : "ticket",
        alarm.long_hours, alarm.short_hours, alarm.long_burn, alarm.short_burn, alarm.threshold,
        alarm.long_checks, alarm.fires ? "<span class=\"b\">fires</span>" : "no");
  }
  return rows;
}

std::string ObjectiveFacts(const FamilyObjectives& family) {
  const std::int64_t conclusive = family.good + family.bad;
  std::string facts;
  const auto fact = [&](std::string_view name, const std::string& value) {
    facts += HtmlFact(name, value);
  };
  fact("Equal to the bit", ShareWords(family.identical, conclusive));
  fact("Flaky with nothing changed", ShareWords(family.flakes));
  fact("Verdicts that are signed", ShareWords(family.attested));
  fact("Declared bitwise, and drifted", std::to_string(family.violations));
  fact("Never verified", ShareWords(family.never, family.runs));
  fact("All parts available", ShareWords(family.had, family.had + family.gone));
  fact("Time of reruns", RuntimeWords(family));
  fact("Rerun until a verdict", family.seconds_to_verdict
                                    ? fmt::format("{:.3g} s", *family.seconds_to_verdict)
                                    : std::string("-"));
  fact("Checkpoints equal to the bit", ShareWords(family.weights_equal, family.weights));
  fact("Spread of metrics",
       family.spread ? fmt::format("{:.2g} of the margin", *family.spread) : std::string("-"));
  fact("Runs with operators that warned", ShareWords(family.warned, family.looked_at));
  fact("Data available", ShareWords(family.data_had, family.data));
  fact("Nothing missing in the record", ShareWords(family.records_whole, family.records));
  fact("Rollbacks that reproduced", RollbackRateWords(family));
  if (!family.where.empty()) fact("Objective", HtmlCode(family.where));
  return fmt::format("<dl class=\"facts\">{}</dl>\n", facts);
}

std::string ObjectiveSection(const FamilyObjectives& family) {
  std::string out =
      fmt::format("<section><h2>{}</h2>\n<p class=\"soft\">{}, over {:.4g} days</p>\n",
                  HtmlText(family.family, 200),
                  Counted(static_cast<std::uint64_t>(family.runs), "run"), family.period_days);
  out += ObjectiveFacts(family);
  if (!family.checks.empty()) {
    out += HtmlTable("Objective", HtmlHeads({"Objective", "State", "Told"}), CheckRows(family),
                     "stack");
  }
  if (!family.alarms.empty()) {
    out += HtmlTable("How fast the budget goes",
                     HtmlHeads({"Alarm", "Windows", Numbers("Burn"), Numbers("Above"),
                                Numbers("Runs"), "Fires"}),
                     AlarmRows(family), "stack");
  }
  return out + "</section>\n";
}

}  // namespace

std::string WriteHtml(const ObjectivesReport& report) {
  const std::string_view page = report.exit_code == 0   ? "identical"
                                : report.exit_code == 1 ? "drifted"
                                                        : "inconclusive";
  std::string out = HtmlHead(report.headline);
  out += HtmlTop({.page_class = page,
                  .eyebrow_html = fmt::format("Objectives · {}", FormatMinute(report.at)),
                  .answer = report.headline,
                  .next_html = HtmlText(report.next, 600),
                  .skip_id = "families",
                  .skip_words = "Skip to the families"});
  out += HtmlNotes(report.notes);
  std::string rows;
  const std::size_t shown = std::min(report.families.size(), kMostObjectiveSections);
  for (std::size_t i = 0; i < shown; ++i) rows += ObjectivePageRow(report.families[i]);
  out += "<section id=\"families\">\n";
  out += HtmlTable("Families",
                   HtmlHeads({"Family", "State", "Reproducible", "Worst case", "Budget", "Judged",
                              "Open", "Flaky", "Waits longest", "Owner"}),
                   rows, "stack");
  out += HtmlLeftOut(report.families.size(), shown, kObjectivesRecord) + "</section>\n";
  for (std::size_t i = 0; i < shown; ++i) out += ObjectiveSection(report.families[i]);
  return out + HtmlEnd(report.version, kObjectivesRecord, false);
}

}  // namespace rharness
