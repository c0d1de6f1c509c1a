// Requests to servers that answer late, in part, too much or not at all; time is a fake clock.
#include "harness/intake/http.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <atomic>
#include <map>
#include <thread>

#include "harness/base/descriptor.h"
#include "harness/base/files.h"
#include "harness/intake/mlflow_credentials.h"

namespace rharness {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

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
  std::atomic<bool> stop_{false};
  std::atomic<int> requests_{0};
  std::thread thread_;
};

std::string Answer(const std::string& status, const std::string& body,
                   const std::string& more = "") {
  return "HTTP/1.1 " + status + "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n" +
         more + "Connection: close\r\n\r\n" + body;
}

struct Asked {
  Result<Json> json = Json();
  std::chrono::nanoseconds waited{0};
};

Asked Ask(const CannedServer& server, const HttpLimits& limits = {},
          const HttpCredentials& credentials = {}) {
  FakeClock clock;
  auto client = HttpClient::Make(server.url(), credentials, limits, "", {}, &clock);
  if (!client.ok()) return {client.error()};
  Asked asked;
  asked.json = client->Get("/x", {{"a b", "c&d"}});
  asked.waited = clock.Monotonic();
  return asked;
}

// Of a file, which has no time limit but that something comes.
Status FetchFrom(const CannedServer& server, const HttpLimits& limits) {
  FakeClock clock;
  const auto begun = std::chrono::steady_clock::now();
  const auto should_cancel = [&] {
    return std::chrono::steady_clock::now() - begun > std::chrono::seconds(20);
  };
  auto client = HttpClient::Make(server.url(), {}, limits, "", should_cancel, &clock);
  if (!client.ok()) return client.error();
  return client->Fetch(
      "/x", {}, std::uint64_t{1} << 40, [] {}, [](std::string_view) {});
}

TEST(Http, GivesJson) {
  const CannedServer server(Answer("200 OK", R"({"a": 1})"));
  const Asked asked = Ask(server);
  ASSERT_TRUE(asked.json.ok()) << asked.json.error().ToString();
  EXPECT_EQ(asked.json->Dump(), R"({"a":1})");
  EXPECT_EQ(server.requests(), 1);
}

TEST(Http, AsksABusyServerAFewTimesLongerApartEachTime) {
  const CannedServer server(Answer("503 Busy", "no"));
  const Asked asked = Ask(server);
  ASSERT_FALSE(asked.json.ok());
  EXPECT_EQ(asked.json.error().code, ErrorCode::kIo);
  EXPECT_THAT(asked.json.error().ToString(), AllOf(HasSubstr("503"), HasSubstr("(5 attempts)")));
  EXPECT_EQ(server.requests(), 5);
  EXPECT_EQ(asked.waited, std::chrono::seconds(1 + 2 + 4 + 8));
}

TEST(Http, WaitsAsLongAsAServerSaysButNotForEver) {
  HttpLimits limits;
  limits.attempts = 2;
  const CannedServer server(Answer("429 Slow down", "", "Retry-After: 7\r\n"));
  EXPECT_EQ(Ask(server, limits).waited, std::chrono::seconds(7));
  const CannedServer forever(Answer("429 Slow down", "", "Retry-After: 86400\r\n"));
  EXPECT_EQ(Ask(forever, limits).waited, std::chrono::seconds(0));
  EXPECT_EQ(forever.requests(), 1);
}

TEST(Http, DoesNotAskAgainWhatWasRefused) {
  const CannedServer server(Answer("400 Bad", R"({"message": "no such filter"})"));
  const Asked asked = Ask(server);
  EXPECT_EQ(asked.json.error().code, ErrorCode::kInvalidInput);
  EXPECT_THAT(asked.json.error().ToString(), HasSubstr("no such filter"));
  EXPECT_EQ(server.requests(), 1);
}

TEST(Http, IsATimeoutWhereNothingComes) {
  HttpLimits limits;
  limits.request = std::chrono::milliseconds(200);
  limits.attempts = 2;
  const CannedServer server("", true);
  const Asked asked = Ask(server, limits);
  EXPECT_EQ(asked.json.error().code, ErrorCode::kTimeout);
  EXPECT_EQ(server.requests(), 2);
}

TEST(Http, TakesNoPartOfAnAnswer) {
  HttpLimits limits;
  limits.attempts = 2;
  const CannedServer server("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{}");
  const Asked asked = Ask(server, limits);
  EXPECT_EQ(asked.json.error().code, ErrorCode::kIo);
  EXPECT_EQ(server.requests(), 2);
}

TEST(Http, TakesNoAnswerThatIsTooLong) {
  HttpLimits limits;
  limits.response_bytes = 1000;
  const CannedServer server(Answer("200 OK", "\"" + std::string(1000, 'x') + "\""));
  const Asked asked = Ask(server, limits);
  EXPECT_EQ(asked.json.error().code, ErrorCode::kInvalidInput);
  EXPECT_THAT(asked.json.error().ToString(), HasSubstr("more than 1000 bytes"));
}

// Of an error only its beginning is of use, whatever else comes, and for how long.
TEST(Http, ReadsNoErrorToAnEndThatDoesNotCome) {
  CannedServer server("HTTP/1.1 404 Not Found\r\n\r\n" + std::string(1 << 16, 'x'), false, true);
  EXPECT_EQ(FetchFrom(server, {}).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(server.requests(), 1);
  CannedServer slow("HTTP/1.1 500 Oops\r\n\r\nx", false, true);
  HttpLimits limits;
  limits.request = std::chrono::milliseconds(300);
  const Status status = FetchFrom(slow, limits);
  EXPECT_EQ(status.error().code, ErrorCode::kIo) << status.error().ToString();
  EXPECT_THAT(status.error().message, HasSubstr("the server fails (500) (5 attempts)"));
}

TEST(Http, SaysNothingOfATokenThatAServerRepeats) {
  HttpCredentials credentials;
  credentials.token = "s3cret-token";
  const CannedServer refuses(
      Answer("403 No", R"({"message": "s3cret-token is not known; s3cret-token?"})"));
  EXPECT_THAT(Ask(refuses, {}, credentials).json.error().ToString(),
              AllOf(HasSubstr("*** is not known; ***?"), Not(HasSubstr("s3cret"))));
  const CannedServer page(Answer("200 OK", "<p>s3cret-token"));
  EXPECT_THAT(Ask(page, {}, credentials).json.error().ToString(),
              AllOf(HasSubstr("no JSON"), Not(HasSubstr("s3cret"))));
}

TEST(Http, RefusesATokenThatWouldAddAHeader) {
  HttpCredentials credentials;
  credentials.token = "a\r\nX: y";
  const auto client = HttpClient::Make("http://127.0.0.1:1", credentials);
  ASSERT_FALSE(client.ok());
  EXPECT_THAT(client.error().ToString(), Not(HasSubstr("X: y")));
}

TEST(Http, RefusesAddressesThatAreNone) {
  for (const char* url : {"ftp://host", "http://", "https://a b", "http://h\n", "http://u:p@h/x"}) {
    EXPECT_FALSE(HttpClient::Make(url, {}).ok()) << url;
  }
}

class MlflowCredentials : public testing::Test {
 protected:
  Result<HttpCredentials> Read() {
    return ReadMlflowCredentials([this](const char* name) {
      const auto value = variables_.find(name);
      return value == variables_.end() ? std::string() : value->second;
    });
  }
  void PutFile(::mode_t mode) {
    variables_["HOME"] = home_.path();
    const auto file = home_.path() / ".mlflow/credentials";
    ASSERT_TRUE(WriteFileAtomic(file,
                                "[other]\nmlflow_tracking_username = no\n[mlflow]\n"
                                "mlflow_tracking_username = ada\r\n"
                                "mlflow_tracking_password=s3=cret\n"
                                "[after]\nmlflow_tracking_username = no\n")
                    .ok());
    ASSERT_EQ(::chmod(file.c_str(), mode), 0);
  }
  std::map<std::string, std::string> variables_;
  ScopedTempDir home_ = *ScopedTempDir::Make();
};

TEST_F(MlflowCredentials, AreThoseOfItsFileWhereNoVariableIsSet) {
  PutFile(0600);
  const auto credentials = Read();
  ASSERT_TRUE(credentials.ok()) << credentials.error().ToString();
  EXPECT_EQ(credentials->user, "ada");
  EXPECT_EQ(credentials->password, "s3=cret");
  variables_["MLFLOW_TRACKING_TOKEN"] = "token";
  EXPECT_EQ(Read()->token, "token");
  EXPECT_EQ(Read()->user, "");
}

TEST_F(MlflowCredentials, AreNotReadFromAFileThatOthersMayRead) {
  PutFile(0644);
  const auto credentials = Read();
  ASSERT_FALSE(credentials.ok());
  EXPECT_THAT(credentials.error().ToString(),
              AllOf(HasSubstr("chmod 600"), Not(HasSubstr("s3=cret"))));
}

TEST_F(MlflowCredentials, NeedAPasswordWithAUser) {
  EXPECT_TRUE(Read()->empty());
  variables_["MLFLOW_TRACKING_USERNAME"] = "ada";
  EXPECT_FALSE(Read().ok());
}

}  // namespace
}  // namespace rharness
