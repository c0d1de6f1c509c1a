// The fence: sockets, libmicrohttpd's callbacks, and limits for slow clients.
#include "harness/insight/serve/server.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <exception>
#include <mutex>
#include <set>
#include <thread>

#include "harness/base/log.h"
#include "harness/insight/serve/microhttpd.h"

namespace rharness {
namespace {

using SteadyTime = std::chrono::steady_clock::time_point;

struct Connection {
  int fd = -1;
  SteadyTime since;
  std::string target;  // of the request that is being read
};

class MicroServer : public HttpServer {
 public:
  MicroServer(const Microhttpd& http, const ServerLimits& limits, HttpHandler handler)
      : http_(http), limits_(limits), handler_(std::move(handler)) {}
  ~MicroServer() override;
  Status Begin(int fd);

 private:
  static MHD_Result OnRequest(void* self, MHD_Connection* connection, const char* url,
                              const char* method, const char* version, const char* upload,
                              std::size_t* upload_size, void** context);
  static void* OnTarget(void* self, const char* target, MHD_Connection* connection);
  static void OnCompleted(void* self, MHD_Connection* connection, void** context,
                          MHD_RequestTerminationCode code);
  static void OnConnection(void* self, MHD_Connection* connection, void** context,
                           MHD_ConnectionNotificationCode code);
  static void OnLog(void* self, const char* format, va_list arguments);

  Connection* Of(MHD_Connection* connection) const;
  HttpRequest Read(MHD_Connection* connection, const char* method) const;
  MHD_Result Answer(MHD_Connection* connection, const HttpRequest& request) const;
  void Watch();

  const Microhttpd& http_;
  const ServerLimits limits_;
  const HttpHandler handler_;
  MHD_Daemon* daemon_ = nullptr;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool ending_ = false;
  std::set<Connection*> connections_;
  std::thread watch_;
};

std::string_view TextOf(const char* text) { return text == nullptr ? "" : text; }

Connection* MicroServer::Of(MHD_Connection* connection) const {
  const MHD_ConnectionInfo* info =
      http_.info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT, nullptr);
  return info == nullptr ? nullptr : static_cast<Connection*>(info->socket_context);
}

// Before anything of it was decoded.
void* MicroServer::OnTarget(void* self, const char* target, MHD_Connection* connection) {
  Connection* one = static_cast<MicroServer*>(self)->Of(connection);
  if (one != nullptr) one->target = TextOf(target);
  return nullptr;
}

void MicroServer::OnConnection(void* self, MHD_Connection* connection, void** context,
                               MHD_ConnectionNotificationCode code) {
  auto* server = static_cast<MicroServer*>(self);
  const std::lock_guard lock(server->mutex_);
  if (code == MHD_CONNECTION_NOTIFY_STARTED) {
    const MHD_ConnectionInfo* info =
        server->http_.info(connection, MHD_CONNECTION_INFO_CONNECTION_FD, nullptr);
    auto* one = new Connection{
        info == nullptr ? -1 : info->connect_fd, std::chrono::steady_clock::now(), {}};
    server->connections_.insert(one);
    *context = one;
    return;
  }
  // The socket is closed after this call: the holder of the lock has it open.
  auto* one = static_cast<Connection*>(*context);
  server->connections_.erase(one);
  delete one;
  *context = nullptr;
}

void MicroServer::OnCompleted(void* self, MHD_Connection* connection, void**,
                              MHD_RequestTerminationCode) {
  auto* server = static_cast<MicroServer*>(self);
  const std::lock_guard lock(server->mutex_);
  if (Connection* one = server->Of(connection)) one->since = std::chrono::steady_clock::now();
}

void MicroServer::OnLog(void*, const char* format, va_list arguments) {
  char text[512];
  std::vsnprintf(text, sizeof text, format, arguments);
  std::string_view line = text;
  while (line.ends_with('\n')) line.remove_suffix(1);
  LogDebug(fmt::format("http: {}", line));
}

HttpRequest MicroServer::Read(MHD_Connection* connection, const char* method) const {
  HttpRequest request;
  request.method = TextOf(method);
  if (const Connection* one = Of(connection)) request.target = one->target;
  const auto take = [](void* out, MHD_ValueKind, const char* key, const char* value) {
    auto* into = static_cast<HttpRequest*>(out);
    const auto is = [&](const char* name) { return ::strcasecmp(key, name) == 0; };
    if (is("Host")) into->hosts.emplace_back(TextOf(value));
    if (is("If-None-Match")) into->if_none_match = TextOf(value);
    if (is("Transfer-Encoding") || (is("Content-Length") && TextOf(value) != "0")) {
      into->has_body = true;
    }
    return MHD_YES;
  };
  http_.headers(connection, MHD_HEADER_KIND, take, &request);
  return request;
}

MHD_Result MicroServer::Answer(MHD_Connection* connection, const HttpRequest& request) const {
  HttpResponse answer;
  try {
    answer = handler_(request);
  } catch (const std::exception& failure) {
    LogError(fmt::format("a request could not be answered: {}", failure.what()));
    answer = {.status = 500, .body = {}, .headers = {}, .close = true};
  }
  MHD_Response* response =
      http_.response(answer.body.size(), answer.body.data(), MHD_RESPMEM_MUST_COPY);
  if (response == nullptr) return MHD_NO;
  for (const auto& [name, value] : answer.headers) {
    http_.add_header(response, name.c_str(), value.c_str());
  }
  if (answer.close) http_.add_header(response, MHD_HTTP_HEADER_CONNECTION, "close");
  const MHD_Result queued = http_.queue(connection, static_cast<unsigned>(answer.status), response);
  http_.destroy(response);
  return queued;
}

// Called first with the headers alone. A request with a body is answered then, so that none of it
// is read; others when complete, so that the connection can serve the next.
MHD_Result MicroServer::OnRequest(void* self, MHD_Connection* connection, const char*,
                                  const char* method, const char*, const char*,
                                  std::size_t* upload_size, void** context) {
  static char seen = 0;
  const auto* server = static_cast<const MicroServer*>(self);
  const bool first = *context == nullptr;
  *context = &seen;
  *upload_size = 0;
  HttpRequest request = server->Read(connection, method);
  if (first && !request.has_body) return MHD_YES;
  return server->Answer(connection, request);
}

Status MicroServer::Begin(int fd) {
  daemon_ = http_.start(
      MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_EPOLL | MHD_USE_ITC | MHD_USE_ERROR_LOG, 0, nullptr,
      nullptr, &MicroServer::OnRequest, this, MHD_OPTION_EXTERNAL_LOGGER, &MicroServer::OnLog, this,
      MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_THREAD_POOL_SIZE, limits_.threads,
      MHD_OPTION_CONNECTION_LIMIT, limits_.connections, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
      limits_.request_bytes, MHD_OPTION_CONNECTION_TIMEOUT,
      static_cast<unsigned>(limits_.idle.count()), MHD_OPTION_STRICT_FOR_CLIENT, 1,
      MHD_OPTION_URI_LOG_CALLBACK, &MicroServer::OnTarget, this, MHD_OPTION_NOTIFY_CONNECTION,
      &MicroServer::OnConnection, this, MHD_OPTION_NOTIFY_COMPLETED, &MicroServer::OnCompleted,
      this, MHD_OPTION_END);
  if (daemon_ == nullptr) {
    const int failure = errno;
    ::close(fd);
    return IoErrorFromErrno("the HTTP server could not be started", failure);
  }
  watch_ = std::thread([this] { Watch(); });
  return {};
}

// Who sends a byte now and then is never idle; so the whole of a request has a time, too.
void MicroServer::Watch() {
  std::unique_lock lock(mutex_);
  while (!wake_.wait_for(lock, std::chrono::milliseconds(250), [this] { return ending_; })) {
    const SteadyTime now = std::chrono::steady_clock::now();
    for (const Connection* one : connections_) {
      if (one->fd >= 0 && now - one->since > limits_.answer) ::shutdown(one->fd, SHUT_RDWR);
    }
  }
}

MicroServer::~MicroServer() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  wake_.notify_all();
  if (watch_.joinable()) watch_.join();
  if (daemon_ != nullptr) http_.stop(daemon_);
}

}  // namespace

Result<Listener> Listener::Bind(const ListenAddress& address) {
  sockaddr_storage storage{};
  socklen_t size = 0;
  auto* four = reinterpret_cast<sockaddr_in*>(&storage);
  auto* six = reinterpret_cast<sockaddr_in6*>(&storage);
  if (inet_pton(AF_INET, address.host.c_str(), &four->sin_addr) == 1) {
    four->sin_family = AF_INET;
    four->sin_port = htons(address.port);
    size = sizeof *four;
  } else if (inet_pton(AF_INET6, address.host.c_str(), &six->sin6_addr) == 1) {
    six->sin6_family = AF_INET6;
    six->sin6_port = htons(address.port);
    size = sizeof *six;
  } else {
    return InvalidInput("is no address of IPv4 or IPv6", address.host);
  }
  const int fd = ::socket(storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return IoErrorFromErrno("cannot make a socket", errno, address.ToString());
  Listener listener(fd, address);
  const int on = 1;
  ::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (storage.ss_family == AF_INET6) {
    ::setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
  }
  constexpr int kBacklog = 128;
  auto* name = reinterpret_cast<sockaddr*>(&storage);
  if (::bind(fd, name, size) != 0 || ::listen(fd, kBacklog) != 0 ||
      ::getsockname(fd, name, &size) != 0) {
    return IoErrorFromErrno("cannot be listened on", errno, address.ToString());
  }
  listener.address_.port = ntohs(storage.ss_family == AF_INET ? four->sin_port : six->sin6_port);
  return listener;
}

Listener::~Listener() {
  if (fd_ >= 0) ::close(fd_);
}

Result<std::unique_ptr<HttpServer>> HttpServer::Start(Listener listener, const ServerLimits& limits,
                                                      HttpHandler handler) {
  ASSIGN_OR_RETURN(const Microhttpd* http, LoadMicrohttpd());
  auto server = std::make_unique<MicroServer>(*http, limits, std::move(handler));
  RETURN_IF_ERROR(server->Begin(listener.Release()));
  return std::unique_ptr<HttpServer>(std::move(server));
}

}  // namespace rharness
