// The series of objectives to a Pushgateway, for hosts that no node exporter runs on.
//
// Role: the one place here that speaks to a server. A push takes the place of what the same history
// pushed before; the gateway keeps it until then, so that rharness_slo_timestamp_seconds says how
// old it is.
// Source: github.com/prometheus/pushgateway, README, "API".
#ifndef RHARNESS_HARNESS_OBJECTIVES_PUSH_H_
#define RHARNESS_HARNESS_OBJECTIVES_PUSH_H_

#include <string>
#include <string_view>

#include "harness/base/result.h"

namespace rharness {

// "/metrics/job/rharness/history@base64/..."; a long name is cut as its label is.
std::string PushPath(std::string_view history);

// `url`: "http[s]://HOST[:PORT][/PATH]", of the gateway; `series`: text exposition. Three attempts,
// each of 30 s at most. Errors: invalid_input (the URL, or the gateway refuses the series, with its
// words), io, timeout, not_found (no gateway there), unsupported (no libcurl).
Status PushSeries(const std::string& url, std::string_view history, std::string series);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_OBJECTIVES_PUSH_H_
