// A client that says exactly the bytes it is told to.
#ifndef RHARNESS_TESTS_INSIGHT_SERVE_HTTP_CLIENT_H_
#define RHARNESS_TESTS_INSIGHT_SERVE_HTTP_CLIENT_H_

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>

namespace rharness {

struct Reply {
  int status = 0;                              // 0: none came
  std::map<std::string, std::string> headers;  // names in lower case
  std::string body;

  std::string Header(const std::string& name) const {
    const auto at = headers.find(name);
    return at == headers.end() ? "" : at->second;
  }
};

class ByteClient {
 public:
  explicit ByteClient(std::uint16_t port, int receive_bytes = 0)
      : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    if (receive_bytes > 0) {
      ::setsockopt(fd_, SOL_SOCKET, SO_RCVBUF, &receive_bytes, sizeof receive_bytes);
    }
    const timeval patience{30, 0};
    ::setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    ::setsockopt(fd_, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connected_ = ::connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
  }
  ByteClient(const ByteClient&) = delete;
  ByteClient& operator=(const ByteClient&) = delete;
  ~ByteClient() { ::close(fd_); }

  bool connected() const { return connected_; }
  bool Send(std::string_view bytes) const {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
  }
  // Whether the other side has closed; waits for it or for bytes.
  bool Closed() {
    char byte = 0;
    return ::recv(fd_, &byte, 1, MSG_PEEK) <= 0;
  }
  // One reply, by its Content-Length; `head`: without content.
  Reply Read(bool head = false) {
    Reply reply;
    std::size_t end = std::string::npos;
    while ((end = buffer_.find("\r\n\r\n")) == std::string::npos) {
      if (!More()) return reply;
    }
    const std::string top = buffer_.substr(0, end + 2);
    buffer_.erase(0, end + 4);
    if (top.size() > 12) reply.status = std::atoi(top.c_str() + 9);
    for (std::size_t at = top.find("\r\n") + 2; at < top.size();) {
      const std::size_t stop = top.find("\r\n", at);
      const std::string line = top.substr(at, stop - at);
      std::string name = line.substr(0, line.find(':'));
      for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
      reply.headers[name] = line.size() > name.size() + 2 ? line.substr(name.size() + 2) : "";
      at = stop + 2;
    }
    const std::size_t size =
        head ? 0 : static_cast<std::size_t>(std::atoll(reply.Header("content-length").c_str()));
    while (buffer_.size() < size) {
      if (!More()) break;
    }
    reply.body = buffer_.substr(0, size);
    buffer_.erase(0, size);
    return reply;
  }

 private:
  bool More() {
    char bytes[16384];
    const ssize_t got = ::recv(fd_, bytes, sizeof bytes, 0);
    if (got <= 0) return false;
    buffer_.append(bytes, static_cast<std::size_t>(got));
    return true;
  }

  int fd_;
  bool connected_ = false;
  std::string buffer_;
};

// One request on a connection of its own, with these bytes after the method.
inline Reply Ask(std::uint16_t port, std::string_view target, std::string_view method = "GET") {
  ByteClient client(port);
  client.Send(std::string(method) + " " + std::string(target) + " HTTP/1.1\r\nHost: 127.0.0.1:" +
              std::to_string(port) + "\r\nConnection: close\r\n\r\n");
  return client.Read(method == "HEAD");
}

}  // namespace rharness

#endif  // RHARNESS_TESTS_INSIGHT_SERVE_HTTP_CLIENT_H_
