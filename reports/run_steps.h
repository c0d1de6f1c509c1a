// What to do about one run without a verdict, in a sentence.
//
// Role: for the summary of a drill (summary.h).
#ifndef RHARNESS_REPORTS_RUN_STEPS_H_
#define RHARNESS_REPORTS_RUN_STEPS_H_

#include <string>

#include "reports/model.h"

namespace rharness {

// For a run that is open because of an output or a curve, the step that settles it; empty for
// others.
std::string StepOfFinding(const ReportRun& run);

// For a run that is not comparable: the option, the record or the input that is missing.
std::string StepOfInputs(const ReportRun& run);

}  // namespace rharness

#endif  // RHARNESS_REPORTS_RUN_STEPS_H_
