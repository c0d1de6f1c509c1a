// Checks that the files of a statement are the signed ones.
//
// Role: after verification.h, which verifies the statement.
#ifndef RHARNESS_HARNESS_TRUST_ATTESTATION_HELD_SUBJECTS_H_
#define RHARNESS_HARNESS_TRUST_ATTESTATION_HELD_SUBJECTS_H_

#include <cstddef>
#include <filesystem>
#include <vector>

#include "harness/base/result.h"
#include "harness/trust/attestation/verification.h"

namespace rharness {

struct HeldSubjects {
  std::size_t held = 0;   // files that have the signed content
  bool manifest = false;  // a verdict's manifest is one of them: run and family match it
};
// Every checkpoint of a verdict, and the file of an endorsement, must lie below `folder` at its
// name, with the signed content, and so must a verdict's manifest if present; it must then pass
// HoldToManifest. A single file must be one of the subjects, by its content alone. For a model see
// HoldModel. Errors: integrity, with the subject; io.
Result<HeldSubjects> HoldToFiles(const Verified& verified,
                                 const std::filesystem::path& folder_or_file);
// For all endorsements among these lines of one bundle: for each name in them the file there must
// pass HoldingLines. Errors: those; integrity for a missing file; io.
Result<HeldSubjects> HoldEndorsements(const std::vector<Verified>& lines,
                                      const std::filesystem::path& folder_or_file);
// HoldTensors for a model. Errors: those; integrity for a statement about something else.
Status HoldToTensors(const Verified& verified, const std::filesystem::path& checkpoint);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_TRUST_ATTESTATION_HELD_SUBJECTS_H_
