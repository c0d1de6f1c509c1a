// An envelope: bytes, what they are, and who signed both (DSSE v1).
//
// Role: signing and its JSON form; pure but for the signer. What the bytes say is statement.h's,
// whose signature counts is trust.h's. Source: secure-systems-lab/dsse v1.0.2, protocol.md and
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

// "DSSEv1 LEN(type) type LEN(body) body": the bytes that are signed.
std::string PreAuthEncoding(std::string_view type, std::string_view body);

struct EnvelopeSignature {
  std::string key_id;  // a hint that nobody vouches for; may be empty
  std::string bytes;
};

struct SignedEnvelope {
  std::string payload_type;
  std::string payload;  // decoded
  std::vector<EnvelopeSignature> signatures;
};

inline constexpr std::size_t kMostEnvelopeBytes = std::size_t{16} << 20;
inline constexpr std::size_t kMostSignatures = 32;

// One envelope of JSON. Unknown members are ignored, as the specification has it. Errors: integrity
// for everything that is no envelope: no JSON, members twice, missing or of another type, base 64
// with anything else in it, no signature, more bytes or signatures than above. `where` names it.
Result<SignedEnvelope> ParseEnvelope(std::string_view text, std::string_view where);
// Of a value in a document, at `path` in it. Errors: those, but of code invalid_input.
Result<SignedEnvelope> ReadEnvelope(const Json& json, std::string_view where,
                                    std::string_view path);
Json EnvelopeJson(const SignedEnvelope& envelope);
// One line.
std::string WriteEnvelope(const SignedEnvelope& envelope);

// Of a file with one a line: the lines by their numbers, from 1; blank ones are left out.
struct EnvelopeLine {
  int number = 0;
  std::string_view text;  // in what was given
};
std::vector<EnvelopeLine> EnvelopeLines(std::string_view text);

// Adds the signer's signature, checked with its public key. Errors: the signer's; internal where it
// signs with another key than it says.
Status SignEnvelope(Signer* signer, SignedEnvelope* envelope);
// Whether one of the signatures is that key's.
bool IsSignedBy(const SignedEnvelope& envelope, const PublicKey& key);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_TRUST_ATTESTATION_ENVELOPE_H_
