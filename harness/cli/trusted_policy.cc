// Policies and who signed them.
#include "harness/cli/trusted_policy.h"

#include <fmt/format.h>

#include "harness/base/files.h"
#include "harness/base/log.h"
#include "harness/trust/attestation/endorsed_file.h"

namespace rharness {
namespace {

constexpr std::uint64_t kMostPolicyFile = 1 << 20;  // as ParsePolicy takes

Status CheckSigner(const Verified& endorsed, const std::string& what, const std::string& signed_by,
                   const std::string& where) {
  if (IsSignedBy(endorsed, signed_by)) return {};
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
  ASSIGN_OR_RETURN(const EndorsedText read, ReadEndorsed(path, trust, now, kMostPolicyFile));
  ASSIGN_OR_RETURN(Policy policy, ParsePolicy(read.text, path));
  RETURN_IF_ERROR(HoldToSigners(read.endorsed, path, now, &policy));
  LogInfo(TerminalSafe(fmt::format("{} is signed by {}", path, OwnersOf(read.endorsed))));
  return policy;
}

}  // namespace rharness
