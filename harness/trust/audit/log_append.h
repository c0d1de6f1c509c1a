// Appends to an audit log: new entries after the verified old ones, then a signed head.
//
// Role: the only writer of a log's folder. One process appends at a time; others wait. An append is
// atomic: append.json (log_view.h) is written before the first byte and removed after the last.
#ifndef RHARNESS_HARNESS_TRUST_AUDIT_LOG_APPEND_H_
#define RHARNESS_HARNESS_TRUST_AUDIT_LOG_APPEND_H_

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "harness/base/clock.h"
#include "harness/base/result.h"
#include "harness/history/held_record.h"
#include "harness/trust/attestation/signer.h"
#include "harness/trust/audit/log_check.h"

namespace rharness {

struct AppendRequest {
  std::filesystem::path folder;
  bool begin = false;                  // there is no log yet: make it, and its folder
  Signer* signer = nullptr;            // nullptr: no head is signed
  const TrustPolicy* trust = nullptr;  // who may sign heads: existing ones, and this one
  Clock* clock = nullptr;
  Seconds wait{60};  // for a different process that is appending
};

struct Appended {
  SizedRoot tree;
  std::uint64_t added = 0;
  std::optional<std::string> head;  // the newest head, one line; empty: there was none
  bool signed_now = false;
  bool mended = false;  // removed the leftovers of an interrupted append first
};

// The source that the log is checked against while nobody else appends: called once, under the
// lock.
class AppendSource {
 public:
  virtual ~AppendSource() = default;
  virtual Status Load() = 0;
  virtual Status Take(const AuditEntry& entry) = 0;   // in order, all entries of the log
  virtual Result<std::vector<HeldRecord>> New() = 0;  // to append, after all were taken
};

// Whether an append to the log of this folder is possible, for callers with long work before; locks
// it for a moment. A concurrent append is fine. Errors: invalid_input for a folder with foreign
// files; those of OpenLog, not_found if there is no log; io.
Status ReadyForAppend(const std::filesystem::path& folder);

// Leaves an invalid log unchanged: nothing is appended to changed entries. Begins a missing log
// only on request: its volume may not be mounted. Errors: those of CheckLog, of ReadyForAppend and
// of the source; invalid_input if a log to begin is not empty, and for a record that no entry can
// name; timeout if others append for longer than `wait`. Signs a head if there is none yet, or if
// the last one is not this key's over this tree; signs none over an empty log.
Result<Appended> AppendToLog(const AppendRequest& request, AppendSource* source,
                             std::optional<BadEntry>* bad = nullptr);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_TRUST_AUDIT_LOG_APPEND_H_
