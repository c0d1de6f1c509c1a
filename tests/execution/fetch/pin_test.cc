// Pinning: the version, the commit and the digest that a server says, held to the file that is
// here.
#include "harness/execution/fetch/pin.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/execution/fetch/remote_world.h"

namespace rharness {
namespace {

using testing::HasSubstr;

// SHA-256 of "data", as S3 writes it: by `printf data | sha256sum | xxd -r -p | base64`.
constexpr char kDataChecksum[] = "Om6weQ85rIfJTzhWst0sXREOaBFgImGpqSPTuyOtyLc=";

class Pin : public RemoteWorld {
 protected:
  std::string Refusal(const std::string& source) {
    const auto pinned = PinSource(source, file_, options_);
    return pinned.ok() ? "pinned" : pinned.error().ToString();
  }
  std::filesystem::path file_ = Put("file", "data");
};

TEST_F(Pin, OfS3TheVersionThatAnObjectHasNow) {
  std::string headers = "x-amz-version-id: V7\r\nETag: \"8d77\"\r\n";
  ScriptedServer server([&](const std::string&) { return ScriptedServer::Ok("data", headers); });
  UseS3(server);
  auto pinned = PinSource("s3://bucket/x", file_, options_);
  ASSERT_TRUE(pinned.ok()) << pinned.error().ToString();
  EXPECT_EQ(pinned->source, "s3://bucket/x?versionId=V7");
  EXPECT_EQ(pinned->other_digest, "etag:8d77");
  EXPECT_EQ(pinned->grade, Grade::kHint);
  EXPECT_TRUE(server.requests()[0].starts_with("HEAD /bucket/x HTTP")) << server.requests()[0];
  EXPECT_THAT(server.requests()[0], HasSubstr("x-amz-checksum-mode: ENABLED"));
  headers += std::string("x-amz-checksum-sha256: ") + kDataChecksum + "\r\n";
  pinned = PinSource("s3://bucket/x", file_, options_);
  EXPECT_EQ(pinned->grade, Grade::kExact) << pinned->how;
}

TEST_F(Pin, OfABucketWithoutVersionsTheObjectAsItIs) {
  ScriptedServer server(
      [&](const std::string&) { return ScriptedServer::Ok("data", "x-amz-version-id: null\r\n"); });
  UseS3(server);
  const auto pinned = PinSource("s3://bucket/x", file_, options_);
  EXPECT_EQ(pinned->source, "s3://bucket/x");
  EXPECT_THAT(pinned->how, HasSubstr("keeps no versions"));
}

TEST_F(Pin, AnotherContentIsRefusedBeforeTheRun) {
  std::string body = "dat!";
  std::string headers = std::string("x-amz-checksum-sha256: ") + kDataChecksum + "\r\n";
  ScriptedServer server([&](const std::string&) { return ScriptedServer::Ok(body, headers); });
  UseS3(server);
  EXPECT_EQ(Refusal("s3://bucket/x"), "pinned");
  Put("file", "dada");
  EXPECT_THAT(Refusal("s3://bucket/x"), HasSubstr("has another content than"));
  body = "longer";
  EXPECT_THAT(Refusal("s3://bucket/x"), HasSubstr("has 6 bytes"));
  // The digest of an upload in parts is none of the content.
  body = "dada";
  headers = "x-amz-checksum-sha256: AAAA-2\r\n";
  EXPECT_EQ(PinSource("s3://bucket/x", file_, options_)->grade, Grade::kHint);
  headers = "x-amz-checksum-sha256: AAAA\r\nETag: \"8d77-2\"\r\n";
  EXPECT_EQ(PinSource("s3://bucket/x", file_, options_)->grade, Grade::kHint);
  headers = "x-amz-version-id: a\tb\r\n";
  EXPECT_THAT(Refusal("s3://bucket/x"), HasSubstr("expected s3://BUCKET/KEY"));
}

TEST_F(Pin, OfLakefsTheCommitThatABranchIsNow) {
  ScriptedServer server([&](const std::string& request) {
    if (request.find("/refs/main/commits?amount=1") != request.npos) {
      return ScriptedServer::Ok(
          std::string(R"({"pagination":{"has_more":false},"results":[{"id":")") + kCommit +
          R"(","parents":[],"meta_range_id":"x"}]})");
    }
    if (request.find(std::string("/refs/") + kCommit + "/objects/stat?path=a%2Fx") !=
        request.npos) {
      return ScriptedServer::Ok(R"({"path":"a/x","path_type":"object","physical_address":"s3://y",)"
                                R"("checksum":"8d777f385d3dfec8815d20f7496026dc","mtime":1,)"
                                R"("size_bytes":4})");
    }
    return ScriptedServer::Ok("{}");
  });
  UseLakefs(server);
  const auto pinned = PinSource("lakefs://repo/main/a/x", file_, options_);
  ASSERT_TRUE(pinned.ok()) << pinned.error().ToString();
  EXPECT_EQ(pinned->source, std::string("lakefs://repo/") + kCommit + "/a/x");
  EXPECT_EQ(pinned->grade, Grade::kHint);
  EXPECT_THAT(pinned->how, HasSubstr("the commit that main is now"));
  EXPECT_EQ(pinned->other_digest, "etag:8d777f385d3dfec8815d20f7496026dc");
  EXPECT_THAT(Refusal("lakefs://repo/none/a/x"), HasSubstr("names no commit of none"));
}

TEST_F(Pin, OfHttpNothingButItsSizeIsKnown) {
  ScriptedServer server([](const std::string&) { return ScriptedServer::Ok("data"); });
  const auto pinned = PinSource(server.url() + "/x", file_, options_);
  ASSERT_TRUE(pinned.ok()) << pinned.error().ToString();
  EXPECT_EQ(pinned->grade, Grade::kHint);
  Put("file", "data!");
  EXPECT_THAT(Refusal(server.url() + "/x"), HasSubstr("has 4 bytes"));
  EXPECT_THAT(PinSource(server.url() + "/x", folder_.path(), options_).error().ToString(),
              HasSubstr("is no file"));
}

TEST_F(Pin, NamesAreThoseOfData) {
  ScriptedServer server([](const std::string&) { return ScriptedServer::Ok("data"); });
  std::vector<DataItem> data = {DataItem{.name = "other", .path = "x"},
                                DataItem{.name = "train", .path = file_.string()}};
  const auto pins = PinSources({"train=" + server.url() + "/x"}, &data, options_);
  ASSERT_TRUE(pins.ok()) << pins.error().ToString();
  EXPECT_EQ(data[1].source, server.url() + "/x");
  Manifest manifest;
  manifest.run_id = "r";
  manifest.data = data;
  SayPins(*pins, &manifest);
  ASSERT_EQ(manifest.origin->fields.size(), 1u);
  EXPECT_EQ(manifest.origin->fields[0].path, "data[1].source");
  EXPECT_FALSE(PinSources({"none=" + server.url()}, &data, options_).ok());
  EXPECT_FALSE(PinSources({"train"}, &data, options_).ok());
}

}  // namespace
}  // namespace rharness
