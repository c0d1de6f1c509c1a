// What became of a file of signed statements.
#ifndef RHARNESS_HARNESS_TRUST_ATTESTATION_ATTEST_STATE_H_
#define RHARNESS_HARNESS_TRUST_ATTESTATION_ATTEST_STATE_H_

#include <string_view>

namespace rharness {

enum class AttestState {
  kWritten,         // there was none for this statement
  kSignatureAdded,  // the same statement existed, without this key's signature
  kUnchanged,       // with it
};
std::string_view AttestStateName(AttestState state);   // "written", "signature_added", "unchanged"
std::string_view AttestStateWords(AttestState state);  // the same, for people: "signature added"

}  // namespace rharness

#endif  // RHARNESS_HARNESS_TRUST_ATTESTATION_ATTEST_STATE_H_
