// What goes to a Pushgateway, and what is said where it does not get there.
#include "harness/insight/objectives/push.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "tests/records/intake/canned_server.h"

namespace rharness {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

using Variables = std::map<std::string, std::string>;

Result<HttpClient> Connect(const std::string& url, const Variables& variables = {}) {
  HttpLimits limits = PushLimits();
  limits.request = std::chrono::milliseconds(200);
  limits.first_wait = std::chrono::milliseconds(1);
  return ConnectToPushgateway(
      url,
      [&](const char* name) {
        const auto found = variables.find(name);
        return found == variables.end() ? std::string() : found->second;
      },
      limits);
}

Status Push(const std::string& url, const Variables& variables = {}) {
  auto gateway = Connect(url, variables);
  if (!gateway.ok()) return gateway.error();
  return PushSeries(&*gateway, "runs.db", "a 1\n");
}

// Base 64 by hand: RFC 4648, sections 5 and 10 ("foobar" is "Zm9vYmFy").
TEST(Push, HasOneGroupAHistory) {
  EXPECT_EQ(PushPath("foobar"), "/metrics/job/rharness/history@base64/Zm9vYmFy");
  EXPECT_EQ(PushPath(""), "/metrics/job/rharness/history@base64/=");
  // "/a?b~" is 2f 61 3f 62 7e: in the standard alphabet "L2E/Yn4=", of which a path would be two.
  EXPECT_EQ(PushPath("/a?b~"), "/metrics/job/rharness/history@base64/L2E_Yn4=");
  EXPECT_LT(PushPath(std::string(300, 'x')).size(), 350U);
  EXPECT_LT(PushPath(std::string(100'000, 'x')).size(), 350U);
}

TEST(Push, IsOnePutOfText) {
  const CannedServer server(Answer("200 OK", ""));
  const Status pushed = Push(server.url() + "/");
  EXPECT_TRUE(pushed.ok()) << pushed.error().ToString();
  EXPECT_EQ(server.requests(), 1);
  EXPECT_THAT(server.last(),
              AllOf(StartsWith("PUT /metrics/job/rharness/history@base64/cnVucy5kYg== HTTP/1.1"),
                    HasSubstr("Content-Type: text/plain; version=0.0.4; charset=utf-8\r\n"),
                    Not(HasSubstr("Authorization:"))));
}

TEST(Push, ShowsTheGatewayWhatStandsInTheEnvironment) {
  const CannedServer server(Answer("200 OK", ""));
  EXPECT_TRUE(Push(server.url(), {{"RHARNESS_PUSH_TOKEN", "t0ken"}}).ok());
  EXPECT_THAT(server.last(), HasSubstr("Authorization: Bearer t0ken\r\n"));
  EXPECT_TRUE(
      Push(server.url(), {{"RHARNESS_PUSH_USERNAME", "ada"}, {"RHARNESS_PUSH_PASSWORD", "pw"}})
          .ok());
  // RFC 7617: "ada:pw" in base 64.
  EXPECT_THAT(server.last(), HasSubstr("Authorization: Basic YWRhOnB3\r\n"));
}

TEST(Push, RefusesBeforeItSendsAnything) {
  const auto refused = [](const std::string& url, const Variables& variables = {}) {
    const auto gateway = Connect(url, variables);
    EXPECT_FALSE(gateway.ok()) << url;
    if (gateway.ok()) return std::string();
    EXPECT_EQ(gateway.error().code, ErrorCode::kInvalidInput);
    return gateway.error().ToString();
  };
  EXPECT_THAT(refused("gateway:9091"), HasSubstr("expected http://HOST[:PORT]"));
  EXPECT_THAT(refused("http://ada:pa55@gateway:9091"),
              AllOf(HasSubstr("must not hold a user or a password"), Not(HasSubstr("pa55"))));
  EXPECT_THAT(refused("http://gateway:9091", {{"RHARNESS_PUSH_USERNAME", "ada"}}),
              HasSubstr("RHARNESS_PUSH_PASSWORD"));
}

TEST(Push, SaysWhatIsWrongWithTheGateway) {
  const auto failed = [](const CannedServer& server, ErrorCode code,
                         const Variables& variables = {}) {
    const Status pushed = Push(server.url(), variables);
    EXPECT_FALSE(pushed.ok());
    if (pushed.ok()) return std::string();
    EXPECT_EQ(pushed.error().code, code) << pushed.error().ToString();
    return pushed.error().ToString();
  };
  const CannedServer refuses(Answer("400 Bad Request", "pushed metrics are inconsistent\n"));
  EXPECT_THAT(failed(refuses, ErrorCode::kInvalidInput),
              HasSubstr("(400): pushed metrics are inconsistent"));
  const CannedServer elsewhere(Answer("404 Not Found", "404 page not found\n"));
  EXPECT_THAT(failed(elsewhere, ErrorCode::kNotFound), HasSubstr("404"));
  const CannedServer guarded(Answer("401 Unauthorized", "who are you, t0ken?\n"));
  EXPECT_THAT(failed(guarded, ErrorCode::kInvalidInput, {{"RHARNESS_PUSH_TOKEN", "t0ken"}}),
              AllOf(HasSubstr("refuses these credentials (401)"), Not(HasSubstr("t0ken"))));
  const CannedServer silent("", true);
  EXPECT_THAT(failed(silent, ErrorCode::kTimeout), HasSubstr("did not answer in time"));
  EXPECT_EQ(silent.requests(), 2);
  const CannedServer busy(Answer("503 Service Unavailable", "later\n"));
  EXPECT_THAT(failed(busy, ErrorCode::kIo), HasSubstr("fails (503)"));
}

}  // namespace
}  // namespace rharness
