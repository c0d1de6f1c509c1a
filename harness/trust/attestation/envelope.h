// An envelope: bytes, their type, and signatures over both (DSSE v1).
//
// Role: signing and its JSON form; pure except for the signer. statement.h reads the bytes, trust.h
// decides whose signature counts. Source: secure-systems-lab/dsse v1.0.2, protocol.md and
// envelope.md.
#ifndef RHARNESS_HARNESS_TRUST_ATTESTATION_ENVELOPE_H_
#define RHARNESS_HARNESS_TRUST_ATTESTATION_ENVELOPE_H_

#include <string>
#include <string_view>
#include <vector>

#include "harness/base/json.h"
#include "harness/base/result.h"
#include "harness/trust/attestation/signer.h"

namespace rharness {

// "DSSEv1 LEN(type) type LEN(body) body": the signed bytes.
std::string PreAuthEncoding(std::string_view type, std::string_view body);

struct EnvelopeSignature {
  std::string key_id;  // an unverified hint; may be empty
  std::string bytes;
};

struct SignedEnvelope {
  std::string payload_type;
  std::string payload;  // decoded
  std::vector<EnvelopeSignature> signatures;
};

inline constexpr std::size_t kMostEnvelopeBytes = std::size_t{16} << 20;
inline constexpr std::size_t kMostSignatures = 32;

// One envelope of JSON. Unknown members are ignored, as specified. Errors: integrity for an invalid
// envelope: no JSON, repeated, missing or mistyped members, base 64 with other characters, no
// signature, more bytes or signatures than above. `where` names it.
Result<SignedEnvelope> ParseEnvelope(std::string_view text, std::string_view where);
// Of a value in a document, at `path` in it. Errors: those, but of code invalid_input.
Result<SignedEnvelope> ReadEnvelope(const Json& json, std::string_view where,
                                    std::string_view path);
Json EnvelopeJson(const SignedEnvelope& envelope);
// One line.
std::string WriteEnvelope(const SignedEnvelope& envelope);

// Of a file with one per line: the lines by their numbers, from 1; without blank ones.
struct EnvelopeLine {
  int number = 0;
  std::string_view text;  // in what was given
};
std::vector<EnvelopeLine> EnvelopeLines(std::string_view text);

// Adds the signer's signature, checked with its public key. Errors: the signer's; internal if it
// signs with another key than stated.
Status SignEnvelope(Signer* signer, SignedEnvelope* envelope);
// Whether one of the signatures is that key's.
bool IsSignedBy(const SignedEnvelope& envelope, const PublicKey& key);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_TRUST_ATTESTATION_ENVELOPE_H_
