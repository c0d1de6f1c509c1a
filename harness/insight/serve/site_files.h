// What people sign beside a history: policies with their waivers and substitutes, and accepted
// baselines, each held to its signatures.
//
// Role: reads the files themselves, whenever it is asked; nothing is kept of them. A history has
// none of this. Not here: who may sign (harness/trust/attestation/trust.h), what it lets pass
// (harness/gate).
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

// A policy or a baseline. Pages name it without where it lies.
struct SignedFile {
  std::string name;                  // "policy.yaml", "h100"
  std::optional<Verified> endorsed;  // by whom; none where there is a doubt
  std::string doubt = {};            // why it is not what was signed, in words for a page
  std::string trouble = {};          // the same for the log, with the file
};
struct SitePolicy {
  SignedFile file;
  Policy policy;  // as it lies there, doubtful or not; of one that cannot be read nothing
};
struct SiteBaseline {
  SignedFile file;
  BaselineRecord record;       // the last one; empty where it cannot be read
  std::string hardware_class;  // of its fingerprint; may be empty
};
struct SiteFiles {
  std::vector<SitePolicy> policies;
  std::vector<SiteBaseline> baselines;

  std::vector<const SignedFile*> all() const;
};

// Before anything is served. Errors: invalid_input (files without a trust policy, or the other way
// round), not_found (a file that is not there), those of LoadTrustPolicy.
Status CheckSiteFiles(const SiteFilesAsked& asked);

// As they are now. Never fails: what cannot be read or is not as it was signed is a doubt of that
// file. `now` may make one of what held before: a key's time is over.
SiteFiles ReadSiteFiles(const SiteFilesAsked& asked, WallTime now);

// What of it concerns this run, those that hold now first. A waiver does
// where MayConcern says so (harness/records/policy/known_probes.h). A substitute does if it is for
// a GPU that the run had, a baseline if it was taken on the run's GPU, or CPU where it had none, or
// either is not known, which is told. Nobody is named whose signature does not hold, or who is
// named in the file and has not signed it. Pure.
std::vector<SiteAnswer> AnswersFor(const Manifest& run, const SiteFiles& files, WallTime now);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_INSIGHT_SERVE_SITE_FILES_H_
