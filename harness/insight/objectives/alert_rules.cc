// Rules and routes as YAML; see alert_rules.h.
#include "harness/insight/objectives/alert_rules.h"

#include <fmt/format.h>

#include <set>
#include <string_view>
#include <utility>

#include "harness/base/json.h"
#include "reports/prometheus.h"

namespace rharness {
namespace {

// A string of JSON is a double-quoted scalar of YAML.
std::string Quoted(std::string_view text) { return Json(text).Dump(); }

struct AlertRule {
  std::string_view name;
  std::string expression;
  std::string_view severity;  // empty: the series carries it
  std::string hold;           // minimum duration of the condition; empty: at once
  std::string_view summary;   // {{ $labels.family }}, ...
};

std::string TextOf(const AlertRule& rule, const AlertOptions& options) {
  std::string text =
      fmt::format("      - alert: {}\n        expr: {}\n", rule.name, Quoted(rule.expression));
  if (!rule.hold.empty()) text += fmt::format("        for: {}\n", rule.hold);
  if (!rule.severity.empty())
    text += fmt::format("        labels: {{severity: {}}}\n", rule.severity);
  text += fmt::format("        annotations:\n          summary: {}\n", Quoted(rule.summary));
  if (!options.runbooks.empty()) {
    const std::string_view slash = options.runbooks.ends_with('/') ? "" : "/";
    text += fmt::format("          runbook_url: {}\n",
                        Quoted(fmt::format("{}{}{}", options.runbooks, slash, rule.name)));
  }
  return text;
}

std::string Seconds(double days) { return fmt::format("{:.0f}", days * 86400.0); }

// More violations than a day ago, as far as the week before is known; for a family without any data
// all are new. Owners and measuring hosts do not matter.
std::string MoreViolations() {
  return fmt::format(
      "{0} > on (history, family) group_left () (max by (history, family) (last_over_time({0}[6d] "
      "offset 1d)) or 0 * max by (history, family) ({0}))",
      "rharness_slo_determinism_violations");
}

// A series that went away with its host is old, too: of a month its last value.
std::string OlderThan(std::string_view timestamp, double days) {
  return fmt::format("time() - max by (history) (last_over_time({}[30d])) > {}", timestamp,
                     Seconds(days));
}

std::string NeverCame(std::string_view series) {
  return fmt::format("absent_over_time({}[30d])", series);
}

std::vector<AlertRule> WatchOfTheWatch(const AlertOptions& options) {
  constexpr std::string_view kMeasured = "rharness_slo_timestamp_seconds";
  constexpr std::string_view kSucceeded = "rharness_last_success_timestamp_seconds";
  return {
      {"RharnessObjectivesNotMeasured", OlderThan(kMeasured, options.measured_days), "ticket", "",
       "objectives of {{ $labels.history }} are not measured any more"},
      {"RharnessObjectivesAbsent", NeverCame(kMeasured), "ticket",
       Seconds(options.measured_days) + "s", "no history's objectives are measured"},
      {"RharnessNoDrillSucceeded", OlderThan(kSucceeded, options.succeeded_days), "ticket", "1h",
       "no drill of {{ $labels.history }} reproduced all its runs for a long time"},
      {"RharnessDrillsAbsent", NeverCame(kSucceeded), "ticket",
       Seconds(options.succeeded_days) + "s", "no series of any drill (metrics.prom) arrive here"},
  };
}

std::vector<AlertRule> RulesOf(const AlertOptions& options) {
  std::vector<AlertRule> rules = {
      {"RharnessBudgetBurning", "rharness_slo_alarm == 1", "", "",
       "{{ $labels.family }} spends its error budget too fast ({{ $labels.alarm }})"},
      {"RharnessObjectiveMissed", "rharness_slo_check{state=\"missed\"} == 1", "ticket", "",
       "{{ $labels.family }} misses its objective: {{ $labels.check }}"},
      {"RharnessDeterminismViolation", MoreViolations(), "ticket", "",
       "runs of {{ $labels.family }} that are declared bitwise drifted: {{ $value }} in its "
       "period"},
      {"RharnessRunBroken", "rharness_slo_run_broken == 1", "ticket", "",
       "{{ $labels.run_id }} of {{ $labels.family }} does not reproduce any more: {{ "
       "$labels.verdict }}"},
      {"RharnessObjectiveUnknown", "rharness_slo_check{state=\"unknown\"} == 1", "ticket",
       Seconds(options.unknown_days) + "s",
       "nothing is known of {{ $labels.family }}: {{ $labels.check }}; drill its runs"},
  };
  for (AlertRule& rule : WatchOfTheWatch(options)) rules.push_back(std::move(rule));
  return rules;
}

// Names of receivers are the policy's; two owners that differ in case alone are two.
std::string ReceiverOf(std::string_view owner, std::string_view severity) {
  return fmt::format("{}-{}", owner.empty() ? "rharness" : owner, severity);
}

// Alertmanager's matchers know the escapes that labels of Prometheus have, and no others.
std::string RouteTo(std::string_view owner, std::string_view severity) {
  const bool page = severity == "page";
  std::string text = fmt::format("    - receiver: {}\n      matchers: [{}, {}]\n",
                                 Quoted(ReceiverOf(owner, severity)),
                                 Quoted(fmt::format("owner=\"{}\"", PrometheusLabel(owner))),
                                 Quoted(fmt::format("severity=\"{}\"", severity)));
  return text + fmt::format("      repeat_interval: {}\n", page ? "12h" : "3d");
}

std::string Receiver(std::string_view owner, std::string_view severity,
                     const AlertOptions& options) {
  std::string text = fmt::format("  - name: {}\n", Quoted(ReceiverOf(owner, severity)));
  if (options.webhook.empty()) return text;
  return text + fmt::format("    webhook_configs:\n      - url: {}\n", Quoted(options.webhook));
}

}  // namespace

std::string AlertRules(const AlertOptions& options) {
  std::string text =
      "groups:\n"
      "  - name: rharness-recorded\n"
      "    rules:\n"
      "      - record: owner:rharness_slo_missed:count\n"
      "        expr: count by (history, owner) (rharness_slo_check{state=~\"missed|burning\"} == "
      "1)\n"
      "      - record: owner:rharness_slo_budget_left:min\n"
      "        expr: min by (history, owner) (rharness_slo_budget_left_ratio)\n"
      "  - name: rharness-alerts\n"
      "    rules:\n";
  for (const AlertRule& rule : RulesOf(options)) text += TextOf(rule, options);
  return text;
}

std::string AlertRoutes(const Policy& policy, const AlertOptions& options) {
  std::set<std::string> owners;
  for (const Objective& one : policy.objectives) {
    // That name's receivers are those of families without an owner.
    if (!one.owner.empty() && one.owner != "rharness") owners.insert(LabelText(one.owner));
  }
  std::string text = fmt::format(
      "route:\n  receiver: {}\n  group_by: [history, family]\n  group_wait: 30s\n"
      "  group_interval: 5m\n  repeat_interval: 3d\n  routes:\n",
      Quoted(ReceiverOf("", "ticket")));
  for (const std::string& owner : owners) {
    text += RouteTo(owner, "page") + RouteTo(owner, "ticket");
  }
  text += fmt::format("    - receiver: {}\n      matchers: [{}]\n      repeat_interval: 12h\n",
                      Quoted(ReceiverOf("", "page")), Quoted("severity=\"page\""));
  text +=
      "inhibit_rules:\n"
      "  - source_matchers: ['alertname=\"RharnessBudgetBurning\"', 'severity=\"page\"']\n"
      "    target_matchers: ['severity=\"ticket\"', 'alertname!=\"RharnessRunBroken\"']\n"
      "    equal: [history, family]\n"
      "receivers:\n";
  for (const std::string_view severity : {"page", "ticket"}) {
    text += Receiver("", severity, options);
    for (const std::string& owner : owners) text += Receiver(owner, severity, options);
  }
  return text;
}

}  // namespace rharness
