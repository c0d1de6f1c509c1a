// An HTTP server for a few readers: requests in, answers out.
//
// Role: the fence around libmicrohttpd. Not here: the answers (routes.h), TLS (a proxy's).
#ifndef RHARNESS_HARNESS_INSIGHT_SERVE_SERVER_H_
#define RHARNESS_HARNESS_INSIGHT_SERVE_SERVER_H_

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/base/result.h"
#include "harness/insight/serve/target.h"

namespace rharness {

struct HttpRequest {
  std::string method;
  std::string target;              // as it was sent
  std::vector<std::string> hosts;  // each Host header
  std::string if_none_match;
  bool has_body = false;  // it is never read
};

struct HttpResponse {
  int status = 200;
  std::string body;  // not sent for HEAD
  std::vector<std::pair<std::string, std::string>> headers;
  bool close = false;  // no further request on this connection
};

// Called from several threads at once.
using HttpHandler = std::function<HttpResponse(const HttpRequest&)>;

struct ServerLimits {
  unsigned threads = 4;
  unsigned connections = 256;             // more wait to be accepted
  std::size_t request_bytes = 16 * 1024;  // of its first line and all headers
  std::chrono::seconds idle{10};          // without a byte
  // Limit from the start of a connection, or the end of its last answer, to the end of the next
  // one: against clients that send or read a byte at a time.
  std::chrono::seconds answer{20};
};

// A socket that is listened on.
class Listener {
 public:
  // Errors: io (the address is in use, or not of this machine, or the port is the system's).
  static Result<Listener> Bind(const ListenAddress& address);
  Listener(Listener&& other) noexcept
      : fd_(std::exchange(other.fd_, -1)), address_(std::move(other.address_)) {}
  Listener& operator=(Listener&&) = delete;
  ~Listener();

  const ListenAddress& address() const { return address_; }  // with the port that it got
  int Release() { return std::exchange(fd_, -1); }

 private:
  Listener(int fd, ListenAddress address) : fd_(fd), address_(std::move(address)) {}
  int fd_;
  ListenAddress address_;
};

class HttpServer {
 public:
  // The library answers requests that do not reach `handler` (invalid HTTP, or too long). Errors:
  // unsupported (no library), io.
  static Result<std::unique_ptr<HttpServer>> Start(Listener listener, const ServerLimits& limits,
                                                   HttpHandler handler);
  // Ends running answers, and closes all connections.
  virtual ~HttpServer() = default;
};

}  // namespace rharness

#endif  // RHARNESS_HARNESS_INSIGHT_SERVE_SERVER_H_
