// Which of what was signed for a file holds for it as it is now.
//
// Role: after verification.h, which says whose signatures count. A bundle beside a file has a line
// for each content that somebody answered for; only those of the newest content hold.
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

// Another content of the same name was signed later than this one, by what these say. Of two
// contents of one time, to the millisecond, neither is older.
bool IsOlder(const Endorsement& one, const std::vector<Verified>& all);

// The lines for this content that are not older; `where`: the file. Errors: integrity where no line
// is for this name and content, and where those that are speak of an older content, with both
// dates.
Result<std::vector<std::size_t>> HoldingLines(const SignedSubject& file,
                                              const std::vector<Verified>& lines,
                                              const std::string& where);

// What FILE.intoto.jsonl says of the file as it is: the newest line that holds, signed by the keys
// of all that do. Lines that no key of the policy signed as it asks count for nothing: one of a key
// that has left the policy is no reason to close a gate. Errors: not_found, io; integrity where
// there is no such bundle, no line that holds, or an older content is back.
Result<Verified> VerifyEndorsed(const std::filesystem::path& file, const TrustPolicy& policy,
                                WallTime now);

// The same of a file of this name and content, with this bundle; no file is read but that.
// `where`: the file.
Result<Verified> VerifyEndorsedBy(const std::filesystem::path& bundle, const SignedSubject& file,
                                  const std::string& where, const TrustPolicy& policy,
                                  WallTime now);

// A file as its signers answer for it: what was read is what they signed.
struct EndorsedText {
  std::string text;
  Verified endorsed;
};
// Errors: those of VerifyEndorsed and of reading `most_bytes` at most; integrity where the file was
// changed meanwhile.
Result<EndorsedText> ReadEndorsed(const std::filesystem::path& file, const TrustPolicy& policy,
                                  WallTime now, std::uint64_t most_bytes);

// "Ada and Bob": whose keys signed it, each person once.
std::string OwnersOf(const Verified& endorsed);
// Whether this name, in plain text, is the owner of one of these keys.
bool IsSignedBy(const Verified& endorsed, std::string_view name);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_TRUST_ATTESTATION_ENDORSED_FILE_H_
