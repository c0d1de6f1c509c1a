// The encoding that is signed, and envelopes as JSON.
#include "harness/trust/attestation/envelope.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "harness/base/base64.h"
#include "harness/base/json_reader.h"

namespace rharness {
namespace {

std::string ReadBase64(JsonReader& reader, std::string_view key) {
  std::string text;
  reader.Read(key, &text);
  if (!reader.ok()) return "";
  auto bytes = FromBase64Text(text);
  if (!bytes || bytes->empty()) {
    reader.Fail("is no base 64 of at least one byte, in the standard or the URL-safe alphabet",
                key);
    return "";
  }
  return std::move(*bytes);
}

}  // namespace

std::string PreAuthEncoding(std::string_view type, std::string_view body) {
  return fmt::format("DSSEv1 {} {} {} {}", type.size(), type, body.size(), body);
}

Result<SignedEnvelope> ReadEnvelope(const Json& json, std::string_view where,
                                    std::string_view path) {
  JsonReader reader(json, std::string(where), std::string(path));
  SignedEnvelope envelope;
  reader.Read("payloadType", &envelope.payload_type);
  envelope.payload = ReadBase64(reader, "payload");
  const Json* list = json.Find("signatures");
  if (list == nullptr || !list->IsArray() || list->AsArray().empty()) {
    reader.Fail("expected a list of at least one signature", "signatures");
  } else if (list->AsArray().size() > kMostSignatures) {
    reader.Fail(
        fmt::format("{} signatures; expected at most {}", list->AsArray().size(), kMostSignatures),
        "signatures");
  }
  if (reader.ok()) {
    reader.ForEach("signatures", [&](JsonReader& one) {
      EnvelopeSignature& signature = envelope.signatures.emplace_back();
      one.ReadOptional("keyid", &signature.key_id);
      signature.bytes = ReadBase64(one, "sig");
    });
  }
  RETURN_IF_ERROR(reader.status());
  return envelope;
}

Result<SignedEnvelope> ParseEnvelope(std::string_view text, std::string_view where) {
  const auto fail = [&](const Error& error) {
    return IntegrityError("is no envelope: " + error.message, error.where);
  };
  if (text.size() > kMostEnvelopeBytes) {
    return IntegrityError(fmt::format("is no envelope: {} bytes; expected at most {}", text.size(),
                                      kMostEnvelopeBytes),
                          std::string(where));
  }
  const auto json = ParseJson(text, where);
  if (!json.ok()) return fail(json.error());
  auto envelope = ReadEnvelope(*json, where, "$");
  if (!envelope.ok()) return fail(envelope.error());
  return envelope;
}

Json EnvelopeJson(const SignedEnvelope& envelope) {
  Json signatures = Json::MakeArray();
  for (const EnvelopeSignature& one : envelope.signatures) {
    signatures.Append(Json::MakeObject({{"keyid", one.key_id}, {"sig", ToBase64Text(one.bytes)}}));
  }
  return Json::MakeObject({{"payload", ToBase64Text(envelope.payload)},
                           {"payloadType", envelope.payload_type},
                           {"signatures", std::move(signatures)}});
}

std::vector<EnvelopeLine> EnvelopeLines(std::string_view text) {
  std::vector<EnvelopeLine> lines;
  for (int number = 1; !text.empty(); ++number) {
    const auto end = text.find('\n');
    const std::string_view one = text.substr(0, end);
    text = end == text.npos ? std::string_view() : text.substr(end + 1);
    if (one.find_first_not_of(" \t\r") != one.npos) lines.push_back({number, one});
  }
  return lines;
}

std::string WriteEnvelope(const SignedEnvelope& envelope) { return EnvelopeJson(envelope).Dump(); }

Status SignEnvelope(Signer* signer, SignedEnvelope* envelope) {
  const std::string bytes = PreAuthEncoding(envelope->payload_type, envelope->payload);
  ASSIGN_OR_RETURN(std::string signature, signer->Sign(bytes));
  if (!signer->public_key().Verifies(bytes, signature)) {
    return InternalError("the signer's own public key does not verify what it signed");
  }
  envelope->signatures.push_back({signer->public_key().id(), std::move(signature)});
  return {};
}

bool IsSignedBy(const SignedEnvelope& envelope, const PublicKey& key) {
  const std::string bytes = PreAuthEncoding(envelope.payload_type, envelope.payload);
  return std::ranges::any_of(envelope.signatures, [&](const EnvelopeSignature& one) {
    return key.Verifies(bytes, one.bytes);
  });
}

}  // namespace rharness
