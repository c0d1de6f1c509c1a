// Replicates: runs of a configuration that differ by rounding alone, found or made, and held to.
//
// Role: the pass of the drill between its first reruns and the verdicts. What is needed of a
// configuration is counted in degrees of freedom: recorded repeats first, then further reruns of
// this drill, then replicates that the history has of this stack; what lacks is made, of one run,
// and serves all runs of the configuration that ran on the same stack. Seeds differ in when chaos
// sets in: a run that stays within the band of another seed is within, and one that leaves it is
// open and gets replicates of its own, the first kMostStrays of them.
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

  // Runs of one family, of which those of one configuration, seed and stack are repeats.
  void AddRecorded(const std::vector<Manifest>& members);
  // What the history has of this run's configuration. Errors: integrity, invalid_input where a row
  // is no evidence of its run; io.
  Status Load(const Manifest& run, HistoryStore* history);

  // Both, of all these runs and their families; nothing where no replicates are wanted.
  Status LoadAll(const std::vector<Manifest>& runs, HistoryStore* history);

  // The plan of these runs, with the replicates that are to be expected for them.
  Plan PlanWith(const std::vector<Manifest>& runs, const Overrides& environment) const;

  // Those that the history, on a stack like this host's, does not have, of the first run of each
  // configuration. `environment`: that of every rerun (--env).
  std::vector<PlannedRerun> Expected(const std::vector<Manifest>& runs,
                                     const Overrides& environment) const;
  // Those that the reruns leave to be made: of configurations that are not declared bitwise and of
  // which a run was compared and is not identical. Of what the plan has no room for, notes are
  // kept. `run_ids`: in the order of the selection.
  std::vector<PlannedRerun> Missing(const std::vector<std::string>& run_ids, const RunStates& runs,
                                    const Plan& plan);
  // Holds the curves of every run to the envelope of its seed, else of its configuration, on its
  // stack; metrics to that of its seed alone.
  void Settle(const std::vector<std::string>& run_ids, RunStates* runs);

  // What a reader of the report must know: of replicates that failed, showed nothing or are too
  // few, and of envelopes that were used.
  std::vector<std::string> Notes() const;
  // Enters those that this drill made into the history. Errors: io, and those of the history.
  Status Keep(const std::filesystem::path& drill_folder, HistoryStore* history) const;

 private:
  // One replicate, or with number 0 the rerun in which nothing was moved.
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
  // Held of this place, with those of this drill.
  std::vector<One> HeldOf(const Place& place, const RunStates& runs) const;
  const std::string& StackOfRerun(const RunState& run, int rerun) const;
  const std::string& StackOfReplicate(const RunState& run, int replicate) const;
  // Of the groups with these seeds; null: of all.
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
  // What StackOf said, by run id and rerun, replicates below zero: it reads every package.
  mutable std::map<std::pair<std::string, int>, std::string> stacks_;
  std::set<std::string> strays_;               // run ids: beyond the band of another seed
  std::map<std::string, Manifest> manifests_;  // of `loaded_`, by configuration
  std::set<std::string> left_out_;
  std::vector<std::string> notes_;
  std::vector<std::pair<Place, One>> new_;
};

}  // namespace rharness

#endif  // RHARNESS_HARNESS_DRILL_REPLICATES_H_
