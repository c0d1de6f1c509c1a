// What a search came to, as a report. Pure.
#ifndef RHARNESS_HARNESS_EXPERIMENTS_ISOLATE_ISOLATION_REPORT_OF_H_
#define RHARNESS_HARNESS_EXPERIMENTS_ISOLATE_ISOLATION_REPORT_OF_H_

#include <vector>

#include "harness/experiments/isolate/axes.h"
#include "harness/experiments/isolate/calibration.h"
#include "harness/experiments/isolate/isolate_settings.h"
#include "harness/experiments/isolate/search.h"
#include "harness/experiments/isolate/search_cost.h"
#include "reports/isolation_report.h"

namespace rharness {

// A trial that was rerun.
struct RanTrial {
  Trial trial;
  int number = 0;  // of its rerun
  Evidence evidence;
  Signature signature;
  TrialAnswer answer = TrialAnswer::kSkipped;
};

// A search at its end, or before its start. All references outlive the call.
struct SearchDone {
  const IsolateSettings& settings;
  const std::vector<Axis>& axes;      // all
  const std::vector<Axis>& settable;  // those that can be set
  const std::vector<RanTrial>& trials;
  const SearchState& state;
  const Calibration& calibration;
  const SearchRules& rules;  // the rules used by the search
  SearchCost cost;
  std::vector<std::string> notes;
  WallTime ended{};
  bool planned = false;
  bool interrupted = false;
};

IsolationReport BuildIsolationReport(const SearchDone& done);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXPERIMENTS_ISOLATE_ISOLATION_REPORT_OF_H_
