// Which files that runs made are to be deleted by a policy's rules, and why the others are not.
//
// Role: the question that `rharness history prune` asks; nothing is deleted here (carry_out.h). It
// deletes only what a manifest of the history names as an artifact and what is still what was
// recorded, as far as its size tells; never a manifest, a drill's files, the history or anything
// that another run needs to be rerun.
#ifndef RHARNESS_HARNESS_TRUST_RETENTION_RETENTION_PLAN_H_
#define RHARNESS_HARNESS_TRUST_RETENTION_RETENTION_PLAN_H_

#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "harness/base/clock.h"
#include "harness/base/held_folder.h"
#include "harness/base/result.h"
#include "harness/history/store.h"
#include "harness/records/policy/policy.h"
#include "reports/retention_report.h"

namespace rharness {

inline constexpr std::uint64_t kMostPolicyText = 1 << 20;

struct RetentionInputs {
  std::filesystem::path root;  // relative locations of manifests lie below it; nothing else goes
  std::string history;         // its URL, as it was given
  std::string policy;          // the file
  std::set<std::filesystem::path> never;  // files of our own: history, policy, trust, keys
  // From what recorded locations begin with, to where that lies here: what is needed may.
  std::vector<std::pair<std::string, std::filesystem::path>> maps = {};
};

// A run of the history, and what is known of it beside its entry.
struct RunRecord {
  HistoryEntry entry;
  Manifest manifest;
  bool good = false;  // it may be gone back to (JudgedRun::IsGood)
};

// Why a run's files are kept, by run_id; a run that is not named lets go. In this order: a hold, a
// drill that has it now, no rule for its family, a record that does not say when it began, the last
// runs (retired ones take no place of theirs), young ones, the last good run of its family, the
// last good one before a run that somebody has to look at, such a run itself, a waiver that may be
// about what it depends on. Pure.
std::vector<KeptRun> RunsToKeep(const std::vector<RunRecord>& runs, const Policy& policy,
                                const std::set<std::string>& claimed, WallTime now);

// Why a run that is kept by none of these lets go: "recorded 2025-08-01: not among the last 5 of
// family mlp (policy.yaml:3)". The same every day.
std::string WhyItGoes(const HistoryEntry& entry, const RetentionRule& rule);

// Errors: invalid_input (no root, no rules), those of the history, of ReadFile and ParsePolicy.
Result<RetentionReport> PlanRetention(const RetentionInputs& inputs, WallTime now,
                                      HistoryStore* history);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_TRUST_RETENTION_RETENTION_PLAN_H_
