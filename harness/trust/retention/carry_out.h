// Deleting exactly what a list names, on record before and after each file.
//
// Role: the one place that deletes what runs made. Whether two people signed for the list is
// harness/trust/approval's to say; that comes first.
#ifndef RHARNESS_HARNESS_TRUST_RETENTION_CARRY_OUT_H_
#define RHARNESS_HARNESS_TRUST_RETENTION_CARRY_OUT_H_

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "harness/base/clock.h"
#include "harness/base/result.h"
#include "harness/history/store.h"
#include "reports/retention_report.h"

namespace rharness {

// What is asked before each file: whatever people and drills did meanwhile keeps what is left.
class DeletionWatch {
 public:
  virtual ~DeletionWatch() = default;
  // Why the file stays for now; empty: it goes.
  virtual Result<std::string> WhyHeld(const DeletionItem& item) = 0;
  // How much of the history these answers rest on; there is more by now.
  virtual HistoryMark mark() const = 0;
  virtual Status Renew() = 0;
};

// A list, and the request by which two people signed for it.
struct SignedList {
  DeletionList list;
  std::string statement_sha256;  // taken back: nothing more goes
  std::string asked_by;
  std::string approved_by;
};

struct CarriedOut {
  std::uint64_t files = 0;  // gone now, of this call
  std::uint64_t bytes = 0;
  std::uint64_t before = 0;          // that had their turn before, by this list
  std::vector<std::string> changed;  // that are something else by now, and stay: path and why
  std::vector<std::string> missing;  // that somebody else took away
  std::vector<std::string> held;     // whose turn is still to come: path and why
  bool taken_back = false;           // meanwhile; those that are left stay

  // Whether any file had its turn in this call.
  bool HadAnyTurn() const { return files != 0 || !changed.empty() || !missing.empty(); }
};

// A list under which a deletion was begun and not ended: it goes on before anything else does.
struct UnfinishedDeletion {
  DeletionRecord record;
  DeletionList list;
  bool here = false;  // in this folder; else in another one of its path
};
// Those for a root of this path, which has every link resolved. A list that is not what its digest
// says is none. Errors: those of the history and of HeldFolder; not_found.
Result<std::vector<UnfinishedDeletion>> FindUnfinished(const std::filesystem::path& root,
                                                       HistoryStore* history);

// Each file in its turn: hashed, asked for (`watch`), entered as about to go in a transaction that
// finds it neither taken back nor a drill at work on it, unlinked below the root without following
// any link, its folder synced, entered as gone. Called again after a crash it goes on: what was
// about to go and is not there is gone. A file that is not the one of the list stays, and is told;
// so is one that is held, and the others go. Errors: integrity (the root is not the folder of the
// list any more), invalid_input (it was begun in another folder of this path; somebody is deleting
// here), timeout (the history did not stand still), io, those of the history and of `watch`.
Result<CarriedOut> CarryOut(const SignedList& approved, Clock* clock, DeletionWatch* watch,
                            HistoryStore* history);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_TRUST_RETENTION_CARRY_OUT_H_
