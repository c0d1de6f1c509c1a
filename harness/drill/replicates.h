// Replicates: runs of a configuration that differ by rounding alone, found or made, as a yardstick.
//
// Role: the pass of the drill between its first reruns and the verdicts. The need of a
// configuration is counted in degrees of freedom: recorded repeats first, then further reruns of
// this drill, then the history's replicates of this stack; missing replicates are made, of one run,
// and serve all runs of the configuration on the same stack. Seeds differ in when chaos sets in: a
// run within the band of a different seed is within; a run that leaves it is open, and the first
// kMostStrays of these get replicates of their own.
#ifndef RHARNESS_HARNESS_DRILL_REPLICATES_H_
#define RHARNESS_HARNESS_DRILL_REPLICATES_H_

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "harness/drill/drill_report.h"
#include "harness/drill/plan.h"
#include "harness/history/store.h"

namespace rharness {

inline constexpr int kMostStrays = 3;

using Seeds = std::map<std::string, std::int64_t>;
using RunStates = std::map<std::string, RunState>;  // by run_id
using Overrides = std::map<std::string, std::optional<std::string>>;

class Replicates {
 public:
  Replicates() = default;
  explicit Replicates(const PlanOptions& options) : options_(options) {}

  // Runs of one family; those of one configuration, seed and stack are repeats.
  void AddRecorded(const std::vector<Manifest>& members);
  // The history's replicates of this run's configuration. Errors: integrity, invalid_input for a
  // row that is no evidence of its run; io.
  Status Load(const Manifest& run, HistoryStore* history);

  // Both, for all these runs and their families; nothing if no replicates are wanted.
  Status LoadAll(const std::vector<Manifest>& runs, HistoryStore* history);

  // The plan of these runs, with their expected replicates.
  Plan PlanWith(const std::vector<Manifest>& runs, const Overrides& environment) const;

  // Those missing from the history, on a stack like this host's, for the first run of each
  // configuration. `environment`: that of every rerun (--env).
  std::vector<PlannedRerun> Expected(const std::vector<Manifest>& runs,
                                     const Overrides& environment) const;
  // Those still missing after the reruns: for configurations that are not declared bitwise and have
  // a compared run that is not identical. Notes name those beyond the plan. `run_ids`: in the order
  // of the selection.
  std::vector<PlannedRerun> Missing(const std::vector<std::string>& run_ids, const RunStates& runs,
                                    const Plan& plan);
  // Judges the curves of every run by the envelope of its seed, else of its configuration, on its
  // stack; metrics by that of its seed alone.
  void Settle(const std::vector<std::string>& run_ids, RunStates* runs);

  // Notes for the reader of the report: replicates that failed, showed nothing or are too few, and
  // the envelopes used.
  std::vector<std::string> Notes() const;
  // Enters this drill's replicates into the history. Errors: io, and those of the history.
  Status Keep(const std::filesystem::path& drill_folder, HistoryStore* history) const;

 private:
  // One replicate, or with number 0 the unperturbed rerun.
  struct One {
    std::string run_id;
    int number = 0;
    Evidence evidence;
    std::string stack;
    bool is_new = false;
  };
  // The runs of one configuration that ran on one stack.
  struct Place {
    std::string configuration;
    std::string stack;
    std::vector<std::string> run_ids;
    std::map<Seeds, std::vector<std::string>> by_seeds;  // the same ones
  };

  std::vector<Place> PlacesOf(const std::vector<std::string>& run_ids, const RunStates& runs) const;
  // All replicates of this place, including those of this drill.
  std::vector<One> HeldOf(const Place& place, const RunStates& runs) const;
  const std::string& StackOfRerun(const RunState& run, int rerun) const;
  const std::string& StackOfReplicate(const RunState& run, int replicate) const;
  // From the groups with these seeds; null: from all.
  Envelope EnvelopeOf(const Place& place, const RunStates& runs, const std::vector<One>& held,
                      const Seeds* seeds) const;
  // The run whose replicates serve the others, too.
  static std::string SharingRun(const Place& place, const std::vector<One>& held);
  void Hold(const Envelope& envelope, bool is_own, RunState* run);
  std::vector<PlannedRerun> MissingOf(const Place& place, const RunStates& runs, const Plan& plan);
  std::vector<PlannedRerun> MissingOfStrays(const Place& place, const RunStates& runs);
  int RecordedDegrees(const std::string& configuration) const;
  void Describe(const Place& place, const Envelope& envelope, const std::vector<One>& held,
                const RunStates& runs);

  PlanOptions options_;
  // By configuration and seeds, the repeats of each stack.
  std::map<std::string, std::map<Seeds, std::vector<std::vector<RunMetrics>>>> recorded_;
  std::map<std::string, std::vector<One>> loaded_;  // by configuration
  // Results of StackOf, by run id and rerun, replicates below zero: it reads every package.
  mutable std::map<std::pair<std::string, int>, std::string> stacks_;
  std::set<std::string> strays_;               // run ids: beyond the band of another seed
  std::map<std::string, Manifest> manifests_;  // of `loaded_`, by configuration
  std::set<std::string> left_out_;
  std::vector<std::string> notes_;
  std::vector<std::pair<Place, One>> new_;
};

}  // namespace rharness

#endif  // RHARNESS_HARNESS_DRILL_REPLICATES_H_
