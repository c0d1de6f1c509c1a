// Objects of lakeFS, by its REST interface.
//
// Role: for this folder and harness/execution/rebuild. Source: treeverse/lakeFS, api/swagger.yml,
// version 1.
#ifndef RHARNESS_HARNESS_EXECUTION_FETCH_LAKEFS_H_
#define RHARNESS_HARNESS_EXECUTION_FETCH_LAKEFS_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "harness/execution/fetch/remote.h"

namespace rharness {

// "lakefs://REPOSITORY/REFERENCE/PATH"; a commit id has 64 hexadecimal digits, any other reference
// may be a branch, which moves.
struct LakefsObject {
  std::string repository;
  std::string reference;
  std::string path;
};
Result<LakefsObject> ParseLakefs(std::string_view source);  // invalid_input
std::string LakefsText(const LakefsObject& object);
bool IsLakefsCommit(std::string_view reference);

// The server: LAKECTL_SERVER_ENDPOINT_URL. Keys: LAKECTL_CREDENTIALS_ACCESS_KEY_ID and
// LAKECTL_CREDENTIALS_SECRET_ACCESS_KEY. Otherwise those of HOME/.lakectl.yaml. Without keys none
// are sent. Errors: invalid_input, also without a server; they quote no key.
Result<Remote> OpenLakefs(std::string_view source, const RemoteOptions& options);

// What the server says of an object.
struct LakefsStat {
  std::string commit;  // the current commit of its reference
  std::uint64_t size_bytes = 0;
  std::string checksum;  // mostly an ETag: not certainly a digest of the content
};
// Errors: those of HttpClient; invalid_input for answers of another shape.
Result<LakefsStat> StatLakefs(std::string_view source, const RemoteOptions& options);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXECUTION_FETCH_LAKEFS_H_
