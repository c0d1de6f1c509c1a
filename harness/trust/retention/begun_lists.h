// The deletion lists begun in a folder: noted in the folder itself, since a different machine may
// have a folder of the same path, and the same history.
#ifndef RHARNESS_HARNESS_TRUST_RETENTION_BEGUN_LISTS_H_
#define RHARNESS_HARNESS_TRUST_RETENTION_BEGUN_LISTS_H_

#include "harness/base/held_folder.h"
#include "harness/base/result.h"
#include "harness/history/signed_records.h"

namespace rharness {

// One line per list, "SHA256 TIME"; no rule deletes it.
inline constexpr char kBegunLists[] = ".rharness-deletions";

// On disk before the history has it. Errors: those of HeldFolder.
Status NoteBegun(const HeldFolder& root, const DeletionRecord& record);
// Whether it is noted, as begun at this time. Errors: those of HeldFolder but not_found.
Result<bool> WasBegunIn(const HeldFolder& root, const DeletionRecord& record);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_TRUST_RETENTION_BEGUN_LISTS_H_
