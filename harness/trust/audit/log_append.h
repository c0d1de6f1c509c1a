// Adding to an audit log: what is new, behind what is there and is what it was, then a signed head.
//
// Role: the only writer of a log's folder. One process adds at a time; others wait. An append is
// whole or not there: append.json (log_view.h) stands before the first byte and goes with the last.
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
  bool begin = false;                  // there is no log yet: it is begun, and the folder made
  Signer* signer = nullptr;            // nullptr: no head is signed
  const TrustPolicy* trust = nullptr;  // who may sign heads: those that are there, and this one
  Clock* clock = nullptr;
  Seconds wait{60};  // for another process that is adding
};

struct Appended {
  SizedRoot tree;
  std::uint64_t added = 0;
  std::optional<std::string> head;  // the newest head, one line; empty: none was ever signed
  bool signed_now = false;
  bool mended = false;  // what an append that was cut short had left was taken away first
};

// What the log is held to while nobody else adds: asked once, when the lock is held.
class AppendSource {
 public:
  virtual ~AppendSource() = default;
  virtual Status Load() = 0;
  virtual Status Take(const AuditEntry& entry) = 0;   // in order, all that the log has
  virtual Result<std::vector<HeldRecord>> New() = 0;  // to be added, after all were taken
};

// Whether an append to the log of this folder can be made, for those who do something long first;
// it is locked for a moment. One that somebody else adds to now is fine. Errors: invalid_input for
// a folder with files of something else; those of OpenLog, not_found where there is no log; io.
Status ReadyForAppend(const std::filesystem::path& folder);

// A log that does not hold is left as it is: nothing is put behind what was changed. A log that
// is missing is begun only where that is asked for: its volume may not be mounted. Errors: those of
// CheckLog, of ReadyForAppend and of the source; invalid_input for a log to be begun that has
// something in it already, and for a record that no entry can name; timeout where others add for
// longer than `wait`. A head is signed where there is none yet, or where the last one is not this
// key's over this tree; over nothing none is.
Result<Appended> AppendToLog(const AppendRequest& request, AppendSource* source,
                             std::optional<BadEntry>* bad = nullptr);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_TRUST_AUDIT_LOG_APPEND_H_
