// Lines of a bundle, by name, content and time.
#include "harness/trust/attestation/endorsed_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <system_error>
#include <utility>

#include "harness/base/digest.h"
#include "harness/base/files.h"
#include "harness/trust/attestation/envelope.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

// The latest endorsement of this name.
const Endorsement* NewestOf(const std::string& name, const std::vector<Verified>& lines) {
  const Endorsement* newest = nullptr;
  for (const Verified& line : lines) {
    const Endorsement* one = line.endorsement();
    if (one == nullptr || one->file.name != name) continue;
    if (newest == nullptr || newest->made < one->made) newest = one;
  }
  return newest;
}

// Signed by whoever signed either, each key once.
void AddSigners(const Verified& from, Verified* to) {
  for (const AcceptedKey& key : from.signed_by) {
    const bool known =
        std::ranges::find(to->signed_by, key.id, &AcceptedKey::id) != to->signed_by.end();
    if (!known) to->signed_by.push_back(key);
  }
}

}  // namespace

bool IsOlder(const Endorsement& one, const std::vector<Verified>& all) {
  return std::ranges::any_of(all, [&](const Verified& line) {
    const Endorsement* other = line.endorsement();
    return other != nullptr && other->file.name == one.file.name &&
           other->file.sha256 != one.file.sha256 && one.made < other->made;
  });
}

Result<std::vector<std::size_t>> HoldingLines(const SignedSubject& file,
                                              const std::vector<Verified>& lines,
                                              const std::string& where) {
  std::vector<std::size_t> holding;
  const Endorsement* older = nullptr;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const Endorsement* one = lines[i].endorsement();
    if (one == nullptr || one->file != file) continue;
    if (!IsOlder(*one, lines)) {
      holding.push_back(i);
    } else if (older == nullptr || older->made < one->made) {
      older = one;
    }
  }
  if (!holding.empty()) return holding;
  if (older != nullptr) {
    return IntegrityError(
        fmt::format("is an older content, signed on {}; the newest was signed on {} and has sha256 "
                    "{}; who wants this one again signs it again",
                    FormatTime(older->made), FormatTime(NewestOf(file.name, lines)->made),
                    NewestOf(file.name, lines)->file.sha256),
        where);
  }
  for (const Verified& line : lines) {
    const Endorsement* said = line.endorsement();
    if (said == nullptr || said->file.sha256 != file.sha256) continue;
    return IntegrityError(
        fmt::format("was signed as '{}', with this content: what is signed is of a name, too, and "
                    "holds for no file that is called '{}'",
                    TerminalSafe(said->file.name), TerminalSafe(file.name)),
        where);
  }
  return IntegrityError(
      fmt::format("has sha256 {}, which under this name is not what was signed", file.sha256),
      where);
}

Result<Verified> VerifyEndorsed(const fs::path& file, const TrustPolicy& policy, WallTime now) {
  const fs::path bundle = EndorsementPath(file);
  std::error_code error;
  if (!fs::exists(fs::symlink_status(bundle, error))) {
    return IntegrityError(fmt::format("nobody has signed it: there is no {}; `rharness sign "
                                      "FILE --key KEY` makes one",
                                      bundle.string()),
                          file.string());
  }
  ASSIGN_OR_RETURN(const FileDigest digest, HashFile(file));
  return VerifyEndorsedBy(bundle, {file.filename().string(), digest.sha256}, file.string(), policy,
                          now);
}

Result<Verified> VerifyEndorsedBy(const fs::path& bundle, const SignedSubject& file,
                                  const std::string& where, const TrustPolicy& policy,
                                  WallTime now) {
  ASSIGN_OR_RETURN(const std::string text, ReadFile(bundle, kMostEndorsementsBytes));
  std::vector<Verified> lines;
  std::optional<Error> refused;  // the last one
  for (const auto& [number, line] : EnvelopeLines(text)) {
    auto one = VerifyStatement(line, fmt::format("{}:{}", bundle.string(), number), policy, now);
    if (one.ok()) {
      lines.push_back(std::move(*one));
    } else {
      refused = one.error();
    }
  }
  const auto holding = HoldingLines(file, lines, where);
  if (!holding.ok() && refused) {
    return IntegrityError(fmt::format("{}; of the lines that count for nothing the last is {}",
                                      holding.error().message, refused->ToString()),
                          where);
  }
  if (!holding.ok()) return holding.error();
  const auto newest = std::ranges::max_element(
      *holding, {}, [&](std::size_t at) { return std::pair(lines[at].endorsement()->made, at); });
  Verified verified = lines[*newest];
  for (const std::size_t at : *holding) AddSigners(lines[at], &verified);
  return verified;
}

Result<EndorsedText> ReadEndorsed(const fs::path& file, const TrustPolicy& policy, WallTime now,
                                  std::uint64_t most_bytes) {
  ASSIGN_OR_RETURN(Verified endorsed, VerifyEndorsed(file, policy, now));
  ASSIGN_OR_RETURN(std::string text, ReadFile(file, most_bytes));
  if (Sha256HexOf(text) != endorsed.endorsement()->file.sha256) {
    return IntegrityError("was changed while it was read", file.string());
  }
  return EndorsedText{std::move(text), std::move(endorsed)};
}

std::string OwnersOf(const Verified& endorsed) {
  std::string text;
  std::set<std::string> named;
  for (const AcceptedKey& key : endorsed.signed_by) {
    if (!named.insert(OwnerKey(key.owner)).second) continue;
    text += (text.empty() ? "" : " and ") + key.owner;
  }
  return text;
}

bool IsSignedBy(const Verified& endorsed, std::string_view name) {
  return std::ranges::any_of(endorsed.signed_by, [&](const AcceptedKey& key) {
    return OwnerKey(key.owner) == OwnerKey(name);
  });
}

}  // namespace rharness
