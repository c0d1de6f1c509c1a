// The part of the Prometheus textfile that outlives one drill.
#ifndef RHARNESS_REPORTS_METRICS_H_
#define RHARNESS_REPORTS_METRICS_H_

#include <string>
#include <string_view>

namespace rharness {

// `metrics` from WriteMetrics, with the last-success timestamp of `previous` (the text of the file
// to be replaced) if that is later and of the same history. A drill knows it from its history; if
// neither a report, as of older versions, nor the file knows it, it is 0, "never as far as is
// known", so that a staleness alert fires too early rather than never. Text without the series
// leaves `metrics` unchanged.
std::string CarryLastSuccess(std::string metrics, std::string_view previous);

}  // namespace rharness

#endif  // RHARNESS_REPORTS_METRICS_H_
