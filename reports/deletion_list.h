// The list of what is to be deleted, which two people sign: "rharness.deletion_list/v1".
//
// Role: plain data; harness/trust/retention makes it and carries it out. Its text is the same
// whenever it is made of the same things, so that its SHA-256 stands for it: no time of today is in
// it.
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
  std::vector<std::string> runs;  // whose it is: all of them let go of it
  std::string why;                // a sentence
  std::string lost;               // what cannot be done any more
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
// Errors: integrity, since such a text was signed: another schema, a member that is missing or of
// another type, a path that is not safe or leaves the root, a digest that is none, no run.
Result<DeletionList> ParseDeletionList(std::string_view text, std::string_view where);
// The same of a text that must have this digest: integrity where it has another one.
Result<DeletionList> ParseDeletionListOf(std::string_view sha256, std::string_view text,
                                         std::string_view where);

}  // namespace rharness

#endif  // RHARNESS_REPORTS_DELETION_LIST_H_
