// A server that gives one answer whatever it is asked, for tests of clients.
#ifndef RHARNESS_TESTS_RECORDS_INTAKE_CANNED_SERVER_H_
#define RHARNESS_TESTS_RECORDS_INTAKE_CANNED_SERVER_H_

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <string>
#include <thread>

#include "harness/base/descriptor.h"

namespace rharness {

// Gives every request the same bytes, or none, and closes; or never ends.
class CannedServer {
 public:
  explicit CannedServer(std::string answer, bool silent = false, bool endless = false)
      : answer_(std::move(answer)), silent_(silent), endless_(endless) {
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
  ~CannedServer() {
    stop_ = true;
    thread_.join();
  }
  const std::string& url() const { return url_; }
  int requests() const { return requests_; }
  // What came of the last request: its head, and as much more as came with it.
  std::string last() const {
    const std::lock_guard lock(mutex_);
    return last_;
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
        const std::lock_guard lock(mutex_);
        last_ = request;
      }
      ++requests_;
      if (silent_) {
        Ready(client.get());  // until the client gives up
      } else {
        ::send(client.get(), answer_.data(), answer_.size(), MSG_NOSIGNAL);
        while (endless_ && !stop_ && ::send(client.get(), "x", 1, MSG_NOSIGNAL) == 1) {
          std::this_thread::sleep_for(std::chrono::milliseconds(10));
        }
      }
    }
  }

  std::string answer_;
  bool silent_;
  bool endless_;
  std::string url_;
  Descriptor listener_;
  mutable std::mutex mutex_;
  std::string last_;
  std::atomic<bool> stop_{false};
  std::atomic<int> requests_{0};
  std::thread thread_;
};

inline std::string Answer(const std::string& status, const std::string& body,
                          const std::string& more = "") {
  return "HTTP/1.1 " + status + "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n" +
         more + "Connection: close\r\n\r\n" + body;
}

}  // namespace rharness

#endif  // RHARNESS_TESTS_RECORDS_INTAKE_CANNED_SERVER_H_
