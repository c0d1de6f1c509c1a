// Selects the outputs of runs to delete by a policy's rules, with the reason for each that stays.
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
  std::filesystem::path root;  // base of manifests' relative locations; nothing else is deleted
  std::string history;         // its URL, as it was given
  std::string policy;          // the file
  std::set<std::filesystem::path> never;  // our own files: history, policy, trust, keys
  // From the prefix of a recorded location to its place here: needed files may lie there.
  std::vector<std::pair<std::string, std::filesystem::path>> maps = {};
};

// A run of the history, and further facts about it.
struct RunRecord {
  HistoryEntry entry;
  Manifest manifest;
  bool good = false;  // a rollback to it is possible (JudgedRun::IsGood)
};

// Why a run's files are kept, by run_id; files of unlisted runs may go. In this order: a hold, a
// drill that claims it now, no rule for its family, a record without a start, the last runs
// (retired ones do not count), young ones, the last good run of its family, the last good one
// before a run that needs attention, such a run itself, a waiver that may concern its dependencies.
// Pure.
std::vector<KeptRun> RunsToKeep(const std::vector<RunRecord>& runs, const Policy& policy,
                                const std::set<std::string>& claimed, WallTime now);

// Why the files of a run kept by none of these go: "recorded 2025-08-01: not among the last 5 of
// family mlp (policy.yaml:3)". The same every day.
std::string WhyItGoes(const HistoryEntry& entry, const RetentionRule& rule);

// Errors: invalid_input (no root, no rules), those of the history, of ReadFile and ParsePolicy.
Result<RetentionReport> PlanRetention(const RetentionInputs& inputs, WallTime now,
                                      HistoryStore* history);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_TRUST_RETENTION_RETENTION_PLAN_H_
