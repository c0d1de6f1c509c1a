// Are the files that a statement is about the ones that were signed?
//
// Role: after verification.h, which says that the statement is to be believed.
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
  bool manifest = false;  // a verdict's manifest is one of them: run and family are its
};
// Every checkpoint of a verdict, and the file of an endorsement, must lie below `folder` at its
// name, with the signed content, and a verdict's manifest must where it is there at all; it must
// then be what HoldToManifest takes. Of a single file: it must be one of the
// subjects, by its content alone. Of a model: HoldModel's. Errors: integrity, which names the
// subject; io.
Result<HeldSubjects> HoldToFiles(const Verified& verified,
                                 const std::filesystem::path& folder_or_file);
// All endorsements among these lines of one bundle: of each name that they speak of the file there
// must be what HoldingLines takes. Errors: those; integrity for a file that is not there; io.
Result<HeldSubjects> HoldEndorsements(const std::vector<Verified>& lines,
                                      const std::filesystem::path& folder_or_file);
// HoldTensors of a model. Errors: those; integrity for a statement about something else.
Status HoldToTensors(const Verified& verified, const std::filesystem::path& checkpoint);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_TRUST_ATTESTATION_HELD_SUBJECTS_H_
