// Signatures against those that AWS publishes.
#include "harness/net/aws_signature.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rharness {
namespace {

using testing::EndsWith;
using testing::HasSubstr;

// "Signature Version 4 test suite" of the AWS General Reference.
AwsRequest SuiteRequest(HttpQuery query) {
  return {.method = "GET",
          .path = "/",
          .query = std::move(query),
          .headers = {{"x-amz-date", "20150830T123600Z"}, {"host", "example.amazonaws.com"}},
          .payload_sha256 = kEmptySha256,
          .time = "20150830T123600Z",
          .region = "us-east-1",
          .service = "service"};
}
const AwsKeys kSuiteKeys = {"AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", ""};

TEST(AwsSignature, OfTheTestSuiteGetVanilla) {
  EXPECT_EQ(AwsAuthorization(kSuiteKeys, SuiteRequest({})),
            "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, "
            "SignedHeaders=host;x-amz-date, "
            "Signature=5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31");
}

TEST(AwsSignature, OfTheTestSuiteGetVanillaQueryOrderKeyCase) {
  EXPECT_THAT(
      AwsAuthorization(kSuiteKeys, SuiteRequest({{"Param2", "value2"}, {"Param1", "value1"}})),
      EndsWith("b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500"));
}

// "Authenticating Requests: Using the Authorization Header" of the S3 API Reference.
AwsRequest S3Request(std::string path, HttpQuery query, HttpHeaders more) {
  HttpHeaders headers = {{"host", "examplebucket.s3.amazonaws.com"},
                         {"x-amz-content-sha256", kEmptySha256},
                         {"x-amz-date", "20130524T000000Z"}};
  headers.insert(headers.end(), more.begin(), more.end());
  return {.method = "GET",
          .path = std::move(path),
          .query = std::move(query),
          .headers = std::move(headers),
          .payload_sha256 = kEmptySha256,
          .time = "20130524T000000Z",
          .region = "us-east-1",
          .service = "s3"};
}
const AwsKeys kS3Keys = {"AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", ""};

TEST(AwsSignature, OfS3sExampleGetObject) {
  EXPECT_THAT(AwsAuthorization(kS3Keys, S3Request("/test.txt", {}, {{"range", "bytes=0-9"}})),
              EndsWith("f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"));
}

TEST(AwsSignature, OfS3sExamplesGetBucketLifecycleAndListObjects) {
  EXPECT_THAT(AwsAuthorization(kS3Keys, S3Request("/", {{"lifecycle", ""}}, {})),
              EndsWith("fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"));
  EXPECT_THAT(AwsAuthorization(kS3Keys, S3Request("/", {{"prefix", "J"}, {"max-keys", "2"}}, {})),
              EndsWith("34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"));
}

TEST(AwsSignature, HoldsNoSecret) {
  EXPECT_THAT(AwsAuthorization(kS3Keys, S3Request("/", {}, {})),
              Not(HasSubstr(kS3Keys.secret_key)));
}

}  // namespace
}  // namespace rharness
