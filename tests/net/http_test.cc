// Requests to servers that answer late, in part, too much or not at all; time is a fake clock.
#include "harness/net/http.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <map>

#include "harness/base/files.h"
#include "harness/records/intake/mlflow_credentials.h"
#include "tests/records/intake/canned_server.h"

namespace rharness {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

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

TEST(Http, QuotesWhatServersOfModelsSayOfAnError) {
  for (const char* body : {R"({"error": {"message": "too long", "code": 400}})",
                           R"({"detail": "too long"})", R"({"error": "too long"})"}) {
    const CannedServer server(Answer("400 Bad", body));
    EXPECT_THAT(Ask(server).json.error().ToString(), HasSubstr("(400): too long")) << body;
  }
}

TEST(Http, GivesTheHeadersOfAnAnswer) {
  const CannedServer server(Answer("200 OK", R"({"a": 1})", "Server: one/1.2\r\n"));
  auto client = HttpClient::Make(server.url(), {});
  ASSERT_TRUE(client.ok());
  HttpHeaders headers;
  EXPECT_EQ(client->Get("/x", {}, &headers)->Dump(), R"({"a":1})");
  EXPECT_THAT(headers, testing::Contains(testing::Pair("server", "one/1.2")));
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

TEST(Http, LeavesAServerThatComesToNoEnd) {
  HttpLimits limits;
  limits.total = std::chrono::seconds(1);
  CannedServer endless("HTTP/1.1 200 OK\r\n\r\nx", false, true);
  const Status status = FetchFrom(endless, limits);
  EXPECT_EQ(status.error().code, ErrorCode::kTimeout) << status.error().ToString();
  EXPECT_THAT(status.error().message, HasSubstr("is not at an end after 1 s"));
  EXPECT_EQ(endless.requests(), 1);
}

// Puts "a 1" as text.
Status PutTo(const CannedServer& server, const HttpLimits& limits = {}) {
  FakeClock clock;
  auto client = HttpClient::Make(server.url(), {}, limits, "", {}, &clock);
  if (!client.ok()) return client.error();
  return client->Put("/x", "text/plain", "a 1\n");
}

TEST(Http, PutsWhatIsTakenNowOrLater) {
  for (const char* status : {"200 OK", "202 Accepted"}) {
    const CannedServer server(Answer(status, ""));
    const Status put = PutTo(server);
    EXPECT_TRUE(put.ok()) << put.error().ToString();
    EXPECT_THAT(server.last(), testing::StartsWith("PUT /x HTTP/1.1\r\n"));
    EXPECT_THAT(server.last(), HasSubstr("Content-Type: text/plain\r\n"));
    EXPECT_THAT(server.last(), HasSubstr("Content-Length: 4\r\n"));
  }
}

TEST(Http, SaysInTheServersWordsWhyItDoesNotTakeSomething) {
  const CannedServer server(Answer("400 Bad Request", "text format parsing error in line 1\n"));
  const Status put = PutTo(server);
  ASSERT_FALSE(put.ok());
  EXPECT_EQ(put.error().code, ErrorCode::kInvalidInput);
  EXPECT_THAT(put.error().message,
              HasSubstr("refuses this request (400): text format parsing error in line 1"));
  EXPECT_EQ(server.requests(), 1) << "what is refused once is refused again";
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
