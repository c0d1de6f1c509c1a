// Signed files beside a history: policies with their waivers and substitutes, and accepted
// baselines, each checked against its signatures.
//
// Role: reads the files at each call, without a cache. A history has none of this. Not here: who
// may sign (harness/trust/attestation/trust.h), the gate's decision (harness/gate).
#ifndef RHARNESS_HARNESS_INSIGHT_SERVE_SITE_FILES_H_
#define RHARNESS_HARNESS_INSIGHT_SERVE_SITE_FILES_H_

#include <optional>
#include <string>
#include <vector>

#include "harness/base/clock.h"
#include "harness/base/result.h"
#include "harness/gate/baseline.h"
#include "harness/records/manifest/manifest.h"
#include "harness/records/policy/policy.h"
#include "harness/trust/attestation/verification.h"
#include "reports/site_run.h"

namespace rharness {

struct SiteFilesAsked {
  std::vector<std::string> policies;
  std::vector<std::string> baselines;  // folders
  std::string trust;                   // whose signatures count
  bool any() const { return !policies.empty() || !baselines.empty(); }
};

// A policy or a baseline. Pages name it without its place.
struct SignedFile {
  std::string name;                  // "policy.yaml", "h100"
  std::optional<Verified> endorsed;  // by whom; none if there is a doubt
  std::string doubt = {};            // why it differs from its signed form, in words for a page
  std::string trouble = {};          // the same for the log, with the file
};
struct SitePolicy {
  SignedFile file;
  Policy policy;  // as in the file, doubtful or not; empty if unreadable
};
struct SiteBaseline {
  SignedFile file;
  BaselineRecord record;       // the last one; empty if unreadable
  std::string hardware_class;  // of its fingerprint; may be empty
};
struct SiteFiles {
  std::vector<SitePolicy> policies;
  std::vector<SiteBaseline> baselines;

  std::vector<const SignedFile*> all() const;
};

// Call it before serving. Errors: invalid_input (files without a trust policy, or the other way
// round), not_found (a missing file), those of LoadTrustPolicy.
Status CheckSiteFiles(const SiteFilesAsked& asked);

// As they are now. Never fails: an unreadable file, or one that differs from its signed form, has a
// doubt. `now` may invalidate signatures: a key expires.
SiteFiles ReadSiteFiles(const SiteFilesAsked& asked, WallTime now);

// The entries that concern this run, currently valid ones first. A waiver does if MayConcern says
// so (harness/records/policy/known_probes.h). A substitute does if it is for a GPU that the run
// had, a baseline if it was taken on the run's GPU, or CPU where it had none, or if either is not
// known, which is reported. Never names people whose signature is invalid, or who are named in the
// file and did not sign it. Pure.
std::vector<SiteAnswer> AnswersFor(const Manifest& run, const SiteFiles& files, WallTime now);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_INSIGHT_SERVE_SITE_FILES_H_
