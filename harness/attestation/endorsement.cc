// Endorsements as JSON, and the bundle beside the file.
#include "harness/attestation/endorsement.h"

#include <fmt/format.h>

#include <system_error>
#include <utility>

#include "harness/attestation/envelope.h"
#include "harness/base/digest.h"
#include "harness/base/files.h"
#include "harness/manifest/fields.h"
#include "reports/text.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMostBundleBytes = std::uint64_t{64} << 20;

Result<std::string> ReadBundle(const fs::path& bundle) {
  std::error_code error;
  if (!fs::exists(fs::symlink_status(bundle, error))) return std::string();
  return ReadFile(bundle, kMostBundleBytes);
}

// The envelope of one line, where it is of this content and reason; empty: of another one.
Result<std::optional<SignedEnvelope>> EnvelopeFor(const Endorsement& wanted, std::string_view line,
                                                  const std::string& where) {
  ASSIGN_OR_RETURN(SignedEnvelope envelope, ParseEnvelope(line, where));
  ASSIGN_OR_RETURN(const SignedStatement statement, ParseStatement(envelope.payload, where));
  ASSIGN_OR_RETURN(const Endorsement held, ReadEndorsement(statement, where));
  const bool same = held.file == wanted.file && held.reason == wanted.reason &&
                    envelope.payload_type == kStatementPayload;
  return same ? std::optional<SignedEnvelope>(std::move(envelope)) : std::nullopt;
}

Result<std::string> SignedLine(SignedEnvelope envelope, Signer* signer) {
  RETURN_IF_ERROR(SignEnvelope(signer, &envelope));
  if (envelope.signatures.size() > kMostSignatures) {
    return InvalidInput(
        fmt::format("has {} signatures already, as many as one may have", kMostSignatures));
  }
  return WriteEnvelope(envelope) + "\n";
}

}  // namespace

std::string_view AttestStateName(AttestState state) {
  switch (state) {
    case AttestState::kWritten:
      return "written";
    case AttestState::kSignatureAdded:
      return "signature_added";
    case AttestState::kUnchanged:
      return "unchanged";
  }
  Abort("no such state of an attestation");
}

std::string_view AttestStateWords(AttestState state) {
  return state == AttestState::kSignatureAdded ? "signature added" : AttestStateName(state);
}

SignedStatement EndorsementStatement(const Endorsement& endorsement) {
  SignedStatement statement;
  statement.subjects = {endorsement.file};
  statement.predicate_type = kEndorsementPredicate;
  statement.predicate =
      Json::MakeObject({{"made", FormatTime(endorsement.made)}, {"reason", endorsement.reason}});
  return statement;
}

Result<Endorsement> ReadEndorsement(const SignedStatement& statement, std::string_view where) {
  const std::string place(where);
  if (statement.predicate_type != kEndorsementPredicate || statement.subjects.size() != 1) {
    return IntegrityError(
        fmt::format("{} subjects of '{}'; expected one of {}", statement.subjects.size(),
                    TerminalSafe(statement.predicate_type.substr(0, 200)), kEndorsementPredicate),
        place);
  }
  Endorsement endorsement;
  endorsement.file = statement.subjects[0];
  JsonReader reader(statement.predicate, place, "$.predicate");
  ReadTime(reader, "made", Presence::kRequired, &endorsement.made);
  reader.ReadOptional("reason", &endorsement.reason);
  if (reader.ok()) return endorsement;
  const Status status = reader.status();
  return IntegrityError("is no endorsement: " + status.error().message, status.error().where);
}

fs::path EndorsementPath(const fs::path& file) { return file.native() + ".intoto.jsonl"; }

Result<AttestState> EndorseFile(const fs::path& file, const fs::path& bundle,
                                const std::string& reason, WallTime now, Signer* signer) {
  ASSIGN_OR_RETURN(const FileDigest digest, HashFile(file));
  const Endorsement wanted{
      .file = {file.filename().string(), digest.sha256}, .reason = SafeText(reason), .made = now};
  ASSIGN_OR_RETURN(const std::string held, ReadBundle(bundle));
  std::string text;
  std::optional<AttestState> state;
  std::string_view rest = held;
  for (int line = 1; !rest.empty(); ++line) {
    const auto end = rest.find('\n');
    const std::string_view one = rest.substr(0, end);
    rest = end == rest.npos ? std::string_view() : rest.substr(end + 1);
    if (one.find_first_not_of(" \t\r") == one.npos) continue;
    ASSIGN_OR_RETURN(auto same,
                     EnvelopeFor(wanted, one, fmt::format("{}:{}", bundle.string(), line)));
    if (same && IsSignedBy(*same, signer->public_key())) return AttestState::kUnchanged;
    if (same && !state) {
      state = AttestState::kSignatureAdded;
      ASSIGN_OR_RETURN(const std::string more, SignedLine(std::move(*same), signer));
      text += more;
    } else {
      text.append(one).append("\n");
    }
  }
  if (!state) {
    state = AttestState::kWritten;
    ASSIGN_OR_RETURN(const std::string more,
                     SignedLine({.payload_type = kStatementPayload,
                                 .payload = ToJson(EndorsementStatement(wanted)).Dump(),
                                 .signatures = {}},
                                signer));
    text += more;
  }
  RETURN_IF_ERROR(WriteFileAtomic(bundle, text));
  return *state;
}

}  // namespace rharness
