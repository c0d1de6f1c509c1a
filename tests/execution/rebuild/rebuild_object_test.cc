// Sources in S3 and lakeFS, asked for as their servers know them; no answer repeats a key.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>

#include "harness/base/files.h"
#include "harness/execution/rebuild/rebuild.h"
#include "tests/execution/fetch/scripted_server.h"

namespace rharness {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

const std::string kLakefsCommit(64, 'c');

class RebuildObjects : public testing::Test {
 protected:
  void SetUp() override {
    options_.network = true;
    options_.places.root = folder_.path();
    Set("HOME", folder_.path());  // no keys of the user's own
    for (const char* name : {"AWS_PROFILE", "AWS_SESSION_TOKEN", "AWS_ENDPOINT_URL_S3"})
      Unset(name);
    Set("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE");
    Set("AWS_SECRET_ACCESS_KEY", "verysecretkey");
    Set("LAKECTL_CREDENTIALS_ACCESS_KEY_ID", "AKIAJ");
    Set("LAKECTL_CREDENTIALS_SECRET_ACCESS_KEY", "verysecretkey");
  }
  void TearDown() override {
    for (const auto& [name, value] : before_) {
      value ? ::setenv(name.c_str(), value->c_str(), 1) : ::unsetenv(name.c_str());
    }
  }
  void Remember(const std::string& name) {
    const char* value = ::getenv(name.c_str());
    before_.emplace(name, value == nullptr ? std::nullopt : std::optional<std::string>(value));
  }
  void Set(const std::string& name, const std::string& value) {
    Remember(name);
    ::setenv(name.c_str(), value.c_str(), 1);
  }
  void Unset(const std::string& name) {
    Remember(name);
    ::unsetenv(name.c_str());
  }
  void Use(const ScriptedServer& server) {
    Set("AWS_ENDPOINT_URL", server.url());
    Set("LAKECTL_SERVER_ENDPOINT_URL", server.url());
  }
  Part Ask(const std::string& source, std::uint64_t size = 3) {
    Manifest manifest;
    manifest.run_id = "r";
    manifest.command = {"true"};
    manifest.data = {DataItem{.name = "a", .path = "a", .size_bytes = size, .source = source}};
    for (const Part& part : Rebuilder(options_).Ask(manifest).parts) {
      EXPECT_THAT(part.why, Not(HasSubstr("verysecretkey")));
      EXPECT_THAT(part.why, Not(HasSubstr("Signature=")));
      if (part.kind == "data") return part;
    }
    return {.kind = "none", .name = {}, .why = {}};
  }
  static std::string Status(const std::string& status) {
    return "HTTP/1.1 " + status + "\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
  }

  ScopedTempDir folder_ = *ScopedTempDir::Make();
  RebuildOptions options_;
  std::map<std::string, std::optional<std::string>> before_;
};

TEST_F(RebuildObjects, OfS3AreAskedByHeadForTheirVersion) {
  ScriptedServer server([](const std::string&) { return ScriptedServer::Ok("abc"); });
  Use(server);
  const Part part = Ask("s3://sets/train.csv?versionId=V1");
  EXPECT_EQ(part.state, PartState::kHad) << part.why;
  EXPECT_EQ(part.why, "its source has that version; not hashed");
  ASSERT_EQ(server.requests().size(), 1u);
  EXPECT_THAT(server.requests()[0], StartsWith("HEAD /sets/train.csv?versionId=V1 "));
  EXPECT_THAT(server.requests()[0], HasSubstr("Signature="));
  EXPECT_THAT(Ask("s3://sets/train.csv").why, HasSubstr("without a version"));
}

TEST_F(RebuildObjects, OfS3ThatAreNotThereOrOthersAreGone) {
  ScriptedServer server([](const std::string& request) {
    return request.find("gone") != request.npos ? Status("404 Not Found")
                                                : ScriptedServer::Ok("abcd");
  });
  Use(server);
  EXPECT_EQ(Ask("s3://sets/gone.csv?versionId=V1").state, PartState::kGone);
  const Part other = Ask("s3://sets/train.csv?versionId=V1");
  EXPECT_EQ(other.state, PartState::kGone);
  EXPECT_THAT(other.why, HasSubstr("a different file: 4 bytes, recorded 3"));
}

TEST_F(RebuildObjects, ThatNobodyMayAskForOrReachAreUnknown) {
  ScriptedServer server([](const std::string&) { return Status("403 Forbidden"); });
  Use(server);
  const Part refused = Ask("s3://sets/train.csv?versionId=V1");
  EXPECT_EQ(refused.state, PartState::kUnknown);
  EXPECT_THAT(refused.why, HasSubstr("403"));
  Set("AWS_ENDPOINT_URL", "http://127.0.0.1:9");
  EXPECT_EQ(Ask("s3://sets/train.csv").state, PartState::kUnknown);
  Unset("AWS_SECRET_ACCESS_KEY");
  EXPECT_EQ(Ask("s3://sets/train.csv").state, PartState::kUnknown) << "half a pair of keys";
  Unset("LAKECTL_SERVER_ENDPOINT_URL");
  const Part nowhere = Ask("lakefs://sets/" + kLakefsCommit + "/a");
  EXPECT_EQ(nowhere.state, PartState::kUnknown);
  EXPECT_THAT(nowhere.why, HasSubstr("LAKECTL_SERVER_ENDPOINT_URL"));
  EXPECT_EQ(Ask("s3://").state, PartState::kUnknown);
  options_.network = false;
  EXPECT_THAT(Ask("s3://sets/train.csv").why, HasSubstr("--network"));
  EXPECT_EQ(server.requests().size(), 1u) << "nobody is asked without --network";
}

TEST_F(RebuildObjects, OfLakefsAreAskedForAtTheirCommit) {
  ScriptedServer server([](const std::string& request) {
    if (request.find("/commits") != request.npos) {
      return ScriptedServer::Ok(R"({"results": [{"id": ")" + kLakefsCommit + R"("}]})");
    }
    if (request.find("gone") != request.npos) return Status("404 Not Found");
    return ScriptedServer::Ok(R"({"size_bytes": 3, "checksum": "x"})");
  });
  Use(server);
  const Part part = Ask("lakefs://sets/" + kLakefsCommit + "/train.csv");
  EXPECT_EQ(part.state, PartState::kHad) << part.why;
  EXPECT_EQ(part.why, "its source has it at that commit; not hashed");
  EXPECT_THAT(server.requests().back(), HasSubstr("/refs/" + kLakefsCommit + "/objects/stat"));
  EXPECT_THAT(Ask("lakefs://sets/main/train.csv").why, HasSubstr("a branch, which may move"));
  EXPECT_EQ(Ask("lakefs://sets/" + kLakefsCommit + "/gone").state, PartState::kGone);
  EXPECT_EQ(Ask("lakefs://sets/" + kLakefsCommit + "/train.csv", 4).state, PartState::kGone);
}

TEST_F(RebuildObjects, OfACommitThatIsGoneAreGone) {
  ScriptedServer server([](const std::string&) { return Status("404 Not Found"); });
  Use(server);
  EXPECT_EQ(Ask("lakefs://sets/" + kLakefsCommit + "/train.csv").state, PartState::kGone);
}

TEST_F(RebuildObjects, BehindSignedAddressesAreToldWithoutTheirSignature) {
  ScriptedServer server([](const std::string&) { return Status("404 Not Found"); });
  const Part part = Ask(server.url() + "/a?X-Amz-Signature=verysecretkey");
  EXPECT_EQ(part.state, PartState::kGone);
  EXPECT_THAT(part.why, HasSubstr(server.url() + "/a: "));
}

}  // namespace
}  // namespace rharness
