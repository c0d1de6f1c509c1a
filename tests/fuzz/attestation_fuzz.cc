// Fuzzes envelopes, statements of verdicts and trust policies: no crash, no undefined behaviour,
// errors of the promised kind, and what is accepted is written and read back as the same.
//
// The first byte says which of the three the rest is.
// Run: rharness-attestation-fuzz -max_total_time=90 CORPUS attestation_seeds
#include "harness/attestation/envelope.h"
#include "harness/attestation/trust.h"
#include "harness/attestation/verdict_statement.h"
#include "tests/fuzz/fuzz_check.h"

namespace rharness {
namespace {

void CheckEnvelope(std::string_view text) {
  const auto envelope = ParseEnvelope(text, "fuzz");
  if (!envelope.ok()) return RequireError(envelope.error(), {ErrorCode::kIntegrity}, "fuzz");
  Require(!envelope->signatures.empty() && envelope->signatures.size() <= kMostSignatures);
  const auto again = ParseEnvelope(WriteEnvelope(*envelope), "again");
  Require(again.ok() && again->payload == envelope->payload);
  Require(WriteEnvelope(*again) == WriteEnvelope(*envelope));
}

void CheckStatement(std::string_view text) {
  const auto statement = ParseStatement(text, "fuzz");
  if (!statement.ok()) return RequireError(statement.error(), {ErrorCode::kIntegrity}, "fuzz");
  const auto verdict = ReadVerdictStatement(*statement, "fuzz");
  if (!verdict.ok()) return RequireError(verdict.error(), {ErrorCode::kIntegrity}, "fuzz");
  const std::string written = ToJson(VerdictStatement(*verdict)).Dump();
  const auto read = ParseStatement(written, "again");
  Require(read.ok());
  const auto again = ReadVerdictStatement(*read, "again");
  Require(again.ok() && ToJson(VerdictStatement(*again)).Dump() == written);
}

void CheckTrust(std::string_view text) {
  const auto policy = ParseTrustPolicy(text, "fuzz");
  if (!policy.ok()) return RequireError(policy.error(), {ErrorCode::kInvalidInput}, "fuzz");
  Require(!policy->keys.empty() && !policy->rules.empty());
  for (const TrustRule& rule : policy->rules) {
    Require(rule.threshold >= 1 && rule.threshold <= rule.keys.size());
    for (const std::size_t key : rule.keys) Require(key < policy->keys.size());
  }
}

}  // namespace
}  // namespace rharness

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = rharness::TextOf(data, size);
  if (text.empty()) return 0;
  if (text[0] == 'e') rharness::CheckEnvelope(text.substr(1));
  if (text[0] == 's') rharness::CheckStatement(text.substr(1));
  if (text[0] == 't') rharness::CheckTrust(text.substr(1));
  return 0;
}
