// Fuzzes envelopes, statements of verdicts, trust policies, bundles with the statements of models,
// and statements of approvals: no crash, no undefined behaviour, errors of the promised kind, and
// what is accepted is written and read back as the same.
//
// The first byte says which of them the rest is.
// Run: rharness-attestation-fuzz -max_total_time=90 CORPUS attestation_seeds
#include "harness/trust/attestation/approval_statements.h"
#include "harness/trust/attestation/envelope.h"
#include "harness/trust/attestation/model_bundle.h"
#include "harness/trust/attestation/model_statement.h"
#include "harness/trust/attestation/trust.h"
#include "harness/trust/attestation/verdict_statement.h"
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

void CheckModel(std::string_view text) {
  const auto statement = ParseStatement(text, "fuzz");
  if (!statement.ok()) return RequireError(statement.error(), {ErrorCode::kIntegrity}, "fuzz");
  const auto model = ReadModelStatement(*statement, "fuzz");
  if (!model.ok()) return RequireError(model.error(), {ErrorCode::kIntegrity}, "fuzz");
  for (const ModelResource& one : model->resources) {
    Require(!one.path.empty() && one.path[0] != '/' && one.path.find("..") != 0);
    Require(!IsIgnored(model->serialization, one.path));
  }
  const std::string written = ToJson(ModelStatement(*model)).Dump();
  const auto read = ParseStatement(written, "again");
  Require(read.ok());
  const auto again = ReadModelStatement(*read, "again");
  Require(again.ok() && ToJson(ModelStatement(*again)).Dump() == written);
}

void CheckBundle(std::string_view text) {
  const auto json = ParseJson(text, "fuzz");
  if (!json.ok()) return;
  const auto bundle = ReadBundle(*json, "fuzz");
  if (!bundle.ok()) return RequireError(bundle.error(), {ErrorCode::kIntegrity}, "fuzz");
  Require(IsBundle(*json) && bundle->envelope.signatures.size() == 1);
  CheckModel(bundle->envelope.payload);
}

// A retirement, a withdrawal or a deletion: at most one of the three.
void CheckApproval(std::string_view text) {
  const auto statement = ParseStatement(text, "fuzz");
  if (!statement.ok()) return RequireError(statement.error(), {ErrorCode::kIntegrity}, "fuzz");
  const auto retirement = ReadRetirement(*statement, "fuzz");
  const auto withdrawal = ReadWithdrawal(*statement, "fuzz");
  const auto deletion = ReadDeletion(*statement, "fuzz");
  Require(int{retirement.ok()} + int{withdrawal.ok()} + int{deletion.ok()} <= 1);
  SignedStatement written;
  if (retirement.ok()) written = RetirementStatement(*retirement);
  if (withdrawal.ok()) written = WithdrawalStatement(*withdrawal);
  if (deletion.ok()) written = DeletionStatement(*deletion);
  if (written.predicate_type.empty()) {
    return RequireError(retirement.error(), {ErrorCode::kIntegrity}, "fuzz");
  }
  const auto read = ParseStatement(ToJson(written).Dump(), "again");
  Require(read.ok() && ToJson(*read).Dump() == ToJson(written).Dump());
  Require(!retirement.ok() || ReadRetirement(*read, "again").ok());
  Require(!withdrawal.ok() || ReadWithdrawal(*read, "again").ok());
  Require(!deletion.ok() || ReadDeletion(*read, "again").ok());
}

}  // namespace
}  // namespace rharness

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = rharness::TextOf(data, size);
  if (text.empty()) return 0;
  if (text[0] == 'e') rharness::CheckEnvelope(text.substr(1));
  if (text[0] == 's') rharness::CheckStatement(text.substr(1));
  if (text[0] == 't') rharness::CheckTrust(text.substr(1));
  if (text[0] == 'm') rharness::CheckModel(text.substr(1));
  if (text[0] == 'b') rharness::CheckBundle(text.substr(1));
  if (text[0] == 'a') rharness::CheckApproval(text.substr(1));
  return 0;
}
