// Are the files of a run still the ones that were recorded, and who has signed for them?
//
// Role: reads and hashes files; writes nothing. Whether an unsigned file is enough is not decided
// here.
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
  // A checkpoint that is not the recorded one, or a statement that is refused.
  bool tampered = false;
  // That, or a checkpoint that is gone or cannot be read: what of it first, in words; else empty.
  std::string damage;
  // There is a place where a checkpoint was looked for, and none of them was there: the first such
  // place; else empty.
  std::string looked;
};

// Files that the record says nothing of the place of are "not_kept"; those of a tracker's model are
// left out. Statements: RUN.verdict.intoto.jsonl, FILE.intoto.jsonl and FILE.sigstore.json beside
// each file that is there, and the first of these in `signatures`. Each must say what such a file
// is for: a verdict on this run as its record and the history have it (HoldToHistory), that the
// recorded content of that file is answered for, or is a model; anything else is refused. Errors:
// those of LoadTrustPolicy, and not_found for folders that were named and are not there; what
// befalls a file is told in it.
Result<HeldFiles> HoldFilesToRecord(const Manifest& manifest, const HeldFilesRequest& request,
                                    WallTime now, EnteredDrills* drills);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_INSIGHT_INCIDENT_HELD_FILES_H_
