// Policies and who signed them.
#include "harness/cli/trusted_policy.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/attestation/endorsed_file.h"
#include "harness/base/digest.h"
#include "harness/base/files.h"
#include "harness/base/log.h"

namespace rharness {
namespace {

constexpr std::uint64_t kMostBytes = 1 << 20;

std::string OwnersOf(const Verified& endorsed) {
  std::string text;
  for (const AcceptedKey& key : endorsed.signed_by) {
    text += (text.empty() ? "" : " and ") + key.owner;
  }
  return text;
}

Status CheckSigner(const Verified& endorsed, const std::string& what, const std::string& signed_by,
                   const std::string& where) {
  const bool is_one = std::ranges::any_of(endorsed.signed_by, [&](const AcceptedKey& key) {
    return OwnerKey(key.owner) == OwnerKey(signed_by);
  });
  if (is_one) return {};
  return IntegrityError(
      TerminalSafe(fmt::format("{} is signed_by '{}', who has not signed this file; {} did", what,
                               signed_by, OwnersOf(endorsed))),
      where);
}

}  // namespace

Status HoldToSigners(const Verified& endorsed, const std::string& where, WallTime now,
                     Policy* policy) {
  for (Waiver& one : policy->waivers) {
    if (now >= one.until) continue;
    RETURN_IF_ERROR(
        CheckSigner(endorsed, fmt::format("the waiver of {}", one.probes), one.signed_by, where));
    one.verified = true;
  }
  for (Substitute& one : policy->substitutes) {
    if (one.is_proved() || now >= one.until) continue;
    RETURN_IF_ERROR(CheckSigner(endorsed,
                                fmt::format("the substitute {} for {}", one.here, one.recorded),
                                one.signed_by, where));
    one.verified = true;
  }
  return {};
}

Result<Policy> LoadTrustedPolicy(const std::string& path, const std::string& trust_file,
                                 WallTime now) {
  if (trust_file.empty()) return LoadPolicy(path);
  ASSIGN_OR_RETURN(const TrustPolicy trust, LoadTrustPolicy(trust_file));
  ASSIGN_OR_RETURN(const Verified endorsed, VerifyEndorsed(path, trust, now));
  ASSIGN_OR_RETURN(const std::string text, ReadFile(path, kMostBytes));
  if (Sha256HexOf(text) != endorsed.endorsement()->file.sha256) {
    return IntegrityError("was changed while it was read", path);
  }
  ASSIGN_OR_RETURN(Policy policy, ParsePolicy(text, path));
  RETURN_IF_ERROR(HoldToSigners(endorsed, path, now, &policy));
  LogInfo(TerminalSafe(fmt::format("{} is signed by {}", path, OwnersOf(endorsed))));
  return policy;
}

}  // namespace rharness
