// Reports that a file of a good run is gone because two people had it deleted.
#ifndef RHARNESS_HARNESS_INSIGHT_INCIDENT_DELETED_OF_H_
#define RHARNESS_HARNESS_INSIGHT_INCIDENT_DELETED_OF_H_

#include "harness/base/clock.h"
#include "harness/base/result.h"
#include "harness/history/store.h"
#include "harness/insight/incident/held_files.h"
#include "harness/records/manifest/manifest.h"

namespace rharness {

// Adds this, with the people and their reason, to each missing file of this record, and to the
// damage if it is such a file. Errors: those of the history.
Status TellDeletions(const Manifest& manifest, WallTime now, HistoryStore* store, HeldFiles* files);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_INSIGHT_INCIDENT_DELETED_OF_H_
