// Deletes exactly the files of a list, with entries before and after each file.
//
// Role: the only code that deletes outputs of runs. harness/trust/approval checks first that two
// people signed the list.
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

// Called before each file: meanwhile actions of people and drills keep the rest.
class DeletionWatch {
 public:
  virtual ~DeletionWatch() = default;
  // Why the file stays for now; empty: it goes.
  virtual Result<std::string> WhyHeld(const DeletionItem& item) = 0;
  // The amount of history behind these answers; there may be more by now.
  virtual HistoryMark mark() const = 0;
  virtual Status Renew() = 0;
};

// A list, and the request by which two people signed it.
struct SignedList {
  DeletionList list;
  std::string statement_sha256;  // once withdrawn, nothing more is deleted
  std::string asked_by;
  std::string approved_by;
};

struct CarriedOut {
  std::uint64_t files = 0;  // gone now, of this call
  std::uint64_t bytes = 0;
  std::uint64_t before = 0;          // handled before, by this list
  std::vector<std::string> changed;  // files that have changed, and stay: path and why
  std::vector<std::string> missing;  // files removed by somebody else
  std::vector<std::string> held;     // files still to come: path and why
  bool taken_back = false;           // withdrawn meanwhile; the remaining files stay

  // Whether any file had its turn in this call.
  bool HadAnyTurn() const { return files != 0 || !changed.empty() || !missing.empty(); }
};

// A list with an unfinished deletion: it continues before anything else does.
struct UnfinishedDeletion {
  DeletionRecord record;
  DeletionList list;
  bool here = false;  // in this folder; else in a folder of the same path
};
// Those for a root of this path, which has every link resolved. Ignores a list that does not match
// its digest. Errors: those of the history and of HeldFolder; not_found.
Result<std::vector<UnfinishedDeletion>> FindUnfinished(const std::filesystem::path& root,
                                                       HistoryStore* history);

// For each file in order: hashes it, asks `watch`, enters it as about to go in a transaction that
// finds neither a withdrawal nor a drill at work on it, unlinks it below the root without following
// any link, syncs its folder, enters it as gone. After a crash it continues: a missing file that
// was about to go is gone. A file that differs from the list stays and is reported, as is a held
// one; the others go. Errors: integrity (the root is no longer the folder of the list),
// invalid_input (it was begun in another folder of this path; somebody is deleting here), timeout
// (the history kept changing), io, those of the history and of `watch`.
Result<CarriedOut> CarryOut(const SignedList& approved, Clock* clock, DeletionWatch* watch,
                            HistoryStore* history);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_TRUST_RETENTION_CARRY_OUT_H_
