// The objectives of families and their state: "rharness.objectives/v1".
//
// Role: a noun with every number and sentence in it; harness/insight/objectives fills it, a
// Document of it has every format but that of Prometheus.
#ifndef RHARNESS_REPORTS_OBJECTIVES_REPORT_H_
#define RHARNESS_REPORTS_OBJECTIVES_REPORT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/clock.h"
#include "harness/base/json.h"
#include "harness/verdict/verdict.h"
#include "reports/document.h"

namespace rharness {

enum class ObjectiveState {
  kMet,
  kMissed,   // the budget is spent, or a limit is passed
  kBurning,  // the budget is spent so fast that somebody must know now
  kUnknown,  // nothing there to say
};
std::string_view ObjectiveStateName(ObjectiveState state);  // "met", "missed", "burning", "unknown"

// One thing that a family's policy asks.
struct ObjectiveCheck {
  std::string name;             // "reproducible", "inconclusive", "flaky" or "stale"
  double limit = 0.0;           // a share; of "stale" days
  std::optional<double> value;  // in the same unit; empty: unknown
  ObjectiveState state = ObjectiveState::kUnknown;
  std::string words;  // one sentence
};

// An alarm over two windows, both of which must burn (compare/metrics/reproducible_rate.h).
struct BudgetAlarm {
  std::string name;  // "fast" or "slow"
  double long_hours = 0.0;
  double short_hours = 0.0;
  double threshold = 0.0;  // burn rate: 1 spends the budget in exactly its period
  double long_burn = 0.0;
  double short_burn = 0.0;
  std::int64_t long_checks = 0;  // runs with a conclusive verdict
  bool page = false;             // page when it fires; else a ticket
  bool fires = false;
};

// A share of runs, with Wilson's interval at 95 %.
struct ShareIndicator {
  std::int64_t part = 0;
  std::int64_t all = 0;
  double low = 0.0;
  double high = 1.0;  // of none nothing is known
};

struct FamilyObjectives {
  std::string family;
  std::string owner;  // empty: none, or no objective
  std::string where;  // "policy.yaml:12"; empty: no objective
  double period_days = 28.0;
  // Over the period, runs by their last verdict in it, each once; without infrastructure failures.
  std::int64_t good = 0;        // identical or equivalent
  std::int64_t bad = 0;         // drifted or failed
  std::int64_t open = 0;        // inconclusive or not comparable
  std::int64_t identical = 0;   // of the good ones: every bit
  std::int64_t violations = 0;  // of the bad ones: declared bitwise, and drifted
  std::optional<double> rate;   // good / (good + bad)
  double rate_low = 0.0;        // Wilson's interval at 95 %
  double rate_high = 0.0;
  double worst_case = 0.0;            // with open runs counted as bad
  std::optional<double> budget_left;  // share of the bad runs that the objective allows; below 0:
                                      // more than these
  std::int64_t checked_twice = 0;     // runs with two conclusive verdicts or more in the period
  std::int64_t flipped = 0;           // of these: some good, and some bad
  ShareIndicator flakes;              // runs flipped in one environment: nothing had changed
  ShareIndicator attested;            // of good, bad and open: those with a signed verdict
  // Of all that is there now.
  std::int64_t runs = 0;
  std::int64_t never = 0;    // never compared: identical, equivalent or drifted
  std::int64_t waiting = 0;  // longer than the policy allows
  double oldest_days = 0.0;  // how long the one has waited that waits longest
  std::int64_t had = 0;      // of those that `rharness check --available` was asked about
  std::int64_t gone = 0;
  // Over reruns of the period that were compared.
  std::int64_t reruns = 0;
  double mean_seconds = 0.0;       // of one
  double mean_ratio = 0.0;         // to what was recorded
  std::optional<double> ratio_sd;  // sample standard deviation
  double ratio_sd_low = 0.0;       // its interval at 95 %, by chi-squared; with ratio_sd
  double ratio_sd_high = 0.0;
  std::optional<double> seconds_to_verdict;  // of reruns, for one verdict; empty: no rerun
  // Over runs by their last verdict of the period with such a measure.
  std::int64_t weights = 0;  // with checkpoints that were compared
  std::int64_t weights_equal = 0;
  std::int64_t metrics = 0;        // with a metric that has a margin
  std::optional<double> spread;    // of their differences in margins: root of the mean square
  std::int64_t looked_at = 0;      // under observation
  std::int64_t warned = 0;         // of these: an operator without deterministic implementation
  std::int64_t data = 0;           // with data
  std::int64_t data_had = 0;       // of these: all available as recorded
  std::int64_t records = 0;        // with a checked record
  std::int64_t records_whole = 0;  // of these: their record is complete
  // Over runs rerun in the period as a rollback test, by the last result (`rharness incident`).
  std::int64_t rollbacks = 0;           // reproduced, drifted or failed
  std::int64_t rollbacks_held = 0;      // of these: reproduced
  std::int64_t rollbacks_open = 0;      // besides
  std::optional<double> rollback_rate;  // rollbacks_held / rollbacks
  double rollback_low = 0.0;            // Wilson's interval at 95 %
  double rollback_high = 0.0;
  std::vector<BudgetAlarm> alarms;  // with an objective for reproducible
  std::vector<ObjectiveCheck> checks;

  ObjectiveState state() const;  // the worst of its checks; kMet without any
};

// A run that no longer reproduces, for an alert of its own.
struct BrokenRun {
  std::string run_id;
  std::string family;
  std::string owner;
  Verdict verdict = Verdict::kDrifted;  // or kFailed
};

struct ObjectivesReport {
  WallTime at{};
  std::string version;                     // of this program
  std::string history;                     // where it is kept
  std::string policy;                      // its file; empty: none
  std::vector<FamilyObjectives> families;  // the worst first
  std::vector<BrokenRun> broken;           // those judged last first; a hundred at most
  std::string headline;                    // one sentence
  std::string next;                        // the next step; empty: none
  std::vector<std::string> notes;          // such as objectives without a family
  int exit_code = 0;
};

Json ToJson(const ObjectivesReport& report);
// The families; what is known of each is in depth. A case an objective.
Document DocumentOf(const ObjectivesReport& report);
// Prometheus text exposition, for the textfile collector or a Pushgateway: the first 100 families,
// of a thousand their violations, totals of all, and the broken runs.
std::string WriteMetrics(const ObjectivesReport& report);

}  // namespace rharness

#endif  // RHARNESS_REPORTS_OBJECTIVES_REPORT_H_
