// A search on one screen of a terminal.
#include <fmt/format.h>

#include <algorithm>

#include "reports/isolation_report.h"
#include "reports/terminal_parts.h"
#include "reports/text.h"

namespace rharness {
namespace {

constexpr std::size_t kMostIsolationAxes = 30;
constexpr std::size_t kMostLines = 12;
constexpr std::size_t kMostIsolationTrials = 60;
constexpr int kValueColumns = 28;

std::string Line(const std::string& text, int columns) {
  return Wrapped(SafeText(text, 1000), columns, 2);
}

std::string List(std::string_view title, const std::vector<std::string>& texts, int columns) {
  if (texts.empty()) return "";
  std::string out = fmt::format("\n{}\n", title);
  for (std::size_t i = 0; i < std::min(texts.size(), kMostLines); ++i) {
    out += Line(texts[i], columns);
  }
  if (texts.size() > kMostLines) out += fmt::format("  and {} more\n", texts.size() - kMostLines);
  return out;
}

std::string Value(const std::string& text) {
  return ElideMiddle(SafeText(text, 400), kValueColumns);
}

std::string Axes(const IsolationReport& report, bool settable, int columns) {
  std::vector<const IsolationAxis*> axes;
  for (const IsolationAxis& axis : report.axes) {
    if (axis.cannot_be_set.empty() == settable) axes.push_back(&axis);
  }
  if (axes.empty()) return "";
  std::string out = settable ? "\nWhat changed, and is set in the trials\n"
                             : "\nWhat changed, and cannot be set: nothing is said of it\n";
  for (std::size_t i = 0; i < std::min(axes.size(), kMostIsolationAxes); ++i) {
    const IsolationAxis& axis = *axes[i];
    std::string text =
        fmt::format("{} {}: {} -> {}", axis.cause.empty() ? " " : "*", SafeText(axis.name, 200),
                    Value(axis.recorded), Value(axis.drifted));
    if (axis.last > 1) text += fmt::format(" in {} steps", axis.last);
    if (!settable) text += "; " + axis.cannot_be_set;
    out += Line(text, columns);
  }
  if (axes.size() > kMostIsolationAxes)
    out += fmt::format("  and {} more\n", axes.size() - kMostIsolationAxes);
  return out;
}

std::string Plan(const IsolationReport& report) {
  const IsolationCost& cost = report.cost;
  const auto time = [&](double reruns) {
    const double seconds = reruns * cost.rerun_seconds;
    if (seconds < 120) return FormatNumber(seconds, 3) + " s";
    if (seconds < 7200) return FormatNumber(seconds / 60, 3) + " min";
    return FormatNumber(seconds / 3600, 3) + " h";
  };
  std::string out = fmt::format(
      "\nWhat it costs, both ends included\n  one change is the cause: {} reruns, {} on average",
      FromTo(cost.fewest, cost.most), FormatNumber(cost.mean, 3));
  if (cost.rerun_seconds > 0) {
    out += cost.fewest == cost.most
               ? fmt::format(" ({})", time(cost.fewest))
               : fmt::format(" ({} to {})", time(cost.fewest), time(cost.most));
  }
  if (cost.most_of_two > 0) {
    out += fmt::format("\n  two are needed together: up to {} reruns", cost.most_of_two);
    if (cost.rerun_seconds > 0) out += fmt::format(" ({})", time(cost.most_of_two));
  }
  if (report.budget > 0) out += fmt::format("\n  at most {} reruns are made", report.budget);
  return out + "\n";
}

// "+" is as drifted, "." as recorded; a number is a position of a chain.
std::string Row(const IsolationTrial& trial) {
  std::string row;
  for (const int position : trial.at) {
    row += position == 0 ? "." : position == 1 ? "+" : fmt::format("[{}]", position);
  }
  return row;
}

std::string Trials(const IsolationReport& report, int columns) {
  if (report.trials.empty()) return "";
  std::string out = "\nReruns: + a change that was made, . one that was not\n";
  const std::size_t shown = std::min(report.trials.size(), kMostIsolationTrials);
  for (std::size_t i = 0; i < shown; ++i) {
    const IsolationTrial& trial = report.trials[i];
    const std::string row = ElideMiddle(Row(trial), std::max(20, columns / 3));
    out += fmt::format(
        "  {:>3} {} {:<10} {}\n", trial.number, row, SafeText(trial.answer, 40),
        ElideEnd(SafeText(trial.seen, 400), std::max(20, columns - 18 - DisplayWidth(row))));
  }
  if (report.trials.size() > shown) {
    out += fmt::format("  and {} more\n", report.trials.size() - shown);
  }
  return out;
}

}  // namespace

std::string Sureness(const IsolationReport& report) {
  if (report.end != "named") return "";
  if (report.exact && report.bits)
    return "every bit counts: certain as far as a rerun of one setting comes out the same each "
           "time";
  if (report.exact) return "reruns of one setting are equal: each answer counts as certain";
  return fmt::format(
      "a rerun is on the wrong side in {:.1f} % of cases; the chance that a wrong cause is named "
      "is at most {:.1f} %",
      100 * report.wrong, 100 * report.error_bound);
}

std::string WriteTerminal(const IsolationReport& report, int columns, bool color) {
  const Verdict tone = report.exit_code == 0 ? Verdict::kIdentical : Verdict::kInconclusive;
  const std::string headline = SafeText(report.headline, 1000);
  std::string out = Painted(Wrapped(headline, columns), ColourOf(tone), color);
  if (!report.next.empty()) out += Wrapped("Next: " + SafeText(report.next, 1000), columns);
  if (const std::string sure = Sureness(report); !sure.empty()) out += Wrapped(sure, columns);
  if (!report.mitigation_cost.empty()) {
    out += Wrapped("What setting it back costs: " + report.mitigation_cost, columns);
  }
  out += List("The difference that is looked for", report.target, columns);
  out += List("Shown by", report.shown_by, columns);
  out += List("Met on the way, and no evidence", report.branches, columns);
  out += List("Still possible", report.possible, columns);
  if (report.planned && report.cost.most > 0) out += Plan(report);
  out += Axes(report, true, columns);
  out += Axes(report, false, columns);
  out += Trials(report, columns);
  out += List("Notes", report.notes, columns);
  return out;
}

}  // namespace rharness
