// Deleting exactly what a list names, on record before and after each file.
//
// Role: the one place that deletes what runs made. Whether two people signed for the list is
// harness/approval's to say; that comes first.
#ifndef RHARNESS_HARNESS_RETENTION_CARRY_OUT_H_
#define RHARNESS_HARNESS_RETENTION_CARRY_OUT_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "harness/base/clock.h"
#include "harness/base/result.h"
#include "harness/history/store.h"
#include "reports/retention_report.h"

namespace rharness {

struct CarriedOut {
  std::uint64_t files = 0;  // gone now, of this call
  std::uint64_t bytes = 0;
  std::uint64_t before = 0;          // that were gone before, by this list
  std::vector<std::string> changed;  // that are something else by now, and stay: path and why
  std::vector<std::string> missing;  // that somebody else took away
};

// The list under which a deletion was begun and not ended, where there is one: it goes on before
// anything else does. Errors: those of the history, integrity (the list is not what its digest
// says).
struct UnfinishedDeletion {
  DeletionRecord record;
  DeletionList list;
  std::vector<DeletedItem> steps;
};
Result<std::vector<UnfinishedDeletion>> FindUnfinished(HistoryStore* history);

// Each file in its turn: entered as about to go, held to its size and SHA-256 once more, unlinked
// below the root without following any link, its folder synced, entered as gone. Called again after
// a crash it goes on: what was about to go and is not there is gone. A file that is not the one of
// the list stays, and is told. `holds`: asked before each file; an error of it ends the call.
// Errors: integrity (the root is not the folder of the list any more), io, those of the history.
Result<CarriedOut> CarryOut(const DeletionList& list, const std::string& asked_by,
                            const std::string& approved_by, Clock* clock,
                            const std::function<Status(const DeletionItem&)>& holds,
                            HistoryStore* history);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_RETENTION_CARRY_OUT_H_
