// Finds the signed statements that are valid for a file as it is now.
//
// Role: after verification.h, which decides whose signatures count. A bundle beside a file has a
// line for each endorsed content; only those of the newest content are valid.
#ifndef RHARNESS_HARNESS_TRUST_ATTESTATION_ENDORSED_FILE_H_
#define RHARNESS_HARNESS_TRUST_ATTESTATION_ENDORSED_FILE_H_

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/clock.h"
#include "harness/base/result.h"
#include "harness/trust/attestation/verification.h"

namespace rharness {

// A different content of the same name was signed later than this one, by their stated times. Of
// two contents of one time, to the millisecond, neither is older.
bool IsOlder(const Endorsement& one, const std::vector<Verified>& all);

// The lines for this content that are not older; `where`: the file. Errors: integrity if no line is
// for this name and content, and if those lines are for an older content, with both dates.
Result<std::vector<std::size_t>> HoldingLines(const SignedSubject& file,
                                              const std::vector<Verified>& lines,
                                              const std::string& where);

// The endorsement of the file as it is in FILE.intoto.jsonl: the newest valid line, signed by the
// keys of all valid ones. Lines that no key of the policy signed as required are ignored: a line of
// a key that left the policy must not close a gate. Errors: not_found, io; integrity if there is no
// such bundle, no valid line, or an older content is back.
Result<Verified> VerifyEndorsed(const std::filesystem::path& file, const TrustPolicy& policy,
                                WallTime now);

// The same for a file of this name and content, with this bundle; reads only that file. `where`:
// the file.
Result<Verified> VerifyEndorsedBy(const std::filesystem::path& bundle, const SignedSubject& file,
                                  const std::string& where, const TrustPolicy& policy,
                                  WallTime now);

// A file's text as its signers endorsed it: the bytes read are the signed ones.
struct EndorsedText {
  std::string text;
  Verified endorsed;
};
// Errors: those of VerifyEndorsed and of reading `most_bytes` at most; integrity if the file
// changed meanwhile.
Result<EndorsedText> ReadEndorsed(const std::filesystem::path& file, const TrustPolicy& policy,
                                  WallTime now, std::uint64_t most_bytes);

// "Ada and Bob": the owners of the signing keys, each person once.
std::string OwnersOf(const Verified& endorsed);
// Whether this plain-text name is the owner of one of these keys.
bool IsSignedBy(const Verified& endorsed, std::string_view name);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_TRUST_ATTESTATION_ENDORSED_FILE_H_
