// Checks policies for one run and for their signers.
#include "harness/trust/audit/exceptions.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <system_error>

#include "harness/base/files.h"
#include "harness/base/glob.h"
#include "harness/records/policy/known_probes.h"
#include "harness/records/policy/policy.h"
#include "harness/trust/approval/retirement_approval.h"
#include "harness/trust/attestation/approval_statements.h"
#include "harness/trust/attestation/endorsed_file.h"
#include "harness/trust/attestation/endorsement.h"
#include "harness/trust/audit/site_records.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMostPolicyBytes = 1 << 20;

// The signed file, with those of its named people who signed. Errors: integrity.
Result<Policy> ReadSigned(const std::string& file, const TrustPolicy& trust, WallTime now) {
  ASSIGN_OR_RETURN(const EndorsedText read, ReadEndorsed(file, trust, now, kMostPolicyBytes));
  ASSIGN_OR_RETURN(Policy policy, ParsePolicy(read.text, file));
  for (Waiver& one : policy.waivers) one.verified = IsSignedBy(read.endorsed, one.signed_by);
  for (Substitute& one : policy.substitutes) {
    one.verified = IsSignedBy(read.endorsed, one.signed_by);
  }
  return policy;
}

Result<Policy> ReadAsTrusted(const std::string& file, const AnswerRequest& request,
                             AuditReport* report) {
  if (request.trust == nullptr) return LoadPolicy(file);
  const auto note = [&](const std::string& why) {
    report->notes.push_back(fmt::format("{}: {}, so the names in it are plain text", file, why));
  };
  const std::string bundle = EndorsementPath(file).string();
  std::error_code error;
  if (!fs::exists(fs::symlink_status(bundle, error))) {
    note("nobody has signed it");
  } else if (request.trust->FindRule(kEndorsementPredicate, "") == nullptr) {
    note("the trust policy has no rule for what is signed of it");
  } else {
    Result<Policy> policy = ReadSigned(file, *request.trust, request.now);
    if (policy.ok() || policy.error().code != ErrorCode::kIntegrity) return policy;
    report->statements.push_back(
        {.file = bundle, .says = {}, .signed_by = {}, .refused = policy.error().ToString()});
  }
  return LoadPolicy(file);
}

AuditException WaiverException(const Waiver& one, WallTime now) {
  return {.kind = kWaiverKind,
          .about = one.probes,
          .reason = one.reason,
          .signed_by = SignerInWords(one.signed_by, one.verified),
          .until = FormatUntil(one.until),
          .holds = now < one.until};
}

AuditException SubstituteException(const Substitute& one, WallTime now) {
  AuditException exception{.kind = kSubstituteKind,
                           .about = one.recorded + " -> " + one.here,
                           .reason = "two fingerprints show that they compute alike",
                           .signed_by = {},
                           .until = {},
                           .holds = true};
  if (one.is_proved()) return exception;
  exception.reason = one.reason;
  exception.signed_by = SignerInWords(one.signed_by, one.verified);
  exception.until = FormatUntil(one.until);
  exception.holds = now < one.until;
  return exception;
}

}  // namespace

Status AddPolicyExceptions(const AnswerRequest& request, const Manifest& manifest,
                           AuditReport* report) {
  report->policies = request.policies;
  for (const std::string& file : request.policies) {
    ASSIGN_OR_RETURN(const Policy policy, ReadAsTrusted(file, request, report));
    for (const Waiver& one : policy.waivers) {
      if (!MayConcern(one.probes, manifest.probe_families)) continue;
      report->exceptions.push_back(WaiverException(one, request.now));
    }
    for (const Substitute& one : policy.substitutes) {
      const bool for_it =
          std::ranges::any_of(manifest.environment.hardware.gpus,
                              [&](const Gpu& gpu) { return GlobMatches(one.recorded, gpu.model); });
      if (for_it) report->exceptions.push_back(SubstituteException(one, request.now));
    }
  }
  return {};
}

Status AddRetirementRequest(const AnswerRequest& request, HistoryStore* store,
                            AuditReport* report) {
  const bool trusts = request.trust != nullptr &&
                      request.trust->FindRule(kRetirementPredicate, report->family) != nullptr;
  ASSIGN_OR_RETURN(
      const RetirementTold told,
      RetirementOf(request.run_id, trusts ? request.trust : nullptr, request.now, store));
  if (told.state != RetirementState::kAsked) return {};
  report->exceptions.push_back(
      {.kind = std::string(kAuditRetirementRequest),
       .about = request.run_id,
       .reason = told.reason,
       .signed_by = fmt::format(
           "{}{}, {}", told.asked_by,
           told.asked ? fmt::format(" (asked {})", FormatTime(*told.asked).substr(0, 10)) : "",
           told.approved_by.empty() ? "approved by nobody yet"
                                    : "and " + told.approved_by + ", of more that it takes"),
       .until = told.expires ? "can be approved until " + FormatTime(*told.expires) : "",
       .holds = true});
  return {};
}

}  // namespace rharness
