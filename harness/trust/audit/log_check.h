// Checks that a log is unchanged: every line, every node, every head, and the heads that others
// kept.
//
// Role: reads a log once from its beginning and recomputes everything; names the first changed
// entry. The callback checks the records behind the entries (record_book.h).
#ifndef RHARNESS_HARNESS_TRUST_AUDIT_LOG_CHECK_H_
#define RHARNESS_HARNESS_TRUST_AUDIT_LOG_CHECK_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "harness/base/clock.h"
#include "harness/base/result.h"
#include "harness/trust/audit/entry.h"
#include "harness/trust/audit/log_view.h"
#include "harness/trust/audit/merkle.h"
#include "harness/trust/audit/tree_head.h"

namespace rharness {

struct LogChecks {
  const TrustPolicy* trust = nullptr;  // nullptr: signers of heads are not verified
  std::vector<HeadText> kept;          // heads that somebody else has
  WallTime now{};
};

struct SeenHead {
  TreeHead head;
  std::vector<AcceptedKey> signed_by;  // with a trust policy
  std::string where;
};

struct CheckedLog {
  SizedRoot tree;
  std::vector<SeenHead> heads;  // the log's own, in their order
  std::vector<SeenHead> kept;
  std::string last_time;  // of the last entry; empty: there is none

  // How many entries the newest head covers.
  std::uint64_t signed_entries() const { return heads.empty() ? 0 : heads.back().head.tree.size; }
};

using EachEntry = std::function<Status(const AuditEntry&)>;

// The first changed entry; kind and name are empty if its line shows none.
struct BadEntry {
  std::uint64_t index = 0;
  std::string kind;
  std::string name;
};

// `each`, if given, is called with every entry in order, once it is known to belong to the tree of
// `nodes`. Errors: integrity, with the entry or the head in `where`, and the entry in `bad`; those
// of `each`; io; not_found for an empty folder. Neither lines nor hashes may follow the last entry.
Result<CheckedLog> CheckLog(LogView* log, const LogChecks& checks, const EachEntry& each = {},
                            std::optional<BadEntry>* bad = nullptr);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_TRUST_AUDIT_LOG_CHECK_H_
