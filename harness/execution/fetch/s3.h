// Objects of S3 and compatible servers: their addresses, and the credentials.
//
// Role: private to this folder.
#ifndef RHARNESS_HARNESS_EXECUTION_FETCH_S3_H_
#define RHARNESS_HARNESS_EXECUTION_FETCH_S3_H_

#include <string>
#include <string_view>

#include "harness/base/clock.h"
#include "harness/execution/fetch/remote.h"

namespace rharness {

// "s3://BUCKET/KEY[?versionId=ID]"; the key as in the bucket, not escaped.
struct S3Object {
  std::string bucket;
  std::string key;
  std::string version_id;
};
// Errors: invalid_input, also for invalid names of buckets and keys with control characters.
Result<S3Object> ParseS3(std::string_view source);
std::string S3Text(const S3Object& object);

// The object at the server that AWS_ENDPOINT_URL_S3 or AWS_ENDPOINT_URL names (the bucket in the
// path), else at AWS (in the host's name, if it has no dots). Keys: AWS_ACCESS_KEY_ID,
// AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN; else those of AWS_PROFILE, or "default", in
// AWS_SHARED_CREDENTIALS_FILE or HOME/.aws/credentials; else requests are unsigned. Region:
// AWS_REGION, AWS_DEFAULT_REGION, that of the profile in AWS_CONFIG_FILE or HOME/.aws/config, else
// us-east-1. Errors, which quote no key: invalid_input for half a pair of keys and a credentials
// file that others may read.
Result<Remote> OpenS3(std::string_view source, const RemoteOptions& options);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXECUTION_FETCH_S3_H_
