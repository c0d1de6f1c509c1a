// A decision and its inputs as a report for people.
#include <utility>

#include "harness/gate/gate.h"

namespace rharness {

GateReport BuildReport(const GateInput& input, GateDecision decision) {
  GateReport report;
  report.decision = std::move(decision);
  report.baseline = input.baseline;
  report.candidate = input.candidate;
  if (input.record) {
    report.acceptance = {.accepted_by = input.record->accepted_by,
                         .reason = input.record->reason,
                         .holds = FormatUntil(input.record->expires)};
  }
  report.rules = input.policy.rules.size();
  report.waivers = input.policy.waivers.size();
  report.drill_required = input.policy.drill_required;
  report.has_history = !input.history.empty();
  if (input.drill) {
    for (const ReportRun& run : input.drill->runs) report.drilled[run.run_id] = run.verdict;
  }
  report.made = input.now;
  return report;
}

}  // namespace rharness
