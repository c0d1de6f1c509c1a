// Rows of the history to statements with their signatures.
#include "harness/trust/approval/retirement_records.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/base/digest.h"
#include "harness/base/files.h"

namespace rharness {

std::string GatheredStatement::where() const {
  return fmt::format("{} statement {}",
                     rows.front().predicate == kDeletionPredicate ? "deletion" : "retirement",
                     TerminalSafe(sha256.substr(0, 64)));
}

GatheredStatements Gather(std::vector<SignedRecord> rows,
                          const std::vector<SignedRecord>& withdrawals) {
  GatheredStatements by_run;
  for (SignedRecord& row : rows) {
    auto& statements = by_run[row.subject];
    auto at = std::ranges::find(statements, row.statement_sha256, &GatheredStatement::sha256);
    if (at == statements.end()) {
      at = statements.insert(at, {.sha256 = row.statement_sha256, .rows = {}, .withdrawal = {}});
      const auto back =
          std::ranges::find(withdrawals, row.statement_sha256, &SignedRecord::subject);
      if (back != withdrawals.end()) at->withdrawal = *back;
    }
    at->rows.push_back(std::move(row));
  }
  return by_run;
}

Result<SignedEnvelope> Combine(const GatheredStatement& gathered) {
  const std::string where = gathered.where();
  SignedEnvelope all;
  for (const SignedRecord& row : gathered.rows) {
    ASSIGN_OR_RETURN(SignedEnvelope one, ParseEnvelope(row.envelope, where));
    if (Sha256HexOf(one.payload) != gathered.sha256) {
      return IntegrityError("the history holds another text than was signed", where);
    }
    if (one.signatures.size() != 1 || one.signatures[0].key_id != row.key_id) {
      return IntegrityError("a signature of it is entered under another key", where);
    }
    all.payload_type = std::move(one.payload_type);
    all.payload = std::move(one.payload);
    all.signatures.push_back(std::move(one.signatures[0]));
  }
  return all;
}

Result<Retirement> ReadUnverified(const SignedEnvelope& envelope, const std::string& where) {
  ASSIGN_OR_RETURN(const SignedStatement statement, ParseStatement(envelope.payload, where));
  return ReadRetirement(statement, where);
}

std::string ReasonOfWithdrawal(const GatheredStatement& gathered) {
  if (!gathered.withdrawal) return "";
  const std::string where = gathered.where();
  const auto envelope = ParseEnvelope(gathered.withdrawal->envelope, where);
  if (!envelope.ok()) return "";
  const auto statement = ParseStatement(envelope->payload, where);
  if (!statement.ok()) return "";
  const auto said = ReadWithdrawal(*statement, where);
  return said.ok() && said->statement.sha256 == gathered.sha256 ? said->reason : "";
}

Status HoldToRun(const Retirement& said, const Manifest& manifest, const std::string& where) {
  if (said.run_id != manifest.run_id || said.family != manifest.family) {
    return IntegrityError(
        fmt::format("was signed for run '{}' of family '{}'; this is '{}' of '{}'",
                    TerminalSafe(said.run_id), TerminalSafe(said.family),
                    TerminalSafe(manifest.run_id), TerminalSafe(manifest.family)),
        where);
  }
  const SignedSubject held = ManifestSubject(manifest);
  if (said.manifest == held) return {};
  return IntegrityError(fmt::format("was signed for the manifest with sha256 {}; the history holds "
                                    "one with {}",
                                    said.manifest.sha256, held.sha256),
                        where);
}

SignedRecord RowOf(const SignedEnvelope& envelope, const EnvelopeSignature& signature,
                   const std::string& subject, const AcceptedKey& key, WallTime now) {
  SignedEnvelope alone{.payload_type = envelope.payload_type,
                       .payload = envelope.payload,
                       .signatures = {signature}};
  const auto statement = ParseStatement(envelope.payload, "statement");
  return {.statement_sha256 = Sha256HexOf(envelope.payload),
          .key_id = signature.key_id,
          .predicate = statement.ok() ? statement->predicate_type : std::string(),
          .subject = subject,
          .signed_by = key.owner,
          .entered = now,
          .envelope = WriteEnvelope(alone)};
}

}  // namespace rharness
