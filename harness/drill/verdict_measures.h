// A drill's measures of a run beside its verdict, as the history keeps them for indicators. Pure.
#ifndef RHARNESS_HARNESS_DRILL_VERDICT_MEASURES_H_
#define RHARNESS_HARNESS_DRILL_VERDICT_MEASURES_H_

#include <map>
#include <optional>

#include "harness/history/records.h"
#include "harness/records/manifest/evidence.h"
#include "harness/records/manifest/manifest.h"
#include "reports/model.h"

namespace rharness {

// Of a judged run and the evidence of its reruns. Empty if no rerun could be carried out for
// reasons outside the run.
std::optional<VerdictMeasures> MeasuresOf(const ReportRun& run, const Manifest& manifest,
                                          const std::map<int, Evidence>& evidence);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_DRILL_VERDICT_MEASURES_H_
