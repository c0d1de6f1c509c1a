// One judged run as the report shows it. Pure.
#ifndef RHARNESS_HARNESS_DRILL_REPORT_OF_H_
#define RHARNESS_HARNESS_DRILL_REPORT_OF_H_

#include <string>
#include <vector>

#include "compare/verdict.h"
#include "harness/manifest/evidence.h"
#include "harness/manifest/manifest.h"
#include "reports/model.h"

namespace rharness {

// `evidence` and comparison.reruns go together, one a rerun.
ReportRun BuildReportRun(const Manifest& manifest, const RunComparison& comparison,
                         const Judgement& judgement, const std::vector<Evidence>& evidence);

// The layers of all reruns as one: a layer differs if it differs in any rerun.
std::array<LayerComparison, 5> MergeLayers(const std::vector<RerunComparison>& reruns);

// "AMD EPYC 9654, 2 cores, no GPU, Debian GNU/Linux 12".
std::string DescribeHost(const Environment& environment);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_DRILL_REPORT_OF_H_
