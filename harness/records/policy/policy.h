// A site's decisions: options of its drills, substitutes for recorded hardware, objectives of
// families, changes that do not close the gate. One YAML file that people read and sign.
//
// Role: plain data for the drill and the gate, which apply it.
#ifndef RHARNESS_HARNESS_RECORDS_POLICY_POLICY_H_
#define RHARNESS_HARNESS_RECORDS_POLICY_POLICY_H_

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/clock.h"
#include "harness/base/result.h"
#include "harness/records/policy/retention_rules.h"

namespace rharness {

// "allow" of a rule: the layers that may change for the probes it names.
struct PolicyRule {
  std::string probes;  // glob over probe names, "gemm_*", or over families, "family:gemm"
  bool choice = false;
  bool tree = false;
  bool bits = false;
};

// A change that somebody accepts for a limited time.
struct Waiver {
  std::string probes;  // as in a rule
  std::string reason;
  std::string signed_by;
  WallTime until{};       // not valid from here on
  bool verified = false;  // signed_by has signed the file, by a trusted key
};

// Options of a verb that go together, by name without dashes: {"dispatch", {"slurm"}}.
struct ProfileOption {
  std::string name;
  std::vector<std::string> values;  // several for a repeatable one
  std::string where;                // "policy.yaml:12"
};
struct Profile {
  std::string name;
  std::vector<ProfileOption> options;
};
// nullptr: no profile has this name.
const Profile* FindProfile(const std::vector<Profile>& profiles, std::string_view name);

// GPUs that may replace the recorded ones: because somebody answers for it, for a limited time, or
// because two fingerprints show that they compute alike.
struct Substitute {
  std::string recorded;  // globs over GPU models
  std::string here;
  std::string reason;  // with a signature; or...
  std::string signed_by;
  WallTime until{};                          // not valid from here on
  std::vector<std::filesystem::path> proof;  // ...two fingerprints: of the recorded, and of these
  bool verified = false;                     // as of a waiver
  bool is_proved() const { return !proof.empty(); }
};

// How much depends on runs: the factor of --order risk (harness/drill/risk.h).
struct Stake {
  std::string runs;    // a selection expression
  double stake = 1.0;  // > 0, at most 1e6
  std::string where;   // "policy.yaml:12"
};

// The objectives of a family: the share of its runs that reproduce, and further limits. A member
// that is not set is no objective.
struct Objective {
  std::string families;                // a glob over the names of families
  std::optional<double> reproducible;  // least share of the runs with a conclusive verdict; (0, 1)
  double period_days = 28.0;           // window of shares, and lifetime of a budget
  std::optional<double> inconclusive;  // largest share of runs whose last verdict is inconclusive
  std::optional<double> flaky;         // largest share of runs that both did and did not reproduce
  std::optional<double> stale_days;    // longest wait of a run for its comparison
  bool page = false;                   // page somebody; else a ticket
  std::string owner;                   // empty: nobody is named
  std::string where;                   // "policy.yaml:12"
};

struct Policy {
  std::vector<PolicyRule> rules;  // the first that matches a probe holds; none: nothing may change
  std::vector<Waiver> waivers;
  bool drill_required = false;          // a drill of the impacted runs must exist and pass
  std::vector<std::string> must_have;   // globs: probes that must be ok on both sides
  std::vector<Profile> profiles;        // of `rharness drill`
  std::vector<Profile> gamedays;        // of `rharness gameday`: which faults, in which runs
  std::vector<Substitute> substitutes;  // the first that fits a pair of models counts
  std::vector<Stake> stakes;            // the first that fits a run counts; none: 1
  std::vector<Objective> objectives;    // the first whose glob matches a family counts
  Approvals approvals;
  std::vector<RetentionRule> retention;  // the first that matches a family holds; none: kept
  std::vector<Hold> holds;

  const Objective* FindObjective(std::string_view family) const;      // nullptr: it has none
  const RetentionRule* FindRetention(std::string_view family) const;  // the same
};

// version: 1
// profiles:
//   night: {dispatch: slurm, sbatch: ["--partition=gpu", "--account=ml"], gpu-budget: 40}
// gamedays:
//   week: {fault: ["hyperparameter:learning_rate*0.95,0.9@--lr", "seed:lost"], trials: 60}
// substitutes:
//   - {recorded: "NVIDIA A100*40GB", here: "NVIDIA A100*80GB", reason: "...", signed_by: "...",
//      until: 2026-12-31}
//   - {recorded: "NVIDIA H100*", here: "NVIDIA H200", proof: [h100.json, h200.json]}
// stakes:
//   - {runs: "family ~ 'llama*' and declared = bitwise", stake: 10}
// objectives:
//   - {families: "llama*", reproducible: 0.95, inconclusive: 0.1, stale_days: 30, alert: page,
//      owner: ml-platform}
//   - {families: "*", reproducible: 0.9, period_days: 56}
// rules:
//   - {probes: "gemm_*", allow: [choice, bits]}
//   - {probes: "family:reduction", allow: [bits]}
// waivers:
//   - {probes: "jit_*", reason: "...", signed_by: "...", until: 2026-12-31}
// approvals: {retirement: required}   # or optional
// retention:
//   - {families: "llama*", keep_last: 5, keep_days: 365}
// holds:
//   - {runs: "mlp-*", reason: "..."}   # or families, or both
// drill: required         # or optional
// require: ["gemm_*"]     # globs: probes that must be ok on both sides
// Only the version is required. Paths are relative to the file's folder. Errors: invalid_input with
// file and line: an unknown, repeated or missing key, a waiver or substitute without reason,
// signature or date (or proof); more than 1 MiB, or 250,000 values with aliases expanded.
Result<Policy> ParsePolicy(std::string_view yaml, std::string_view file);
Result<Policy> LoadPolicy(const std::filesystem::path& path);

// "Ada (verified)", "ada (plain text, not verified)".
std::string SignerInWords(const std::string& signed_by, bool verified);

// Whether the `probes` of a rule or waiver names this probe, or its family.
bool NamesProbe(std::string_view glob, std::string_view probe, std::string_view family);

// "2026-12-31" is the end of that day (UTC); an RFC 3339 time is taken as is. Else invalid_input.
Result<WallTime> ParseEndOfDay(std::string_view text);
// "through 2026-12-31 (UTC)" for the end of that day; else "until" and the RFC 3339 time.
std::string FormatUntil(WallTime end);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_RECORDS_POLICY_POLICY_H_
