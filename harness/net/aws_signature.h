// Version 4 of AWS's signatures: how a request to S3 proves its sender.
//
// Role: private to this folder. Pure. Source: AWS, "Signature Version 4" (IAM user guide) and
// "Authenticating Requests" (S3 API reference).
#ifndef RHARNESS_HARNESS_NET_AWS_SIGNATURE_H_
#define RHARNESS_HARNESS_NET_AWS_SIGNATURE_H_

#include <string>
#include <string_view>

#include "harness/net/http.h"

namespace rharness {

struct AwsKeys {
  std::string access_key;
  std::string secret_key;
  std::string session_token;  // of temporary keys
};

struct AwsRequest {
  std::string method;
  std::string path;     // as sent: each part escaped
  HttpQuery query;      // not escaped
  HttpHeaders headers;  // the signed ones: names in lower case; "host" among them
  std::string payload_sha256;
  std::string time;     // "20130524T000000Z"
  std::string region;   // "us-east-1"
  std::string service;  // "s3"
};

// The value of the header Authorization.
std::string AwsAuthorization(const AwsKeys& keys, AwsRequest request);

// SHA-256 of nothing, for requests without a body.
inline constexpr char kEmptySha256[] =
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

}  // namespace rharness

#endif  // RHARNESS_HARNESS_NET_AWS_SIGNATURE_H_
