// Requests by libcurl: its options, and the meaning of its answers.
// Source: curl.se/libcurl/c (options and errors); RFC 9110, sections 10.2.3 (Retry-After) and 15.
#include "harness/net/http.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "harness/base/clean_text.h"
#include "harness/base/log.h"
#include "harness/base/shown_url.h"
#include "harness/net/http_answer.h"
#include "harness/net/libcurl.h"

namespace rharness {
namespace {

std::string HostOf(std::string_view url) {
  const auto start = url.find("://") + 3;
  std::string_view host = url.substr(start, url.find('/', start) - start);
  if (host.starts_with('[')) return std::string(host.substr(0, host.find(']') + 1));
  return std::string(host.substr(0, host.find(':')));
}

bool IsThisMachine(std::string_view host) {
  return host == "localhost" || host == "[::1]" || host.starts_with("127.");
}

bool IsPrintable(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return c >= ' ' && c < 0x7f; });
}

}  // namespace

std::string EscapedForUrl(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '.' || c == '_' || c == '~';
    escaped += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return escaped;
}

struct HttpClient::State {
  const Libcurl* curl = nullptr;
  CURL* handle = nullptr;
  std::string url;
  HttpCredentials credentials;
  HttpLimits limits;
  std::string certificates;
  std::function<bool()> should_cancel;
  Clock* clock = nullptr;
  std::chrono::steady_clock::time_point began = std::chrono::steady_clock::now();

  ~State() {
    if (handle != nullptr) curl->cleanup(handle);
  }

  struct Request {
    std::string path;
    HttpQuery query;
    const char* method = nullptr;  // other than GET, or POST with a body
    std::optional<std::string> body;
    std::uint64_t most_bytes = 0;
    const std::function<void()>* restart = nullptr;
    const std::function<void(std::string_view)>* take = nullptr;
    HttpHeaders* got = nullptr;  // the answer's headers go there
    bool head = false;           // its content is not asked for
    std::string accept = "application/json, */*";
    std::string content_type = "application/json";
  };
  struct Failure {
    Error error;
    bool again = false;
    std::chrono::milliseconds wait{0};  // requested by the server; 0: none
  };

  Result<std::string> Perform(const Request& request);
  Result<Json> PerformForJson(const Request& request);
  std::optional<Failure> Attempt(const Request& request, std::string* text);
  void Prepare(const Request& request, const std::string& address, HttpAnswer* answer) const;
  curl_slist* Headers(const Request& request) const;
  std::optional<Failure> Judge(CURLcode code, const HttpAnswer& answer,
                               const std::string& where) const;
  std::optional<Failure> JudgeStatus(const HttpAnswer& answer, const std::string& where) const;
  bool IsOver() const { return std::chrono::steady_clock::now() - began >= limits.total; }
  Error Cancelled() const {
    if (!IsOver()) return TimeoutError("was interrupted", url);
    return TimeoutError(fmt::format("is not at an end after {} s", limits.total.count()), url);
  }
  // For errors: the query of a path may contain credentials.
  std::string Where(const Request& request) const { return ShownUrl(url + request.path); }
  std::string Sayable(std::string_view text) const;
  bool Wait(std::chrono::milliseconds span) const;
};

// A server's message, shortened and without possible repetitions of credentials.
std::string HttpClient::State::Sayable(std::string_view text) const {
  std::string said(text.substr(0, 2000));
  std::vector<std::string> secrets = credentials.secrets;
  secrets.insert(secrets.end(), {credentials.token, credentials.password});
  for (const std::string& secret : secrets) {
    for (auto at = secret.empty() ? said.npos : said.find(secret); at != said.npos;
         at = said.find(secret, at + 3)) {
      said.replace(at, secret.size(), "***");
    }
  }
  return CleanText(said, 200);
}

curl_slist* HttpClient::State::Headers(const Request& request) const {
  curl_slist* headers = curl->append(nullptr, ("Accept: " + request.accept).c_str());
  if (request.body) {
    headers = curl->append(headers, ("Content-Type: " + request.content_type).c_str());
  }
  headers = curl->append(headers, "Expect:");
  if (!credentials.token.empty()) {
    headers = curl->append(headers, ("Authorization: Bearer " + credentials.token).c_str());
  }
  if (credentials.sign) {
    const char* method = request.method != nullptr ? request.method
                         : request.head            ? "HEAD"
                         : request.body            ? "POST"
                                                   : "GET";
    for (const auto& [name, value] : credentials.sign(method, request.path, request.query)) {
      headers = curl->append(headers, (name + ": " + value).c_str());
    }
  }
  return headers;
}

void HttpClient::State::Prepare(const Request& request, const std::string& address,
                                HttpAnswer* answer) const {
  const auto set = [&](CURLoption option, auto value) { curl->setopt(handle, option, value); };
  curl->reset(handle);
  set(CURLOPT_URL, address.c_str());
  set(CURLOPT_PROTOCOLS_STR, "http,https");
  set(CURLOPT_FOLLOWLOCATION, 0L);
  set(CURLOPT_NOSIGNAL, 1L);
  set(CURLOPT_USERAGENT, "rharness");
  set(CURLOPT_ACCEPT_ENCODING, request.take == nullptr ? "" : nullptr);
  set(CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(limits.connect.count()));
  if (request.take == nullptr) {
    set(CURLOPT_TIMEOUT_MS, static_cast<long>(limits.request.count()));
  } else {
    set(CURLOPT_LOW_SPEED_LIMIT, 1024L);
    set(CURLOPT_LOW_SPEED_TIME, static_cast<long>(limits.stalled.count()));
  }
  set(CURLOPT_SSL_VERIFYPEER, 1L);
  set(CURLOPT_SSL_VERIFYHOST, 2L);
  if (!certificates.empty()) set(CURLOPT_CAINFO, certificates.c_str());
  if (IsThisMachine(HostOf(url))) set(CURLOPT_NOPROXY, "*");
  if (credentials.token.empty() && !credentials.user.empty()) {
    set(CURLOPT_HTTPAUTH, static_cast<long>(CURLAUTH_BASIC));
    set(CURLOPT_USERNAME, credentials.user.c_str());
    set(CURLOPT_PASSWORD, credentials.password.c_str());
  }
  if (request.body) {
    set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.body->size()));
    set(CURLOPT_POSTFIELDS, request.body->c_str());
  }
  if (request.method != nullptr) set(CURLOPT_CUSTOMREQUEST, request.method);
  if (credentials.sign) set(CURLOPT_PATH_AS_IS, 1L);  // the signed path is the sent path
  if (request.head) set(CURLOPT_NOBODY, 1L);
  if (request.got != nullptr) {
    set(CURLOPT_HEADERFUNCTION, &TakeHttpHeader);
    set(CURLOPT_HEADERDATA, static_cast<void*>(answer));
  }
  set(CURLOPT_WRITEFUNCTION, &TakeHttpPiece);
  set(CURLOPT_WRITEDATA, static_cast<void*>(answer));
  set(CURLOPT_NOPROGRESS, 0L);
  set(CURLOPT_XFERINFOFUNCTION, &AskWhetherToGoOn);
  set(CURLOPT_XFERINFODATA, static_cast<void*>(answer));
}

std::optional<HttpClient::State::Failure> HttpClient::State::Attempt(const Request& request,
                                                                     std::string* text) {
  std::string address = url + request.path;
  char separator = '?';
  for (const auto& [name, value] : request.query) {
    address += fmt::format("{}{}={}", std::exchange(separator, '&'), EscapedForUrl(name),
                           EscapedForUrl(value));
  }
  if (request.restart != nullptr) (*request.restart)();
  HttpAnswer answer{.most_bytes = request.most_bytes,
                    .most_time_of_an_error = limits.request,
                    .should_cancel = &should_cancel,
                    .take = request.take,
                    .headers = request.got,
                    .curl = curl,
                    .handle = handle};
  Prepare(request, address, &answer);
  curl_slist* headers = Headers(request);
  curl->setopt(handle, CURLOPT_HTTPHEADER, headers);
  const CURLcode code = curl->perform(handle);
  auto failure = Judge(code, answer, Where(request));
  const bool puts = request.method != nullptr && std::string_view(request.method) == "PUT";
  if (puts && code == CURLE_OK && answer.StatusCode() == 202) failure.reset();
  // A server that refuses invalid JSON explains it in plain words.
  if (puts && failure && MessageIn(answer.text).empty() && !answer.text.empty()) {
    failure->error.message += ": " + Sayable(answer.text);
  }
  curl->free_list(headers);
  *text = std::move(answer.text);
  return failure;
}

std::optional<HttpClient::State::Failure> HttpClient::State::Judge(CURLcode code,
                                                                   const HttpAnswer& answer,
                                                                   const std::string& where) const {
  if (answer.cancelled) return Failure{Cancelled()};
  if (answer.too_long) {
    return Failure{InvalidInput(
        fmt::format("more than {} bytes; expected at most that", answer.most_bytes), where)};
  }
  if (answer.read_enough) return JudgeStatus(answer, where);
  if (code == CURLE_OPERATION_TIMEDOUT) {
    return Failure{TimeoutError("the server did not answer in time", where), true};
  }
  const bool final = code == CURLE_PEER_FAILED_VERIFICATION || code == CURLE_SSL_CACERT_BADFILE ||
                     code == CURLE_URL_MALFORMAT || code == CURLE_COULDNT_RESOLVE_HOST;
  if (code != CURLE_OK) {
    return Failure{IoError(fmt::format("the request failed: {}", curl->strerror(code)), where),
                   !final};
  }
  return JudgeStatus(answer, where);
}

std::optional<HttpClient::State::Failure> HttpClient::State::JudgeStatus(
    const HttpAnswer& answer, const std::string& where) const {
  const long status = answer.StatusCode();
  if (status == 200) return std::nullopt;
  if (status >= 300 && status < 400) {
    char* target = nullptr;
    curl->getinfo(handle, CURLINFO_REDIRECT_URL, &target);
    return Failure{InvalidInput(
        fmt::format("the server sends elsewhere ({}), to {}, which is not followed; expected the "
                    "URL where it answers",
                    status, target == nullptr ? "nowhere" : Sayable(WithoutCredentials(target))),
        where)};
  }
  std::string said = MessageIn(answer.text);
  if (!said.empty()) said = fmt::format(": {}", Sayable(said));
  if (status == 404) return Failure{NotFound("the server does not have it (404)" + said, where)};
  if (status == 401 || status == 403) {
    return Failure{
        InvalidInput(fmt::format("the server refuses {} ({}){}",
                                 credentials.empty() ? "without credentials" : "these credentials",
                                 status, said),
                     where)};
  }
  Failure failure{IoError(fmt::format("the server fails ({}){}", status, said), where)};
  failure.again = status == 429 || status >= 500;
  if (!failure.again) {
    failure.error =
        InvalidInput(fmt::format("the server refuses this request ({}){}", status, said), where);
  }
  curl_off_t seconds = 0;
  curl->getinfo(handle, CURLINFO_RETRY_AFTER, &seconds);
  failure.wait = std::chrono::seconds(std::clamp<curl_off_t>(seconds, 0, 3600));
  return failure;
}

// Whether it was waited to the end.
bool HttpClient::State::Wait(std::chrono::milliseconds span) const {
  constexpr std::chrono::milliseconds kSlice{100};
  for (; span.count() > 0; span -= kSlice) {
    if (should_cancel()) return false;
    clock->SleepFor(std::min(span, kSlice));
  }
  return true;
}

Result<std::string> HttpClient::State::Perform(const Request& request) {
  std::chrono::milliseconds wait = limits.first_wait;
  for (int attempt = 1;; ++attempt) {
    if (IsOver()) return Cancelled();
    std::string text;
    const auto failure = Attempt(request, &text);
    if (!failure) return text;
    Error error = failure->error;
    if (!failure->again) return error;
    const auto needed = std::max(wait, failure->wait);
    if (attempt >= limits.attempts || needed > limits.longest_wait) {
      error.message += fmt::format(" ({} {})", attempt, attempt == 1 ? "attempt" : "attempts");
      return error;
    }
    LogInfo(fmt::format("{}; asking again in {} ms", error.ToString(), needed.count()));
    if (!Wait(needed)) return Cancelled();
    wait = std::min(wait * 2, limits.longest_wait);
  }
}

Result<Json> HttpClient::State::PerformForJson(const Request& request) {
  ASSIGN_OR_RETURN(const std::string text, Perform(request));
  auto json = ParseJson(text, Where(request));
  if (json.ok()) return json;
  return InvalidInput(fmt::format("answers '{}', which is no JSON", Sayable(text).substr(0, 60)),
                      Where(request));
}

HttpClient::HttpClient(std::unique_ptr<State> state) : state_(std::move(state)) {}
HttpClient::HttpClient(HttpClient&&) noexcept = default;
HttpClient& HttpClient::operator=(HttpClient&&) noexcept = default;
HttpClient::~HttpClient() = default;

Result<HttpClient> HttpClient::Make(std::string_view url, HttpCredentials credentials,
                                    const HttpLimits& limits, std::string certificates,
                                    std::function<bool()> should_cancel, Clock* clock) {
  const std::string plain = WithoutCredentials(url);
  if (url.substr(0, url.find('/', 8)).find('@') != url.npos) {
    return InvalidInput("a URL must not hold a user or a password", plain);
  }
  if ((!url.starts_with("http://") && !url.starts_with("https://")) || !IsPrintable(url) ||
      url.find(' ') != url.npos || HostOf(url).empty()) {
    return InvalidInput("expected http://HOST[:PORT][/PATH] or https://", CleanText(plain, 200));
  }
  if (!IsPrintable(credentials.token) || !IsPrintable(credentials.user)) {
    return InvalidInput("a token or user has control characters or a line break", plain);
  }
  ASSIGN_OR_RETURN(const Libcurl* curl, LoadLibcurl());
  auto state = std::make_unique<State>();
  state->curl = curl;
  state->handle = curl->init();
  if (state->handle == nullptr) return InternalError("libcurl cannot be started");
  state->url = plain.substr(0, plain.find_last_not_of('/') + 1);
  if (!credentials.empty() && url.starts_with("http://") && !IsThisMachine(HostOf(url))) {
    LogWarning(
        fmt::format("{}: the credentials go there unencrypted; https would hide them", plain));
  }
  state->credentials = std::move(credentials);
  state->limits = limits;
  state->certificates = std::move(certificates);
  state->should_cancel = [of = state.get(), asked = std::move(should_cancel)] {
    return of->IsOver() || (asked && asked());
  };
  state->clock = clock;
  return HttpClient(std::move(state));
}

const std::string& HttpClient::url() const { return state_->url; }

Result<Json> HttpClient::Get(std::string_view path, const HttpQuery& query, HttpHeaders* headers) {
  return state_->PerformForJson({.path = std::string(path),
                                 .query = query,
                                 .most_bytes = state_->limits.response_bytes,
                                 .got = headers});
}

Result<Json> HttpClient::Post(std::string_view path, const Json& body) {
  return Send(nullptr, path, body);
}

Result<Json> HttpClient::Delete(std::string_view path, const Json& body) {
  return Send("DELETE", path, body);
}

Status HttpClient::Put(std::string_view path, const std::string& content_type, std::string body) {
  State::Request request{.path = std::string(path),
                         .method = "PUT",
                         .body = std::move(body),
                         .most_bytes = state_->limits.response_bytes,
                         .content_type = content_type};
  ASSIGN_OR_RETURN([[maybe_unused]] const std::string text, state_->Perform(request));
  return {};
}

Result<Json> HttpClient::Send(const char* method, std::string_view path, const Json& body) {
  return state_->PerformForJson({.path = std::string(path),
                                 .method = method,
                                 .body = body.Dump(),
                                 .most_bytes = state_->limits.response_bytes});
}

Result<HttpHeaders> HttpClient::HeadersOf(std::string_view path, const HttpQuery& query,
                                          const std::string& accept) {
  HttpHeaders headers;
  State::Request request{.path = std::string(path), .query = query, .got = &headers, .head = true};
  if (!accept.empty()) request.accept = accept;
  const auto done = state_->Perform(request);
  if (!done.ok()) return done.error();
  return headers;
}

Status HttpClient::Fetch(std::string_view path, const HttpQuery& query, std::uint64_t most_bytes,
                         const std::function<void()>& restart,
                         const std::function<void(std::string_view)>& take) {
  const State::Request request{.path = std::string(path),
                               .query = query,
                               .most_bytes = most_bytes,
                               .restart = &restart,
                               .take = &take};
  const auto done = state_->Perform(request);
  if (!done.ok()) return done.error();
  return {};
}

}  // namespace rharness
