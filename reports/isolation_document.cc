// A search for a cause as a document.
#include <fmt/format.h>

#include <algorithm>

#include "reports/isolation_report.h"
#include "reports/text.h"

namespace rharness {
namespace {

using As = DocumentCell::As;

std::string CountedReruns(double seconds, double reruns) {
  const double all = reruns * seconds;
  if (all < 120) return FormatNumber(all, 3) + " s";
  if (all < 7200) return FormatNumber(all / 60, 3) + " min";
  return FormatNumber(all / 3600, 3) + " h";
}

// What a search would take, both ends included.
DocumentSection PlanSection(const IsolationReport& report) {
  const IsolationCost& cost = report.cost;
  DocumentSection section{.title = "Planned reruns"};
  if (!report.planned || cost.most == 0) return section;
  const bool timed = cost.rerun_seconds > 0;
  const auto time = [&](double reruns) { return CountedReruns(cost.rerun_seconds, reruns); };
  std::string one = fmt::format("one change is the cause: {} reruns, {} on average",
                                FromTo(cost.fewest, cost.most), FormatNumber(cost.mean, 3));
  if (timed && cost.fewest == cost.most) one += fmt::format(" ({})", time(cost.fewest));
  if (timed && cost.fewest != cost.most) {
    one += fmt::format(" ({} to {})", time(cost.fewest), time(cost.most));
  }
  section.items.push_back(one);
  if (cost.most_of_two > 0) {
    section.items.push_back(fmt::format("two are needed together: up to {} reruns{}",
                                        cost.most_of_two,
                                        timed ? fmt::format(" ({})", time(cost.most_of_two)) : ""));
  }
  if (report.budget > 0) {
    section.items.push_back(fmt::format("at most {} reruns are made", report.budget));
  }
  return section;
}

DocumentRow RowOf(const IsolationAxis& axis, bool named) {
  DocumentRow row{.tone = Verdict::kInfra};
  std::string role = axis.cannot_be_set;
  if (axis.cannot_be_set.empty() && named) {
    row.tone = Verdict::kIdentical;
    role = "no part of the cause";
  }
  if (!axis.cause.empty()) {
    row.tone = Verdict::kDrifted;
    role = axis.set_back ? "root cause; set back" : "root cause";
  }
  row.cells = {axis.name,
               std::string(LayerName(axis.layer)),
               {axis.recorded, As::kCode},
               {axis.drifted, As::kCode},
               axis.last > 1 ? std::to_string(axis.last) : "",
               {role, axis.cause.empty() ? As::kText : As::kBadge}};
  return row;
}

DocumentSection AxisSection(const IsolationReport& report) {
  DocumentSection section{
      .title = "What changed",
      .columns = {{"Change"}, {"Layer"}, {"Recorded"}, {"Drifted"}, {"Steps", true}, {"Role"}}};
  for (const IsolationAxis& axis : report.axes) {
    section.rows.push_back(RowOf(axis, report.end == IsolationEnd::kNamed));
  }
  return section;
}

// "+" is as drifted, "." as recorded; a number is a position of a chain.
std::string Setting(const IsolationTrial& trial) {
  std::string row;
  for (const int position : trial.at) {
    row += position == 0 ? "." : position == 1 ? "+" : fmt::format("[{}]", position);
  }
  return ElideMiddle(row, 40);
}

DocumentSection TrialSection(const IsolationReport& report) {
  DocumentSection section{
      .title = "Reruns",
      .words = "Set: + is a change that was made, . is one that was not.",
      .columns = {{"Rerun"}, {"Set"}, {"Asked"}, {"Answer"}, {"Time", true}, {"Seen"}}};
  if (report.trials.empty()) section.words.clear();
  for (const IsolationTrial& trial : report.trials) {
    const std::string asked = SpacedName(NameIn(kTrialPurposeNames, trial.purpose));
    section.rows.push_back(
        {.tone = ToneOf(trial),
         .cells = {{std::to_string(trial.number), As::kText, trial.evidence + "/evidence.json"},
                   {Setting(trial), As::kCode},
                   asked,
                   {AnswerWords(trial), As::kBadge},
                   FormatNumber(trial.seconds, 3) + " s",
                   trial.seen}});
  }
  return section;
}

}  // namespace

Verdict ToneOf(const IsolationTrial& trial) {
  if (trial.answer == TrialAnswer::kReproduces) return Verdict::kDrifted;
  if (trial.answer == TrialAnswer::kDoesNot) return Verdict::kIdentical;
  const bool other = trial.answer == TrialAnswer::kOther || trial.answer == TrialAnswer::kPartly;
  return other ? Verdict::kFailed : Verdict::kInfra;
}

std::string AnswerWords(const IsolationTrial& trial) {
  if (trial.answer == TrialAnswer::kReproduces) return "✗ drifts";
  if (trial.answer == TrialAnswer::kDoesNot) return "✓ as recorded";
  if (trial.answer == TrialAnswer::kPartly) return "! drifts differently";
  return trial.answer == TrialAnswer::kOther ? "! another failure" : "? no evidence";
}

std::string Sureness(const IsolationReport& report) {
  if (report.end != IsolationEnd::kNamed) return "";
  if (report.exact && report.bits)
    return "every bit counts: certain as far as a rerun of one setting comes out the same each "
           "time";
  if (report.exact) return "reruns of one setting are equal: each answer counts as certain";
  return fmt::format(
      "a rerun is on the wrong side in {:.1f} % of cases; the chance that a wrong cause is named "
      "is at most {:.1f} %",
      100 * report.wrong, 100 * report.error_bound);
}

Document DocumentOf(const IsolationReport& report) {
  Document document{.name = "isolation",
                    .about = "Isolation of " + report.run_id,
                    .version = report.version,
                    .made = report.made,
                    .tone = report.exit_code == 0 ? Verdict::kIdentical : Verdict::kInconclusive,
                    .headline = report.headline,
                    .next = report.next,
                    .notes = report.notes,
                    .exit_code = report.exit_code};
  const auto fact = [&](const char* name, const std::string& value) {
    if (!value.empty()) document.facts.emplace_back(name, value);
  };
  fact("Run", report.run_id);
  fact("Reruns",
       fmt::format("{}{}", report.trials.size(),
                   report.budget > 0 ? fmt::format(" of at most {}", report.budget) : ""));
  fact("Confidence", Sureness(report));
  fact("Set back", report.mitigation);
  fact("Cost of setting it back", report.mitigation_cost);
  document.sections = {
      {.title = "The search",
       .pictures =
           {{SvgSearch(report, "search"),
             "Each row is a rerun, each column a change. A filled cell was set as it drifted. "
             "The mark at the right is red where the rerun drifts, green where it is as "
             "recorded, purple where it fails differently and grey where it is no evidence.",
             true}}},
      {.title = "The difference to explain", .items = report.target},
      {.title = "Shown by", .items = report.shown_by},
      {.title = "Other failures, which are no evidence", .items = report.branches},
      {.title = "Still possible", .items = report.possible},
      PlanSection(report),
      AxisSection(report),
      TrialSection(report)};
  std::erase_if(document.sections, IsEmpty);
  return document;
}

}  // namespace rharness
