// Pushes the series of objectives to a Pushgateway, for hosts without a node exporter.
//
// Role: the only code here that talks to a server. A push replaces the previous push of the same
// history; the gateway keeps it until then, so rharness_slo_timestamp_seconds shows its age.
// Source: github.com/prometheus/pushgateway, README, "API".
#ifndef RHARNESS_HARNESS_INSIGHT_OBJECTIVES_PUSH_H_
#define RHARNESS_HARNESS_INSIGHT_OBJECTIVES_PUSH_H_

#include <functional>
#include <string>
#include <string_view>

#include "harness/base/result.h"
#include "harness/net/http.h"

namespace rharness {

// Two attempts of 20 s each: the caller is a cron job, which tries again tomorrow.
HttpLimits PushLimits();

// `url`: "http[s]://HOST[:PORT][/PATH]". Credentials come from the environment, read by `variable`
// (empty: not set), never from an argument: RHARNESS_PUSH_TOKEN, or RHARNESS_PUSH_USERNAME and
// RHARNESS_PUSH_PASSWORD; RHARNESS_PUSH_CERTIFICATES is a file of those that sign its own. Nothing
// is sent yet. Errors: invalid_input (the URL, a user without a password), unsupported (no
// libcurl).
using ReadPushVariable = std::function<std::string(const char* name)>;
Result<HttpClient> ConnectToPushgateway(const std::string& url, const ReadPushVariable& variable,
                                        const HttpLimits& limits = PushLimits());

// "/metrics/job/rharness/history@base64/...": one group per history. A long name is cut like its
// label.
std::string PushPath(std::string_view history);

// `series`: text exposition. Errors: invalid_input (the gateway refuses the series, with its
// message, or the credentials), not_found (no gateway there), io, timeout.
Status PushSeries(HttpClient* gateway, std::string_view history, std::string series);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_INSIGHT_OBJECTIVES_PUSH_H_
