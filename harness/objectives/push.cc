// One request to a Pushgateway; see push.h.
#include "harness/objectives/push.h"

#include <algorithm>
#include <utility>

#include "harness/base/base64.h"
#include "harness/intake/http.h"
#include "reports/text.h"

namespace rharness {

std::string PushPath(std::string_view history) {
  constexpr std::size_t kMostBytes = 200;  // as a label has
  std::string encoded = ToBase64Text(SafeText(history, kMostBytes, Lines::kKeep));
  std::ranges::replace(encoded, '+', '-');
  std::ranges::replace(encoded, '/', '_');
  if (encoded.empty()) encoded = "=";
  return "/metrics/job/rharness/history@base64/" + encoded;
}

Status PushSeries(const std::string& url, std::string_view history, std::string series) {
  HttpLimits limits;
  limits.connect = std::chrono::seconds(10);
  limits.request = std::chrono::seconds(30);
  limits.attempts = 3;
  ASSIGN_OR_RETURN(HttpClient client, HttpClient::Make(url, {}, limits));
  return client.Put(PushPath(history), "text/plain; version=0.0.4; charset=utf-8",
                    std::move(series));
}

}  // namespace rharness
