// One judged run as the report shows it. Pure.
#ifndef RHARNESS_HARNESS_DRILL_REPORT_OF_H_
#define RHARNESS_HARNESS_DRILL_REPORT_OF_H_

#include <string>
#include <vector>

#include "compare/comparison.h"
#include "harness/records/manifest/evidence.h"
#include "harness/records/manifest/manifest.h"
#include "reports/model.h"

namespace rharness {

// `comparison` is judged; `evidence` and its ends are parallel, one entry per rerun. Equal parts
// appear by name, without values.
ReportRun BuildReportRun(const Manifest& manifest, const Comparison& comparison,
                         const std::vector<Evidence>& evidence);

// "AMD EPYC 9654, 2 cores, no GPU, Debian GNU/Linux 12".
std::string DescribeHost(const Environment& environment);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_DRILL_REPORT_OF_H_
