// Data from S3 and lakeFS: what is asked for and by whom, and servers that answer late, in part,
// too much, something else or not at all. lakeFS by the shapes of its published interface.
#include "harness/execution/fetch/remote.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "harness/execution/fetch/lakefs.h"
#include "harness/execution/fetch/s3.h"
#include "tests/execution/fetch/remote_world.h"

namespace rharness {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

constexpr char kS3Error[] =
    "<?xml version=\"1.0\"?><Error><Code>NoSuchVersion</Code><Message>it is gone; verysecretkey"
    "</Message></Error>";

std::string Failing(int status, const std::string& body, const std::string& more = "") {
  return "HTTP/1.1 " + std::to_string(status) +
         " X\r\nContent-Length: " + std::to_string(body.size()) + "\r\n" + more +
         "Connection: close\r\n\r\n" + body;
}

TEST_F(RemoteWorld, AnObjectOfS3IsAskedForByItsVersionAndSigned) {
  ScriptedServer server([](const std::string&) { return ScriptedServer::Ok("data"); });
  UseS3(server);
  variables_["AWS_SESSION_TOKEN"] = "sessiontoken";
  const Fetched fetched = FetchFrom("s3://bucket/a b/c+d?versionId=v.1");
  EXPECT_EQ(fetched.state, FetchState::kFetched) << fetched.detail;
  EXPECT_TRUE(IsCached("data"));
  ASSERT_THAT(server.requests(), SizeIs(1));
  const std::string request = server.requests()[0];
  EXPECT_TRUE(request.starts_with("GET /bucket/a%20b/c%2Bd?versionId=v.1 HTTP/1.1")) << request;
  EXPECT_THAT(request,
              HasSubstr("SignedHeaders=host;x-amz-content-sha256;x-amz-date;x-amz-security-token"));
  EXPECT_THAT(request, HasSubstr("x-amz-security-token: sessiontoken"));
  EXPECT_THAT(request, Not(HasSubstr("verysecretkey")));
}

TEST_F(RemoteWorld, WithoutKeysNothingIsSigned) {
  ScriptedServer server([](const std::string&) { return ScriptedServer::Ok("data"); });
  variables_["AWS_ENDPOINT_URL"] = server.url();
  EXPECT_EQ(FetchFrom("s3://bucket/x").state, FetchState::kFetched);
  EXPECT_THAT(server.requests()[0], Not(HasSubstr("Authorization")));
}

TEST_F(RemoteWorld, KeysComeFromAFileThatOthersMayNotRead) {
  ScriptedServer server([](const std::string&) { return ScriptedServer::Ok("data"); });
  variables_["AWS_ENDPOINT_URL"] = server.url();
  variables_["AWS_PROFILE"] = "ml";
  const auto file = Put("keys",
                        "[default]\naws_access_key_id = AKIAWRONG\n[ml]\n# aws_access_key_id=NO\n"
                        "aws_access_key_id = AKIAML\naws_secret_access_key=verysecretkey\n");
  variables_["AWS_SHARED_CREDENTIALS_FILE"] = file;
  ASSERT_EQ(::chmod(file.c_str(), 0644), 0);
  EXPECT_THAT(FetchFrom("s3://bucket/x").detail,
              AllOf(HasSubstr("others may read it"), Not(HasSubstr("verysecretkey"))));
  ASSERT_EQ(::chmod(file.c_str(), 0600), 0);
  EXPECT_EQ(FetchFrom("s3://bucket/x").state, FetchState::kFetched);
  EXPECT_THAT(server.requests()[0], HasSubstr("Credential=AKIAML/"));
}

TEST_F(RemoteWorld, WhatS3SaysOfAnErrorIsSaidWithoutTheKey) {
  ScriptedServer server([](const std::string&) { return Failing(404, kS3Error); });
  UseS3(server);
  const Fetched fetched = FetchFrom("s3://bucket/x?versionId=1");
  EXPECT_EQ(fetched.state, FetchState::kFailed);
  EXPECT_THAT(fetched.detail, HasSubstr("NoSuchVersion: it is gone; ***"));
  EXPECT_TRUE(IsClean());
}

TEST_F(RemoteWorld, WhatAUrlIsSignedWithIsSentAndNeverSaid) {
  const std::string query = "X-Amz-Signature=0123456789abcdef&token=letmein12&part=1";
  int status = 404;
  ScriptedServer server([&](const std::string&) {
    return Failing(status,
                   R"({"message": "no letmein12 at part=1&X-Amz-Signature=0123456789abcdef"})");
  });
  const std::string url = server.url() + "/data/train.csv?" + query;
  for (const int one : {404, 403, 500}) {
    status = one;
    const Fetched fetched = FetchFrom(url);
    EXPECT_EQ(fetched.state, FetchState::kFailed);
    EXPECT_THAT(server.requests().back(), HasSubstr("GET /data/train.csv?" + query + " HTTP"));
    EXPECT_THAT(fetched.detail,
                HasSubstr("/data/train.csv?X-Amz-Signature=***&token=***&part=***"));
    EXPECT_THAT(fetched.detail,
                AllOf(Not(HasSubstr("0123456789abcdef")), Not(HasSubstr("letmein12"))));
  }
  for (const char* other : {"ftp://h.example/x?sig=letmein12", "https://h.example?sig=letmein12"}) {
    EXPECT_THAT(FetchFrom(other).detail, AllOf(HasSubstr("sig=***"), Not(HasSubstr("letmein12"))));
  }
}

TEST_F(RemoteWorld, OtherBytesFewerAndMoreAreNotKept) {
  std::string body;
  ScriptedServer server([&](const std::string&) { return ScriptedServer::Ok(body); });
  UseS3(server);
  for (const char* wrong : {"dat!", "dat", "", "data and a lot more"}) {
    body = wrong;
    const Fetched fetched = FetchFrom("s3://bucket/x");
    EXPECT_EQ(fetched.state, FetchState::kFailed) << wrong;
    EXPECT_FALSE(IsCached("data"));
    EXPECT_TRUE(IsClean());
  }
}

TEST_F(RemoteWorld, AnAnswerCutShortIsAskedForAgainFromTheBeginning) {
  int asked = 0;
  ScriptedServer server([&](const std::string&) {
    if (++asked == 1) return Failing(200, "data").substr(0, 58);  // "Content-Length: 4", and no end
    if (asked == 2) return Failing(503, "busy");
    return ScriptedServer::Ok("data");
  });
  UseS3(server);
  const Fetched fetched = FetchFrom("s3://bucket/x");
  EXPECT_EQ(fetched.state, FetchState::kFetched) << fetched.detail;
  EXPECT_EQ(asked, 3);
}

TEST_F(RemoteWorld, AServerThatFailsOrIsSilentIsGivenUp) {
  bool silent = false;
  ScriptedServer server([&](const std::string&) { return silent ? "" : Failing(500, "oops"); });
  UseS3(server);
  EXPECT_THAT(FetchFrom("s3://bucket/x").detail, HasSubstr("the server fails (500)"));
  EXPECT_THAT(server.requests(), SizeIs(3));
  silent = true;
  EXPECT_THAT(FetchFrom("s3://bucket/x").detail, HasSubstr("(3 attempts)"));
}

TEST_F(RemoteWorld, ARedirectIsNotFollowedAndGetsNoSignature) {
  ScriptedServer elsewhere([](const std::string&) { return ScriptedServer::Ok("data"); });
  ScriptedServer server([&](const std::string&) {
    return Failing(307, "", "Location: " + elsewhere.url() + "/x\r\n");
  });
  UseS3(server);
  EXPECT_THAT(FetchFrom("s3://bucket/x").detail, HasSubstr("the server sends elsewhere (307)"));
  EXPECT_THAT(elsewhere.requests(), SizeIs(0));
}

TEST_F(RemoteWorld, SourcesThatAreNoneAreRefused) {
  for (const char* wrong : {"s3://", "s3://b", "s3://bucket", "s3://bucket/", "s3://UP_per!/x",
                            "s3://bucket/x?versionId=", "s3://bucket/a\nb"}) {
    EXPECT_FALSE(ParseS3(wrong).ok()) << wrong;
  }
  for (const char* wrong : {"lakefs://", "lakefs://r", "lakefs://r/main", "lakefs://r//x"}) {
    EXPECT_FALSE(ParseLakefs(wrong).ok()) << wrong;
  }
  EXPECT_EQ(FetchFrom("gs://bucket/x").state, FetchState::kNowhere);
  EXPECT_THAT(FetchFrom("gs://bucket/x").detail, HasSubstr("expected http://, https://, s3:// or"));
}

TEST_F(RemoteWorld, AnObjectOfLakefsIsAskedForByItsCommit) {
  ScriptedServer server([](const std::string&) { return ScriptedServer::Ok("data"); });
  UseLakefs(server);
  const Fetched fetched = FetchFrom(std::string("lakefs://repo/") + kCommit + "/sets/a b.csv");
  EXPECT_EQ(fetched.state, FetchState::kFetched) << fetched.detail;
  const std::string request = server.requests().at(0);
  EXPECT_TRUE(request.starts_with(std::string("GET /api/v1/repositories/repo/refs/") + kCommit +
                                  "/objects?path=sets%2Fa%20b.csv HTTP"))
      << request;
  EXPECT_THAT(request, HasSubstr("Authorization: Basic "));
}

TEST_F(RemoteWorld, LakefsWithoutAServerOrWithADeniedKeySaysSo) {
  const std::string source = std::string("lakefs://repo/") + kCommit + "/x";
  EXPECT_THAT(FetchFrom(source).detail, HasSubstr("LAKECTL_SERVER_ENDPOINT_URL"));
  ScriptedServer server([](const std::string&) {
    return Failing(401, R"({"message": "error authenticating request with verysecretkey"})");
  });
  UseLakefs(server);
  EXPECT_THAT(FetchFrom(source).detail, HasSubstr("error authenticating request with ***"));
}

TEST_F(RemoteWorld, LakectlsFileIsReadAndNeverQuoted) {
  ScriptedServer server([](const std::string&) { return ScriptedServer::Ok("data"); });
  variables_["HOME"] = folder_.path();
  const auto file = Put(".lakectl.yaml",
                        "credentials:\n  access_key_id: AKIAJ\n"
                        "  secret_access_key: verysecretkey\nserver:\n"
                        "  endpoint_url: " +
                            server.url() + "/api/v1\n");
  ASSERT_EQ(::chmod(file.c_str(), 0600), 0);
  const std::string source = std::string("lakefs://repo/") + kCommit + "/x";
  EXPECT_EQ(FetchFrom(source).state, FetchState::kFetched);
  const auto broken = Put(".lakectl.yaml", "credentials: [verysecretkey\n");
  ASSERT_EQ(::chmod(broken.c_str(), 0600), 0);
  EXPECT_THAT(FetchFrom(source, "other").detail,
              AllOf(HasSubstr("is no YAML"), Not(HasSubstr("verysecretkey"))));
}

}  // namespace
}  // namespace rharness
