// The deleted files of one run, when, by whose signatures and why.
//
// Role: joins harness/trust/retention's deletions with the signatures of two people, for pages
// about a run.
#ifndef RHARNESS_HARNESS_TRUST_APPROVAL_DELETED_FILES_H_
#define RHARNESS_HARNESS_TRUST_APPROVAL_DELETED_FILES_H_

#include <string>
#include <vector>

#include "harness/base/clock.h"
#include "harness/base/result.h"
#include "harness/history/store.h"
#include "harness/trust/attestation/trust.h"
#include "reports/deletion_list.h"

namespace rharness {

struct DeletedFile {
  std::string list_sha256;
  int item = -1;      // in the list, from 0; -1: unreadable list, see `doubt`
  DeletionItem file;  // as the list has it: path below its root, SHA-256, role, why it went
  DeletionStep step = DeletionStep::kGone;  // kAbout: that it is gone was not entered; kMissing: it
                                            // was not there
  WallTime at{};                            // of that step
  std::string reason;                       // of who asked
  std::string asked_by;                     // these two are empty where there is a doubt
  std::string approved_by;
  std::string doubt;  // why it does not match the signatures; empty: it does
};

// Those of the run, in the order in which their lists were begun, then of the lists; without files
// that stayed. Checked against the signatures; with a `trust` policy that has a rule for deletions
// also against its keys. A list that differs from its begun form may concern any run, and is
// reported for each. Errors: those of the history.
Result<std::vector<DeletedFile>> DeletedFilesOf(const std::string& run_id, const TrustPolicy* trust,
                                                WallTime now, HistoryStore* store);

// "deleted at 2026-11-25T08:00:00.000Z, asked for by Ada and approved by Bob: disk is full (list
// 1f2e3d4c5b6a)".
std::string DeletedWords(const DeletedFile& file);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_TRUST_APPROVAL_DELETED_FILES_H_
