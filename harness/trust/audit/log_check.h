// Is a log what it was: every line, every node, every head, and the heads that others kept.
//
// Role: reads a log once from its beginning and recomputes everything; the first entry that is not
// what it was is named. What the entries are about is for whoever is called with each of them
// (record_book.h).
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
  const TrustPolicy* trust = nullptr;  // nullptr: who signed heads is not looked at
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

// The first entry that is not what it was; kind and name are empty where its line tells none.
struct BadEntry {
  std::uint64_t index = 0;
  std::string kind;
  std::string name;
};

// `each`, where given, is called with every entry in order, once it is known to be one of this tree
// as `nodes` has it. Errors: integrity, with the entry or the head in `where`, and of an entry in
// `bad` which one; each's own; io; not_found where it holds nothing. Neither lines nor hashes may
// stand behind the last entry.
Result<CheckedLog> CheckLog(LogView* log, const LogChecks& checks, const EachEntry& each = {},
                            std::optional<BadEntry>* bad = nullptr);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_TRUST_AUDIT_LOG_CHECK_H_
