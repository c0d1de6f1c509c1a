// The drill: recorded runs in, verdicts out. The composition of everything below it.
//
//   select -> plan -> rerun -> compare -> judge -> confirm -> report
//
// A drill owns one folder: journal, plan.json,
// runs/RUN/N/{evidence.json,artifacts/} with stdout.log and stderr.log where there was output, and
// the reports. The folder is locked while a drill works in it.
#ifndef RHARNESS_HARNESS_DRILL_DRILL_H_
#define RHARNESS_HARNESS_DRILL_DRILL_H_

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "harness/base/clock.h"
#include "harness/base/progress.h"
#include "harness/base/result.h"
#include "harness/drill/historical_runs.h"
#include "harness/drill/plan.h"
#include "harness/execution/dispatch/queue.h"
#include "harness/execution/dispatch/quiet_hours.h"
#include "harness/execution/rerun/places.h"
#include "harness/execution/rerun/ticket.h"
#include "harness/records/policy/policy.h"
#include "reports/model.h"
#include "reports/sensitivity.h"

namespace rharness {

// The order of runs if a sample or a budget takes only the first ones.
inline constexpr char kOrderWait[] = "wait";
inline constexpr char kOrderRisk[] = "risk";

struct DrillOptions {
  std::string history;                // URL of the store
  std::filesystem::path out;          // the drill's folder
  std::string selection;              // expression; empty: all
  std::optional<std::size_t> sample;  // number of selected runs; empty: all
  std::uint64_t seed = 0;             // of the sample
  std::string order = kOrderWait;     // or kOrderRisk (ranking.h)
  PlanOptions plan;
  Places places;
  bool maps_of_profile = false;      // its maps were not typed: an unused one is no error
  EnvironmentOverrides environment;  // for every rerun
  std::string launcher = "auto";     // "auto": by each manifest's image; "host", "podman", "docker"
  std::string dispatch = "local";    // or "slurm", "kubernetes"
  std::vector<std::string> sbatch;   // of "slurm": further options of sbatch
  std::optional<PortRange> ports;    // at which the nodes of a run may meet; empty: at any
  bool distribute = false;           // of "slurm": each run once on every node; see PlanOptions
  std::vector<std::string> kubectl;  // of "kubernetes": options of kubectl that select the cluster
  std::string pod_evidence = "volume";  // of "kubernetes": how evidence is returned, or "log"
  std::string pod_program;              // of "log": rharness in the pods' image
  std::string pod_template;             // of "kubernetes": the file
  bool container_root = false;          // under a rootful engine
  bool confirm = true;                  // one more rerun if a drift was seen only once
  bool keep_workspaces = false;
  std::string candidate;    // of a gate: the SHA-256 of its fingerprint (OfCandidate)
  bool no_observe = false;  // what reruns use, where their records were observed
  bool resume = false;
  // The caller's audit log, kept in the journal for --resume: "log", "key", "passphrase_file",
  // "policy".
  std::map<std::string, std::string> audit;
  // Options given explicitly, as "--reruns": refused if a resumed drill has another value.
  std::set<std::string> given;
  RetryPolicy retry;
  std::vector<QuietHours> quiet_hours;
  std::vector<Substitute> substitutes;      // of the policy
  std::vector<Stake> stakes;                // of the policy
  std::vector<Sensitivity> certificates;    // of game days; shown beside equivalent runs
  RetirementDoubts retirement_doubts = {};  // may be empty
};

// The duration of a claim on a run, and its renewal interval. Long enough to restart a server and
// to repair a machine; tests use others.
struct ClaimTimes {
  std::chrono::milliseconds lease = std::chrono::minutes(10);
  std::chrono::milliseconds renew_every = std::chrono::minutes(1);
};

struct DrillHooks {
  std::function<void(const Progress&)> progress;  // may be empty
  std::function<bool()> should_stop;              // may be empty; interrupts the drill
  ClaimTimes claims = {};
};

// The plan, without touching the drill's folder. Errors: invalid_input, not_found, io.
Result<Plan> PlanDrill(const DrillOptions& options, Clock* clock);

// Carries out the drill, writes report.json, report.html, junit.xml, summary.md and metrics.prom
// into the folder, and enters the verdicts into the history. An interrupted drill still reports its
// results so far. Errors: invalid_input (nothing to resume, folder in use), not_found, io,
// integrity.
Result<Report> RunDrill(const DrillOptions& options, const DrillHooks& hooks, Clock* clock);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_DRILL_DRILL_H_
