// A run as a drill's report has it, with nothing but its verdict.
#ifndef RHARNESS_TESTS_REPORTS_DRILLED_RUN_H_
#define RHARNESS_TESTS_REPORTS_DRILLED_RUN_H_

#include <string>

#include "reports/model.h"

namespace rharness {

inline ReportRun Drilled(std::string name, Verdict verdict, std::string headline = {}) {
  ReportRun run;
  run.run_id = std::move(name);
  run.verdict = verdict;
  run.headline = std::move(headline);
  return run;
}

}  // namespace rharness

#endif  // RHARNESS_TESTS_REPORTS_DRILLED_RUN_H_
