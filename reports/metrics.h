// What outlives one drill in the Prometheus textfile.
#ifndef RHARNESS_REPORTS_METRICS_H_
#define RHARNESS_REPORTS_METRICS_H_

#include <string>
#include <string_view>

namespace rharness {

// `metrics` as WriteMetrics returned it, with the last-success timestamp of `previous` (the text of
// the file that is about to be replaced) where that is later and of the same history. A drill knows
// it from its history; where a report does not, as those of older versions, and neither does the
// file, it is 0, "never as far as is known", so that a staleness alert fires too early rather than
// never. Text that does not hold the series leaves `metrics` as it is.
std::string CarryLastSuccess(std::string metrics, std::string_view previous);

}  // namespace rharness

#endif  // RHARNESS_REPORTS_METRICS_H_
