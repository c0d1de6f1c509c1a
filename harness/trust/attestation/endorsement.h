// A signed endorsement of a file: predicate "urn:rharness:endorsement:v1".
//
// Role: for files that people write and programs trust: a policy with its waivers and substitutes,
// the record of accepted baselines. The statement lies beside the file, as FILE.intoto.jsonl.
// verification.h decides whether its keys count.
#ifndef RHARNESS_HARNESS_TRUST_ATTESTATION_ENDORSEMENT_H_
#define RHARNESS_HARNESS_TRUST_ATTESTATION_ENDORSEMENT_H_

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "harness/base/clock.h"
#include "harness/base/result.h"
#include "harness/trust/attestation/attest_state.h"
#include "harness/trust/attestation/signer.h"
#include "harness/trust/attestation/statement.h"

namespace rharness {

inline constexpr char kEndorsementPredicate[] = "urn:rharness:endorsement:v1";

struct Endorsement {
  SignedSubject file;  // by its name alone
  std::string reason;  // in words; may be empty
  WallTime made{};     // by the first signer
};

SignedStatement EndorsementStatement(const Endorsement& endorsement);
// Errors: integrity for another predicate type, another number of subjects than one, missing or
// mistyped members.
Result<Endorsement> ReadEndorsement(const SignedStatement& statement, std::string_view where);

inline constexpr std::uint64_t kMostEndorsementsBytes = std::uint64_t{64} << 20;

// "FILE.intoto.jsonl". Source: in-toto/attestation, spec/v1/bundle.md.
std::filesystem::path EndorsementPath(const std::filesystem::path& file);

// Adds a line for the file as it is now to `bundle`, or the signer's signature to the existing line
// for this content and reason, if no other content was signed since. Lines for older contents stay.
// Concurrent signers wait. Errors: not_found, io, invalid_input (no regular file, another content
// signed after `now`); integrity if the bundle holds something else; the signer's.
Result<AttestState> EndorseFile(const std::filesystem::path& file,
                                const std::filesystem::path& bundle, const std::string& reason,
                                WallTime now, Signer* signer);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_TRUST_ATTESTATION_ENDORSEMENT_H_
