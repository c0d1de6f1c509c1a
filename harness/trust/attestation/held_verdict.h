// Is what was signed of a run what its record says, and what the history says of the drill?
//
// Role: after verification.h, which says that the statement is to be believed: its signer names run
// and family, and the family chooses the rule, so that both are held to the record here, for
// whoever has one. Pure but for what the history is asked.
#ifndef RHARNESS_HARNESS_TRUST_ATTESTATION_HELD_VERDICT_H_
#define RHARNESS_HARNESS_TRUST_ATTESTATION_HELD_VERDICT_H_

#include <string>

#include "harness/base/result.h"
#include "harness/history/entered_drill.h"
#include "harness/records/manifest/manifest.h"
#include "harness/trust/attestation/verdict_statement.h"

namespace rharness {

// The run, the family and the manifest are the record's, whose SHA-256 this is, and every
// checkpoint that was signed for is one of the record. Errors: integrity, at `where`.
Status HoldToManifest(const AttestedVerdict& said, const Manifest& manifest,
                      const std::string& sha256, const std::string& where);

struct HeldVerdict {
  std::string drill_id;     // as the history has it: "ID", or "ID.2" of one that was resumed
  bool superseded = false;  // the drill said so first, and otherwise when it was resumed
};
// Held to the manifest as the history has it; then its drill must have said this of the run, at
// this time, by what the history says. Errors: integrity, at `where`, also where the history has no
// verdict on the run of that drill; those of the history.
Result<HeldVerdict> HoldToHistory(const AttestedVerdict& said, const Manifest& manifest,
                                  EnteredDrills* drills, const std::string& where);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_TRUST_ATTESTATION_HELD_VERDICT_H_
