// The list of files to delete, signed by two people: "rharness.deletion_list/v1".
//
// Role: plain data; harness/trust/retention makes it and carries it out. Equal content gives equal
// text, so that its SHA-256 identifies it: it contains no current time.
#ifndef RHARNESS_REPORTS_DELETION_LIST_H_
#define RHARNESS_REPORTS_DELETION_LIST_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/json.h"
#include "harness/base/result.h"

namespace rharness {

// A file that runs made.
struct DeletionItem {
  std::string path;  // relative to the root, in normal form
  std::uint64_t size_bytes = 0;
  std::string sha256;
  std::string role;               // "weights", ...
  std::vector<std::string> runs;  // its owners: all of them release it
  std::string why;                // a sentence
  std::string lost;               // what becomes impossible
};

struct DeletionList {
  std::string root;                 // the folder, absolute and with every link resolved
  std::string policy_sha256;        // of the policy's text, whose rules they are
  std::vector<DeletionItem> items;  // by path

  std::uint64_t bytes() const;
};

Json ToJson(const DeletionList& list);
// What is signed and kept, and its digest.
std::string TextOf(const DeletionList& list);
std::string DigestOf(const DeletionList& list);
// Errors: integrity, since such a text was signed: another schema, a missing or mistyped member, a
// path that is unsafe or leaves the root, an invalid digest, no run.
Result<DeletionList> ParseDeletionList(std::string_view text, std::string_view where);
// The same for a text that must have this digest: else integrity.
Result<DeletionList> ParseDeletionListOf(std::string_view sha256, std::string_view text,
                                         std::string_view where);

}  // namespace rharness

#endif  // RHARNESS_REPORTS_DELETION_LIST_H_
