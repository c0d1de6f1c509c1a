// A server that answers as a test says, on this machine; and one question to it at a time.
#ifndef RHARNESS_TESTS_EXECUTION_FETCH_SCRIPTED_SERVER_H_
#define RHARNESS_TESTS_EXECUTION_FETCH_SCRIPTED_SERVER_H_

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <atomic>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "harness/base/descriptor.h"

namespace rharness {

class ScriptedServer {
 public:
  // Of a request, its head: the whole answer, which is sent as it is. Empty: none, until the client
  // gives up.
  using Script = std::function<std::string(const std::string& request)>;

  explicit ScriptedServer(Script script) : script_(std::move(script)) {
    listener_ = Descriptor(::socket(AF_INET, SOCK_STREAM, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    EXPECT_EQ(::bind(listener_.get(), reinterpret_cast<sockaddr*>(&address), size), 0);
    EXPECT_EQ(::listen(listener_.get(), 16), 0);
    ::getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&address), &size);
    url_ = "http://127.0.0.1:" + std::to_string(ntohs(address.sin_port));
    thread_ = std::thread([this] { Run(); });
  }
  ~ScriptedServer() {
    stop_ = true;
    thread_.join();
  }
  const std::string& url() const { return url_; }
  std::vector<std::string> requests() const {
    const std::scoped_lock lock(mutex_);
    return requests_;
  }
  static std::string Ok(const std::string& body, const std::string& headers = "") {
    return "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(body.size()) + "\r\n" + headers +
           "Connection: close\r\n\r\n" + body;
  }

 private:
  bool Ready(int fd) const {
    pollfd waiting{fd, POLLIN, 0};
    while (!stop_) {
      if (::poll(&waiting, 1, 20) > 0) return true;
    }
    return false;
  }
  void Run() {
    while (Ready(listener_.get())) {
      const Descriptor client(::accept(listener_.get(), nullptr, nullptr));
      std::string request;
      while (request.find("\r\n\r\n") == request.npos && Ready(client.get())) {
        char bytes[4096];
        const ssize_t got = ::recv(client.get(), bytes, sizeof(bytes), 0);
        if (got <= 0) break;
        request.append(bytes, static_cast<std::size_t>(got));
      }
      {
        const std::scoped_lock lock(mutex_);
        requests_.push_back(request);
      }
      std::string answer = script_(request);
      if (answer.empty()) Ready(client.get());
      if (request.starts_with("HEAD ")) answer = answer.substr(0, answer.find("\r\n\r\n") + 4);
      ::send(client.get(), answer.data(), answer.size(), MSG_NOSIGNAL);
    }
  }

  Script script_;
  std::string url_;
  Descriptor listener_;
  mutable std::mutex mutex_;
  std::vector<std::string> requests_;
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

}  // namespace rharness

#endif  // RHARNESS_TESTS_EXECUTION_FETCH_SCRIPTED_SERVER_H_
