// Endorsements as JSON, and the bundle beside the file.
#include "harness/trust/attestation/endorsement.h"

#include <fmt/format.h>

#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "harness/base/digest.h"
#include "harness/base/files.h"
#include "harness/base/folder_lock.h"
#include "harness/base/strict_member_reader.h"
#include "harness/trust/attestation/approval_members.h"
#include "harness/trust/attestation/envelope.h"
#include "reports/text.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

Result<std::string> ReadBundle(const fs::path& bundle) {
  std::error_code error;
  if (!fs::exists(fs::symlink_status(bundle, error))) return std::string();
  return ReadFile(bundle, kMostEndorsementsBytes);
}

struct EndorsedLine {
  std::string_view text;
  SignedEnvelope envelope;
  Endorsement said;
  std::string where;  // FILE:LINE
};

Result<EndorsedLine> ReadLine(std::string_view text, const std::string& where) {
  ASSIGN_OR_RETURN(SignedEnvelope envelope, ParseEnvelope(text, where));
  ASSIGN_OR_RETURN(const SignedStatement statement, ParseStatement(envelope.payload, where));
  ASSIGN_OR_RETURN(Endorsement said, ReadEndorsement(statement, where));
  return EndorsedLine{text, std::move(envelope), std::move(said), where};
}

Result<std::vector<EndorsedLine>> ReadLines(std::string_view text, const fs::path& bundle) {
  std::vector<EndorsedLine> lines;
  for (const auto& [number, line] : EnvelopeLines(text)) {
    const std::string where = fmt::format("{}:{}", bundle.string(), number);
    auto one = ReadLine(line, where);
    if (!one.ok()) {
      return Error{one.error().code,
                   fmt::format("is no signed statement about a file, perhaps half of one; remove "
                               "that line, or put back the file as it was ({})",
                               one.error().message),
                   where};
    }
    lines.push_back(std::move(*one));
  }
  return lines;
}

// The line by which another content of this name was signed last; null: none.
const EndorsedLine* OtherSigned(const SignedSubject& file, const std::vector<EndorsedLine>& lines) {
  const EndorsedLine* last = nullptr;
  for (const EndorsedLine& line : lines) {
    const bool other = line.said.file.name == file.name && line.said.file.sha256 != file.sha256;
    if (other && (last == nullptr || last->said.made < line.said.made)) last = &line;
  }
  return last;
}

// Whoever can write to the file can add a line of any date.
Error IsOlderThan(const EndorsedLine& other, WallTime now) {
  std::string keys;
  for (const EnvelopeSignature& one : other.envelope.signatures) {
    keys += (keys.empty() ? "" : ", ") + TerminalSafe(one.key_id.substr(0, 200));
  }
  return InvalidInput(
      fmt::format("another content was signed on {} by key {}, and it is {} now: by these dates "
                  "this one would be the older; is the clock right? Remove that line if it is not "
                  "yours",
                  FormatTime(other.said.made), keys, FormatTime(now)),
      other.where);
}

Result<std::string> SignedLine(SignedEnvelope envelope, Signer* signer) {
  RETURN_IF_ERROR(SignEnvelope(signer, &envelope));
  if (envelope.signatures.size() > kMostSignatures) {
    return InvalidInput(
        fmt::format("has {} signatures already, as many as one may have", kMostSignatures));
  }
  return WriteEnvelope(envelope) + "\n";
}

// The bundle's text with the signer's signature for the wanted statement; empty: it exists already.
struct ChangedBundle {
  AttestState state = AttestState::kUnchanged;
  std::string text;
};

Result<ChangedBundle> AddSignature(const Endorsement& wanted, const std::string& held,
                                   const fs::path& bundle, Signer* signer) {
  ASSIGN_OR_RETURN(std::vector<EndorsedLine> lines, ReadLines(held, bundle));
  const EndorsedLine* last = OtherSigned(wanted.file, lines);
  if (last != nullptr && wanted.made < last->said.made) return IsOlderThan(*last, wanted.made);
  const auto other = last == nullptr ? std::nullopt : std::optional(last->said.made);
  const auto is_wanted = [&](const EndorsedLine& line) {
    return line.said.file == wanted.file && line.said.reason == wanted.reason &&
           line.envelope.payload_type == kStatementPayload && !(other && line.said.made < *other);
  };
  ChangedBundle changed;
  for (EndorsedLine& line : lines) {
    const bool same = is_wanted(line);
    if (same && IsSignedBy(line.envelope, signer->public_key())) return ChangedBundle();
    if (same && changed.state == AttestState::kUnchanged) {
      changed.state = AttestState::kSignatureAdded;
      ASSIGN_OR_RETURN(const std::string more, SignedLine(std::move(line.envelope), signer));
      changed.text += more;
    } else {
      changed.text.append(line.text).append("\n");
    }
  }
  if (changed.state == AttestState::kSignatureAdded) return changed;
  changed.state = AttestState::kWritten;
  ASSIGN_OR_RETURN(const std::string more,
                   SignedLine({.payload_type = kStatementPayload,
                               .payload = ToJson(EndorsementStatement(wanted)).Dump(),
                               .signatures = {}},
                              signer));
  changed.text += more;
  return changed;
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
  statement.predicate = StrictWriter::Written(endorsement);
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
  StrictReader::ReadOpen(reader, endorsement);
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
  std::error_code error;
  const fs::path folder = bundle.parent_path();
  const bool made = !folder.empty() && !fs::exists(folder, error);
  ASSIGN_OR_RETURN(const FolderLock lock, FolderLock::Await(folder));
  ASSIGN_OR_RETURN(const std::string held, ReadBundle(bundle));
  const auto changed = AddSignature(wanted, held, bundle, signer);
  if (!changed.ok()) {
    if (made) fs::remove(folder, error);  // where it is empty
    return changed.error();
  }
  if (!changed->text.empty()) RETURN_IF_ERROR(WriteFileAtomic(bundle, changed->text));
  return changed->state;
}

}  // namespace rharness
