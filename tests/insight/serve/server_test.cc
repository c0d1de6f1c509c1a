// The HTTP server against clients that keep to no rule.
#include "harness/insight/serve/server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tests/insight/serve/http_client.h"

namespace rharness {
namespace {

class Served : public testing::Test {
 protected:
  void Start(const ServerLimits& limits = {}) {
    auto listener = Listener::Bind(*ParseListenAddress("127.0.0.1:0"));
    ASSERT_TRUE(listener.ok()) << listener.error().ToString();
    port_ = listener->address().port;
    auto server = HttpServer::Start(std::move(*listener), limits, [this](const HttpRequest& asked) {
      ++answered_;
      std::string hosts;
      for (const std::string& host : asked.hosts) hosts += " " + host;
      return HttpResponse{.status = 200,
                          .body = asked.method + " " + asked.target + hosts +
                                  (asked.has_body ? " body" : "") + std::string(extra_, 'x'),
                          .headers = {{"X-Test", "1"}},
                          .close = asked.has_body};
    });
    ASSERT_TRUE(server.ok()) << server.error().ToString();
    server_ = std::move(*server);
  }

  std::uint16_t port_ = 0;
  std::size_t extra_ = 0;
  std::atomic<int> answered_{0};
  std::unique_ptr<HttpServer> server_;
};

TEST_F(Served, HandsOnTheAddressAsItWasSent) {
  Start();
  const Reply reply = Ask(port_, "/a%2e%2e/%00?b=%zz");
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(reply.body, "GET /a%2e%2e/%00?b=%zz 127.0.0.1:" + std::to_string(port_));
  EXPECT_EQ(reply.Header("x-test"), "1");
}

TEST_F(Served, AnswersManyRequestsOnOneConnection) {
  Start();
  ByteClient client(port_);
  for (int i = 0; i < 50; ++i) {
    ASSERT_TRUE(client.Send("GET /" + std::to_string(i) + " HTTP/1.1\r\nHost: h\r\n\r\n"));
    EXPECT_EQ(client.Read().body, "GET /" + std::to_string(i) + " h");
  }
  // Two at once.
  client.Send("GET /x HTTP/1.1\r\nHost: h\r\n\r\nHEAD /y HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_EQ(client.Read().body, "GET /x h");
  EXPECT_EQ(client.Read(true).status, 200);
}

TEST_F(Served, ReadsNoBody) {
  Start();
  ByteClient client(port_);
  client.Send("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 100000000000\r\n\r\n");
  EXPECT_EQ(client.Read().body, "POST / h body") << "before any of it came";
  EXPECT_TRUE(client.Closed());
}

TEST_F(Served, OutlivesWhatIsNoHttp) {
  Start();
  const std::string null("GET /\0 HTTP/1.1\r\nHost: h\r\n\r\n", 29);
  const std::string requests[] = {
      "\r\n\r\n\r\n",
      "GET\r\n\r\n",
      "GET / HTTP/9.9\r\nHost: h\r\n\r\n",
      "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
      std::string(5000, '\xff') + "\r\n\r\n",
      null,
      "GET / HTTP/1.1\r\nHost\r\n\r\n",
      "GET / HTTP/1.1\r\nHost: h\r\n folded\r\n\r\n",
      "GET / HTTP/1.1\r\nHost: h\r\nContent-Length: -1\r\n\r\n",
      "GET / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
      "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
      "GET /" + std::string(200'000, 'a') + " HTTP/1.1\r\nHost: h\r\n\r\n",
      "GET / HTTP/1.1\r\nHost: h\r\nX: " + std::string(200'000, 'a') + "\r\n\r\n",
  };
  for (const std::string& request : requests) {
    ByteClient client(port_);
    client.Send(request);
    (void)client.Send("\r\n\r\n");
  }
  EXPECT_EQ(Ask(port_, "/after").status, 200);
}

TEST_F(Served, RefusesLongAddressesAndHeaders) {
  Start();
  EXPECT_EQ(Ask(port_, "/" + std::string(100'000, 'a')).status, 414);
  ByteClient client(port_);
  client.Send("GET / HTTP/1.1\r\nHost: h\r\nX-Long: " + std::string(100'000, 'a') + "\r\n\r\n");
  EXPECT_EQ(client.Read().status, 431);
  std::string many = "GET / HTTP/1.1\r\nHost: h\r\n";
  for (int i = 0; i < 10'000; ++i) many += "X" + std::to_string(i) + ": y\r\n";
  ByteClient other(port_);
  other.Send(many + "\r\n");
  EXPECT_EQ(other.Read().status, 431);
  EXPECT_EQ(answered_, 0);
}

TEST_F(Served, ClosesConnectionsThatSayNothing) {
  Start({.idle = std::chrono::seconds(1)});
  ByteClient client(port_);
  ASSERT_TRUE(client.connected());
  EXPECT_TRUE(client.Closed());
}

TEST_F(Served, ClosesConnectionsThatSendAByteNowAndThen) {
  Start({.idle = std::chrono::seconds(5), .answer = std::chrono::seconds(1)});
  ByteClient client(port_);
  client.Send("GET / HTTP/1.1\r\nHost: h\r\nX: ");
  const auto began = std::chrono::steady_clock::now();
  while (client.Send("a") && std::chrono::steady_clock::now() - began < std::chrono::seconds(20)) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(20));
  EXPECT_EQ(answered_, 0);
}

TEST_F(Served, ClosesConnectionsThatTakeNoAnswer) {
  extra_ = 32U << 20U;
  Start({.idle = std::chrono::seconds(5), .answer = std::chrono::seconds(1)});
  ByteClient client(port_, 4096);
  client.Send("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
  std::this_thread::sleep_for(std::chrono::milliseconds(2500));
  EXPECT_LT(client.Read().body.size(), extra_) << "it was cut off";
  extra_ = 0;
  EXPECT_EQ(Ask(port_, "/after").status, 200);
}

TEST_F(Served, ServesOthersWhenSlowClientsHoldAllConnections) {
  Start({.threads = 2, .connections = 16, .idle = std::chrono::seconds(1)});
  std::vector<std::unique_ptr<ByteClient>> slow;
  for (int i = 0; i < 64; ++i) {
    slow.push_back(std::make_unique<ByteClient>(port_));
    slow.back()->Send("GET / HT");
  }
  EXPECT_EQ(Ask(port_, "/after").status, 200) << "when those that came before were closed";
}

TEST_F(Served, EndsWithConnectionsOpen) {
  Start();
  ByteClient idle(port_);
  ByteClient half(port_);
  half.Send("GET / HTTP/1.1\r\n");
  EXPECT_EQ(Ask(port_, "/").status, 200);
  server_.reset();
  EXPECT_TRUE(idle.Closed());
  EXPECT_TRUE(half.Closed());
  ByteClient late(port_);
  EXPECT_FALSE(late.connected());
}

TEST(Listening, IsRefusedWhereAnotherOneListens) {
  const auto first = Listener::Bind(*ParseListenAddress("127.0.0.1:0"));
  ASSERT_TRUE(first.ok());
  const auto second = Listener::Bind(first->address());
  ASSERT_FALSE(second.ok());
  EXPECT_THAT(second.error().ToString(), testing::HasSubstr("cannot be listened on"));
  EXPECT_EQ(second.error().code, ErrorCode::kIo);
}

}  // namespace
}  // namespace rharness
