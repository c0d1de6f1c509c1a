// Is this verdict what its keys signed, may these keys sign it, and are the files the ones it
// speaks of?
//
// Role: what decides; pure but for the files that subjects are held to. Every doubt is an error of
// code integrity, in this order: the envelope, its signatures, the payload's type, the statement,
// the verdict, the rule, the files. Nothing of a payload is read before a key of the policy has
// signed it.
#ifndef RHARNESS_HARNESS_ATTESTATION_VERIFICATION_H_
#define RHARNESS_HARNESS_ATTESTATION_VERIFICATION_H_

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "harness/attestation/trust.h"
#include "harness/attestation/verdict_statement.h"
#include "harness/base/clock.h"
#include "harness/base/result.h"

namespace rharness {

struct AcceptedKey {
  std::string name;
  std::string owner;
  std::string id;
};

struct VerifiedVerdict {
  AttestedVerdict verdict;
  std::vector<AcceptedKey> signed_by;  // that count for the rule, each once; the policy's order
  std::size_t threshold = 1;           // how many the rule asks for
};

// Of one envelope. `now`: a verdict of a later time, by more than ten minutes, is refused.
Result<VerifiedVerdict> VerifyVerdict(std::string_view envelope, std::string_view where,
                                      const TrustPolicy& policy, WallTime now);

// Of a file: one envelope, or of a *.jsonl one a line; blank lines are none. Every line must hold:
// a line that says nothing to us would be a line that nobody signed. The first that does not is the
// error, its line in `where`. Errors: those; not_found, io; integrity for a file without any.
Result<std::vector<VerifiedVerdict>> VerifyFile(const std::filesystem::path& path,
                                                const TrustPolicy& policy, WallTime now);

// The attestations below a folder, by path: *.intoto.jsonl, and *.json that say that they are
// envelopes. A file is itself, whatever its name. Links are not followed. Errors: not_found, also
// for a folder without any; io.
Result<std::vector<std::filesystem::path>> FindAttestations(const std::filesystem::path& path);

struct HeldSubjects {
  std::size_t held = 0;  // files that have the signed content
};
// Every checkpoint of the verdict must lie below `folder` at its name, with the signed content, and
// the manifest must where it is there at all. Of a single file: it must be one of the subjects, by
// its content alone. Errors: integrity, which names the subject; io.
Result<HeldSubjects> HoldToFiles(const AttestedVerdict& verdict,
                                 const std::filesystem::path& folder_or_file);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_ATTESTATION_VERIFICATION_H_
