// Rules and routes, as Prometheus' and Alertmanager's own tools read them.
#include "harness/insight/objectives/alert_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "harness/base/files.h"
#include "harness/base/subprocess.h"
#include "reports/objectives_report.h"

namespace rharness {
namespace {

using testing::HasSubstr;

constexpr char kHostile[] = "a\"b\\c\n: [x] {{ $x }} é";

class AlertFiles : public testing::Test {
 protected:
  std::string At(const std::string& name) const { return (folder_.path() / name).string(); }
  void Write(const std::string& name, const std::string& text) const {
    ASSERT_TRUE(WriteFileAtomic(At(name), text).ok());
  }
  // What it printed, of both streams; and its exit code.
  static std::pair<int, std::string> Tool(std::vector<std::string> argv) {
    ProcessLimits limits;
    limits.timeout = std::chrono::minutes(1);
    const ProcessResult result = RunProcess(
        ProcessSpec{.argv = std::move(argv), .environment = PickEnvironment({"PATH", "HOME"})},
        limits);
    return {result.outcome.exit_code, result.stdout_text + result.stderr_text};
  }
  static bool Has(const std::string& program) {
    return Tool({"sh", "-c", "command -v " + program}).first == 0;
  }
  Policy Asked(const std::vector<std::string>& owners) const {
    Policy policy;
    for (const std::string& owner : owners) policy.objectives.push_back({.owner = owner});
    return policy;
  }

  // What the series of such an owner say, as Prometheus takes it from them.
  static std::string LabelOf(const std::string& owner) {
    const std::string text =
        WriteMetrics(ObjectivesReport{.families = {{.family = "mlp", .owner = owner}}});
    const std::string mark = "owner=\"";
    std::string label;
    for (std::size_t at = text.find(mark) + mark.size(); text[at] != '"'; ++at) {
      if (text[at] == '\\') ++at;
      label.push_back(text[at]);
    }
    return label;
  }

  ScopedTempDir folder_ = std::move(ScopedTempDir::Make()).value();
};

// Series as a night of `rharness slo` leaves them, sample by sample, and what fires.
constexpr char kRuleTest[] = R"yaml(
rule_files: [rules.yaml]
evaluation_interval: 1h
tests:
  - interval: 1h
    input_series:
      - series: 'rharness_slo_alarm{history="h",family="mlp",owner="ada",alarm="fast",severity="page"}'
        values: '0x3 1x40'
      - series: 'rharness_slo_check{history="h",family="mlp",owner="ada",check="stale",state="missed"}'
        values: '0x3 1x40'
      - series: 'rharness_slo_check{history="h",family="cnn",owner="",check="flaky",state="unknown"}'
        values: '1x200'
      - series: 'rharness_slo_determinism_violations{history="h",family="mlp",owner="ada"}'
        values: '1x40 2x40'
      - series: 'rharness_slo_run_broken{history="h",family="mlp",owner="ada",run_id="mlp-1",verdict="drifted"}'
        values: '_x3 1x5'
      - series: 'rharness_slo_run_broken{history="h",family="mlp",owner="ada",run_id="mlp-2",verdict="failed"}'
        values: '_x3 1x40'
      - series: 'rharness_slo_timestamp_seconds{history="h"}'
        values: '0x200'
    alert_rule_test:
      - {eval_time: 2h, alertname: RharnessBudgetBurning, exp_alerts: []}
      - eval_time: 5h
        alertname: RharnessBudgetBurning
        exp_alerts:
          - exp_labels: {history: h, family: mlp, owner: ada, alarm: fast, severity: page}
            exp_annotations:
              summary: "mlp spends its error budget too fast (fast)"
              runbook_url: https://wiki/RharnessBudgetBurning
      - eval_time: 5h
        alertname: RharnessObjectiveMissed
        exp_alerts:
          - exp_labels: {history: h, family: mlp, owner: ada, check: stale, state: missed, severity: ticket}
            exp_annotations:
              summary: "mlp misses its objective: stale"
              runbook_url: https://wiki/RharnessObjectiveMissed
      - {eval_time: 2h, alertname: RharnessRunBroken, exp_alerts: []}
      - eval_time: 20h
        alertname: RharnessRunBroken
        exp_alerts:
          - exp_labels: {history: h, family: mlp, owner: ada, run_id: mlp-2, verdict: failed, severity: ticket}
            exp_annotations:
              summary: "mlp-2 of mlp does not reproduce any more: failed"
              runbook_url: https://wiki/RharnessRunBroken
      - {eval_time: 39h, alertname: RharnessDeterminismViolation, exp_alerts: []}
      - eval_time: 50h
        alertname: RharnessDeterminismViolation
        exp_alerts:
          - exp_labels: {history: h, family: mlp, owner: ada, severity: ticket}
            exp_annotations:
              summary: "runs of mlp that are declared bitwise drifted: 2 in its period"
              runbook_url: https://wiki/RharnessDeterminismViolation
      - {eval_time: 160h, alertname: RharnessObjectiveUnknown, exp_alerts: []}
      - eval_time: 170h
        alertname: RharnessObjectiveUnknown
        exp_alerts:
          - exp_labels: {history: h, family: cnn, check: flaky, state: unknown, severity: ticket}
            exp_annotations:
              summary: "nothing is known of cnn: flaky; drill its runs"
              runbook_url: https://wiki/RharnessObjectiveUnknown
      - {eval_time: 40h, alertname: RharnessObjectivesNotMeasured, exp_alerts: []}
      - eval_time: 49h
        alertname: RharnessObjectivesNotMeasured
        exp_alerts:
          - exp_labels: {history: h, severity: ticket}
            exp_annotations:
              summary: "objectives of h are not measured any more"
              runbook_url: https://wiki/RharnessObjectivesNotMeasured
)yaml";

// Hosts that go away, scrapes that are missed, owners that change.
constexpr char kGapTest[] = R"yaml(
rule_files: [rules.yaml]
evaluation_interval: 1h
tests:
  - name: the host went away with its series
    interval: 1h
    input_series:
      - series: 'rharness_slo_timestamp_seconds{history="h",instance="one"}'
        values: '0x10'
      - series: 'rharness_last_success_timestamp_seconds{history="h",instance="one"}'
        values: '0x10'
    alert_rule_test:
      - {eval_time: 40h, alertname: RharnessObjectivesNotMeasured, exp_alerts: []}
      - &measured
        eval_time: 60h
        alertname: RharnessObjectivesNotMeasured
        exp_alerts:
          - exp_labels: {history: h, severity: ticket}
            exp_annotations: {summary: objectives of h are not measured any more}
      - {<<: *measured, eval_time: 400h}
      - {eval_time: 160h, alertname: RharnessNoDrillSucceeded, exp_alerts: []}
      - &succeeded
        eval_time: 170h
        alertname: RharnessNoDrillSucceeded
        exp_alerts:
          - exp_labels: {history: h, severity: ticket}
            exp_annotations: {summary: no drill of h reproduced all its runs for a long time}
      - {<<: *succeeded, eval_time: 400h}
      - {eval_time: 400h, alertname: RharnessObjectivesAbsent, exp_alerts: []}
      - {eval_time: 400h, alertname: RharnessDrillsAbsent, exp_alerts: []}
  - name: it is measured from another host now
    interval: 1h
    input_series:
      - series: 'rharness_slo_timestamp_seconds{history="h",instance="one"}'
        values: '0x10'
      - series: 'rharness_slo_timestamp_seconds{history="h",instance="two"}'
        values: '_x10 36000+3600x90'
    alert_rule_test:
      - {eval_time: 80h, alertname: RharnessObjectivesNotMeasured, exp_alerts: []}
  - name: nothing ever came
    interval: 1h
    input_series:
      - {series: 'up', values: '1x200'}
    alert_rule_test:
      - {eval_time: 40h, alertname: RharnessObjectivesAbsent, exp_alerts: []}
      - eval_time: 50h
        alertname: RharnessObjectivesAbsent
        exp_alerts:
          - exp_labels: {severity: ticket}
            exp_annotations: {summary: "no history's objectives are measured"}
      - {eval_time: 160h, alertname: RharnessDrillsAbsent, exp_alerts: []}
      - eval_time: 170h
        alertname: RharnessDrillsAbsent
        exp_alerts:
          - exp_labels: {severity: ticket}
            exp_annotations: {summary: no series of any drill (metrics.prom) arrive here}
  - name: violations stay, over scrapes that are missed and another owner
    interval: 1h
    input_series:
      - series: 'rharness_slo_determinism_violations{history="h",family="gap",owner="ada"}'
        values: '1x30 _x4 1x60'
      - series: 'rharness_slo_determinism_violations{history="h",family="owned",owner="ada"}'
        values: '3x30'
      - series: 'rharness_slo_determinism_violations{history="h",family="owned",owner="bob"}'
        values: '_x30 3x60'
    alert_rule_test:
      - {eval_time: 30h, alertname: RharnessDeterminismViolation, exp_alerts: []}
      - {eval_time: 31h, alertname: RharnessDeterminismViolation, exp_alerts: []}
      - {eval_time: 40h, alertname: RharnessDeterminismViolation, exp_alerts: []}
      - {eval_time: 55h, alertname: RharnessDeterminismViolation, exp_alerts: []}
      - {eval_time: 57h, alertname: RharnessDeterminismViolation, exp_alerts: []}
      - {eval_time: 80h, alertname: RharnessDeterminismViolation, exp_alerts: []}
  - name: a new one is told of for a day, after a gap and under another owner, too
    interval: 1h
    input_series:
      - series: 'rharness_slo_determinism_violations{history="h",family="mlp",owner="ada"}'
        values: '1x30'
      - series: 'rharness_slo_determinism_violations{history="h",family="mlp",owner="bob"}'
        values: '_x33 2x60'
      - series: 'rharness_slo_determinism_violations{history="h",family="cnn",owner="ada"}'
        values: '_x33 1x60'
    alert_rule_test:
      - eval_time: 45h
        alertname: RharnessDeterminismViolation
        exp_alerts:
          - exp_labels: {history: h, family: mlp, owner: bob, severity: ticket}
            exp_annotations:
              summary: "runs of mlp that are declared bitwise drifted: 2 in its period"
          - exp_labels: {history: h, family: cnn, owner: ada, severity: ticket}
            exp_annotations:
              summary: "runs of cnn that are declared bitwise drifted: 1 in its period"
      - {eval_time: 60h, alertname: RharnessDeterminismViolation, exp_alerts: []}
)yaml";

TEST_F(AlertFiles, FireWhereSeriesGoAwayAndOnlyForViolationsThatAreNew) {
  if (!Has("promtool")) GTEST_SKIP() << "no promtool here; the package prometheus has it";
  Write("rules.yaml", AlertRules({}));
  Write("test.yaml", kGapTest);
  const auto [tested, told] = Tool({"promtool", "test", "rules", At("test.yaml")});
  EXPECT_EQ(tested, 0) << told;
}

TEST_F(AlertFiles, FireWhatTheyMustAsPromtoolSees) {
  if (!Has("promtool")) GTEST_SKIP() << "no promtool here; the package prometheus has it";
  Write("rules.yaml", AlertRules({.runbooks = "https://wiki"}));
  Write("test.yaml", kRuleTest);
  const auto [checked, said] = Tool({"promtool", "check", "rules", At("rules.yaml")});
  EXPECT_EQ(checked, 0) << said;
  EXPECT_THAT(said, HasSubstr("11 rules found"));
  const auto [tested, told] = Tool({"promtool", "test", "rules", At("test.yaml")});
  EXPECT_EQ(tested, 0) << told;
  // The test can fail: an alarm that fires is one.
  Write("rules.yaml", AlertRules({.runbooks = "https://elsewhere"}));
  EXPECT_NE(Tool({"promtool", "test", "rules", At("test.yaml")}).first, 0);
}

TEST_F(AlertFiles, TakeEachAlertToItsOwnerAsAmtoolSees) {
  if (!Has("amtool")) GTEST_SKIP() << "no amtool here; the package prometheus-alertmanager has it";
  Write("routes.yaml", AlertRoutes(Asked({"ada", "ml platform", "ada", "", "rharness", kHostile}),
                                   {.webhook = "http://127.0.0.1:1/hook"}));
  const auto [checked, said] = Tool({"amtool", "check-config", At("routes.yaml")});
  ASSERT_EQ(checked, 0) << said;
  EXPECT_THAT(said, HasSubstr("8 receivers"));
  const auto receiver = [&](std::vector<std::string> labels) {
    labels.insert(labels.begin(),
                  {"amtool", "config", "routes", "test", "--config.file", At("routes.yaml")});
    const std::string text = Tool(std::move(labels)).second;
    return text.substr(0, text.find('\n'));
  };
  EXPECT_EQ(receiver({"owner=ada", "severity=page"}), "ada-page");
  EXPECT_EQ(receiver({"owner=ada", "severity=ticket"}), "ada-ticket");
  EXPECT_EQ(receiver({"owner=ml platform", "severity=page"}), "ml platform-page");
  EXPECT_EQ(receiver({"owner=bob", "severity=page"}), "rharness-page");
  EXPECT_EQ(receiver({"severity=ticket"}), "rharness-ticket");
  // By the label that the owner has in the series, whatever it is of the name.
  const std::string same(200, 'x');
  const std::vector<std::string> odd = {same + "a",     same + "b",  "tab\tin",
                                        "line\u2028in", "del\x7fin", "\xff"};
  Write("routes.yaml", AlertRoutes(Asked(odd), {}));
  const auto [taken, why] = Tool({"amtool", "check-config", At("routes.yaml")});
  ASSERT_EQ(taken, 0) << why;
  std::set<std::string> receivers;
  for (const std::string& owner : odd) {
    const std::string found = receiver({"owner=" + LabelOf(owner), "severity=page"});
    EXPECT_NE(found, "rharness-page") << owner;
    receivers.insert(found);
  }
  EXPECT_EQ(receivers.size(), odd.size());
  // Nobody is notified until somebody says where.
  Write("routes.yaml", AlertRoutes(Asked({"ada"}), {}));
  EXPECT_EQ(Tool({"amtool", "check-config", At("routes.yaml")}).first, 0);
}

}  // namespace
}  // namespace rharness
