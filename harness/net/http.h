// Requests to a tracking server: JSON in and out, and files, within bounds.
//
// Role: for importers and for code that writes back; http.cc is the fence around libcurl, which is
// loaded at the first request, so that nobody else needs it. Not here: addresses or records of any
// server.
#ifndef RHARNESS_HARNESS_NET_HTTP_H_
#define RHARNESS_HARNESS_NET_HTTP_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/base/clock.h"
#include "harness/base/json.h"
#include "harness/base/result.h"

namespace rharness {

using HttpQuery = std::vector<std::pair<std::string, std::string>>;
using HttpHeaders = std::vector<std::pair<std::string, std::string>>;

// Credentials for a server. Never in a log, an error or a record.
struct HttpCredentials {
  std::string token;  // "Authorization: Bearer TOKEN"; takes precedence over a user
  std::string user;
  std::string password;
  // Headers of one attempt, if each request is signed: by method, path and query.
  std::function<HttpHeaders(std::string_view, std::string_view, const HttpQuery&)> sign;
  std::vector<std::string> secrets;  // signing secrets, which no message may repeat
  bool empty() const { return token.empty() && user.empty() && !sign; }
};

struct HttpLimits {
  std::chrono::milliseconds connect{15'000};
  std::chrono::milliseconds request{120'000};              // one attempt, except for files
  std::chrono::seconds stalled{30};                        // a file below 1 KiB/s for so long
  std::chrono::seconds total{86'400};                      // all requests of one client together
  std::uint64_t response_bytes = std::uint64_t{64} << 20;  // decompressed
  int attempts = 5;  // if a server is unreachable, busy (429) or fails (500 and above)
  std::chrono::milliseconds first_wait{1'000};  // doubles each time, or as the server says
  std::chrono::milliseconds longest_wait{30'000};
};

// Keeps letters, digits, '-', '.', '_' and '~'; others become %XX.
std::string EscapedForUrl(std::string_view text);

// A persistent connection. Not thread-safe.
//
// Certificates are verified: by the system's authorities, or by those in `certificates`. A redirect
// is an error that names its target. Errors: not_found (404), invalid_input (other refusals of the
// request, answers that are no JSON, longer than the limit), io (the server is unreachable or
// fails), timeout (also of a server that never comes to an end: HttpLimits::total), unsupported (no
// libcurl). They quote the server's error message, shortened, and no part of the credentials.
class HttpClient {
 public:
  // `url` is "http[s]://HOST[:PORT][/PATH]" without user and password (invalid_input).
  static Result<HttpClient> Make(std::string_view url, HttpCredentials credentials,
                                 const HttpLimits& limits = {}, std::string certificates = {},
                                 std::function<bool()> should_cancel = {},
                                 Clock* clock = &SystemClock());
  HttpClient(HttpClient&&) noexcept;
  HttpClient& operator=(HttpClient&&) noexcept;
  ~HttpClient();

  const std::string& url() const;
  // `headers`, if given, gets the answer's, names in lower case; also of an error.
  Result<Json> Get(std::string_view path, const HttpQuery& query, HttpHeaders* headers = nullptr);
  // Only for repeatable requests: an earlier attempt may have succeeded without an answer.
  Result<Json> Post(std::string_view path, const Json& body);
  Result<Json> Delete(std::string_view path, const Json& body);
  // Replaces the resource. Accepted (200) or queued (202) is success; ignores the body of the
  // answer.
  Status Put(std::string_view path, const std::string& content_type, std::string body);
  // The headers of a resource (HEAD), names in lower case; `accept` replaces the usual one.
  Result<HttpHeaders> HeadersOf(std::string_view path, const HttpQuery& query,
                                const std::string& accept = "");
  // The content, piece by piece; at most `most_bytes` (invalid_input). After a failure it starts
  // over: calls `restart` before each attempt.
  Status Fetch(std::string_view path, const HttpQuery& query, std::uint64_t most_bytes,
               const std::function<void()>& restart,
               const std::function<void(std::string_view)>& take);

 private:
  struct State;
  Result<Json> Send(const char* method, std::string_view path, const Json& body);
  explicit HttpClient(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace rharness

#endif  // RHARNESS_HARNESS_NET_HTTP_H_
