// Checks a signed verdict against the run's record and against the history of the drill.
//
// Role: after verification.h, which verifies the statement: its signer names run and family, and
// the family chooses the rule, so both are checked against the record here, if there is one. Pure
// except for queries of the history.
#ifndef RHARNESS_HARNESS_TRUST_ATTESTATION_HELD_VERDICT_H_
#define RHARNESS_HARNESS_TRUST_ATTESTATION_HELD_VERDICT_H_

#include <string>

#include "harness/base/result.h"
#include "harness/history/entered_drill.h"
#include "harness/records/manifest/manifest.h"
#include "harness/trust/attestation/verdict_statement.h"

namespace rharness {

// Run, family and manifest must be the record's, which has this SHA-256, and every signed
// checkpoint must be one of the record. Errors: integrity, at `where`.
Status HoldToManifest(const AttestedVerdict& said, const Manifest& manifest,
                      const std::string& sha256, const std::string& where);

struct HeldVerdict {
  std::string drill_id;     // in the history: "ID", or "ID.2" for a resumed one
  bool superseded = false;  // the drill's first verdict, replaced when it was resumed
};
// Checked against the manifest in the history; then its drill must have this verdict on the run, at
// this time, in the history. Errors: integrity, at `where`, also if the history has no verdict of
// that drill on the run; those of the history.
Result<HeldVerdict> HoldToHistory(const AttestedVerdict& said, const Manifest& manifest,
                                  EnteredDrills* drills, const std::string& where);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_TRUST_ATTESTATION_HELD_VERDICT_H_
