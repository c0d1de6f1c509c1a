// Checks that the files of a run are still the recorded ones, and who has signed for them.
//
// Role: reads and hashes files; writes nothing. Not here: whether an unsigned file is enough.
#ifndef RHARNESS_HARNESS_INSIGHT_INCIDENT_HELD_FILES_H_
#define RHARNESS_HARNESS_INSIGHT_INCIDENT_HELD_FILES_H_

#include <filesystem>
#include <string>
#include <vector>

#include "harness/base/clock.h"
#include "harness/base/result.h"
#include "harness/execution/rerun/places.h"
#include "harness/history/entered_drill.h"
#include "harness/records/manifest/manifest.h"
#include "reports/incident_report.h"

namespace rharness {

struct HeldFilesRequest {
  Places places;
  std::filesystem::path artifacts;   // files lie here by their paths in the run; empty: where the
                                     // record says
  std::filesystem::path signatures;  // a further folder of signed statements; empty: none
  std::filesystem::path trust;       // the trust policy; empty: signatures are named, not checked
};

struct HeldFiles {
  std::vector<IncidentFile> files;  // in the order of the record, every part of a checkpoint
  std::vector<IncidentSignature> signatures;
  // A changed checkpoint, or a refused statement.
  bool tampered = false;
  // That, or a missing or unreadable checkpoint: the first one, in words; else empty.
  std::string damage;
  // The first place searched for a checkpoint, if none was found at any place; else empty.
  std::string looked;
};

// Files without a recorded place are "not_kept"; those of a tracker's model are left out.
// Statements: RUN.verdict.intoto.jsonl, FILE.intoto.jsonl and FILE.sigstore.json beside each file
// that is there, and the first of these in `signatures`. Each must fit its file: a verdict on this
// run that matches its record and the history (HoldToHistory), an endorsement of that file's
// recorded content, or a model; anything else is refused. Errors: those of LoadTrustPolicy, and
// not_found for missing folders that were named; faults of a file are in its entry.
Result<HeldFiles> HoldFilesToRecord(const Manifest& manifest, const HeldFilesRequest& request,
                                    WallTime now, EnteredDrills* drills);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_INSIGHT_INCIDENT_HELD_FILES_H_
