// One request to a Pushgateway; see push.h.
#include "harness/insight/objectives/push.h"

#include <algorithm>
#include <utility>

#include "harness/base/base64.h"
#include "reports/text.h"

namespace rharness {

HttpLimits PushLimits() {
  HttpLimits limits;
  limits.connect = std::chrono::seconds(10);
  limits.request = std::chrono::seconds(20);
  limits.attempts = 2;
  limits.response_bytes = 1 << 20;
  return limits;
}

Result<HttpClient> ConnectToPushgateway(const std::string& url, const ReadPushVariable& variable,
                                        const HttpLimits& limits) {
  HttpCredentials credentials;
  credentials.token = variable("RHARNESS_PUSH_TOKEN");
  if (credentials.token.empty()) {
    credentials.user = variable("RHARNESS_PUSH_USERNAME");
    credentials.password = variable("RHARNESS_PUSH_PASSWORD");
  }
  if (credentials.user.empty() != credentials.password.empty()) {
    return InvalidInput("a user needs a password, and a password a user",
                        "RHARNESS_PUSH_USERNAME, RHARNESS_PUSH_PASSWORD");
  }
  return HttpClient::Make(url, std::move(credentials), limits,
                          variable("RHARNESS_PUSH_CERTIFICATES"));
}

std::string PushPath(std::string_view history) {
  constexpr std::size_t kMostBytes = 200;  // as its label has
  std::string encoded = ToBase64Text(SafeText(history, kMostBytes, Lines::kKeep));
  std::ranges::replace(encoded, '+', '-');
  std::ranges::replace(encoded, '/', '_');
  if (encoded.empty()) encoded = "=";
  return "/metrics/job/rharness/history@base64/" + encoded;
}

Status PushSeries(HttpClient* gateway, std::string_view history, std::string series) {
  return gateway->Put(PushPath(history), "text/plain; version=0.0.4; charset=utf-8",
                      std::move(series));
}

}  // namespace rharness
