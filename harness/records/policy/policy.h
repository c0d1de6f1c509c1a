// What a site has decided: which options its drills have, what may stand in for recorded hardware,
// what families have to keep, what may change without closing the gate. One YAML file that people
// read and sign.
//
// Role: plain data for the drill and the gate, which decide what follows from it.
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

// A change that somebody takes responsibility for, for a while.
struct Waiver {
  std::string probes;  // as in a rule
  std::string reason;
  std::string signed_by;
  WallTime until{};       // it no longer holds from here on
  bool verified = false;  // who signed_by names has signed the file, by a trusted key
};

// Options of a verb that go together, by name without dashes: {"dispatch", {"slurm"}}.
struct ProfileOption {
  std::string name;
  std::vector<std::string> values;  // several of one that is repeatable
  std::string where;                // "policy.yaml:12"
};
struct Profile {
  std::string name;
  std::vector<ProfileOption> options;
};
// nullptr: there is none of that name.
const Profile* FindProfile(const std::vector<Profile>& profiles, std::string_view name);

// GPUs that may stand in for the recorded ones: because somebody answers for it, for a while, or
// because two fingerprints show that they compute alike.
struct Substitute {
  std::string recorded;  // globs over GPU models
  std::string here;
  std::string reason;  // with a signature; or...
  std::string signed_by;
  WallTime until{};                          // it no longer holds from here on
  std::vector<std::filesystem::path> proof;  // ...two fingerprints: of the recorded, and of these
  bool verified = false;                     // as of a waiver
  bool is_proved() const { return !proof.empty(); }
};

// How much hangs on runs: what --order risk multiplies by (harness/drill/risk.h).
struct Stake {
  std::string runs;    // a selection expression
  double stake = 1.0;  // > 0, at most 1e6
  std::string where;   // "policy.yaml:12"
};

// What a family has to keep: the share of its runs that reproduce, and what else may not get worse.
// What is not set is no objective.
struct Objective {
  std::string families;                // a glob over the names of families
  std::optional<double> reproducible;  // least share of the runs with a conclusive verdict; (0, 1)
  double period_days = 28.0;           // over which shares are taken, and a budget lasts
  std::optional<double> inconclusive;  // largest share of runs whose last verdict leaves it open
  std::optional<double> flaky;         // largest share of runs that did and did not reproduce
  std::optional<double> stale_days;    // no run waits longer to be compared
  bool page = false;                   // somebody is called at once; else a ticket
  std::string owner;                   // empty: nobody is named
  std::string where;                   // "policy.yaml:12"
};

struct Policy {
  std::vector<PolicyRule> rules;  // the first that matches a probe holds; none: nothing may change
  std::vector<Waiver> waivers;
  bool drill_required = false;          // a drill of the impacted runs must be there and pass
  std::vector<std::string> must_have;   // globs: probes that must be ok on both sides
  std::vector<Profile> profiles;        // of `rharness drill`
  std::vector<Profile> gamedays;        // of `rharness gameday`: which faults, in which runs
  std::vector<Substitute> substitutes;  // the first that holds for a pair of models counts
  std::vector<Stake> stakes;            // the first that holds for a run counts; none: 1
  std::vector<Objective> objectives;    // the first whose glob matches a family is its own
  Approvals approvals;
  std::vector<RetentionRule> retention;  // the first that matches a family holds; none: it is kept
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
// Only the version must be there. Paths are relative to the file's folder. Errors: invalid_input
// with file and line: an unknown key, one twice, a missing one, a waiver or substitute without
// reason, signature or date (or proof); more than 1 MiB, or 250,000 values with every alias as what
// it stands for.
Result<Policy> ParsePolicy(std::string_view yaml, std::string_view file);
Result<Policy> LoadPolicy(const std::filesystem::path& path);

// "Ada (verified)", "ada (plain text, not verified)".
std::string SignerInWords(const std::string& signed_by, bool verified);

// Whether the `probes` of a rule or waiver names this probe, or its family.
bool NamesProbe(std::string_view glob, std::string_view probe, std::string_view family);

// "2026-12-31" is the end of that day (UTC); an RFC 3339 time is itself. Else invalid_input.
Result<WallTime> ParseEndOfDay(std::string_view text);
// "through 2026-12-31 (UTC)" of the end of that day; else "until" and the RFC 3339 time.
std::string FormatUntil(WallTime end);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_RECORDS_POLICY_POLICY_H_
