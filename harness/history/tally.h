// Counts over many verdicts, for the objectives of families.
#ifndef RHARNESS_HARNESS_HISTORY_TALLY_H_
#define RHARNESS_HARNESS_HISTORY_TALLY_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "harness/base/clock.h"
#include "harness/base/result.h"
#include "harness/verdict/states.h"
#include "harness/verdict/verdict.h"

namespace rharness {

// Runs of a family by their last verdict in a window: a run counts once, however often it was
// checked. Excludes retired runs, superseded verdicts, and "infra", which says nothing about a run.
struct VerdictTally {
  std::string family;
  std::string declared;  // "bitwise" or "statistical"
  Verdict verdict = Verdict::kInconclusive;
  std::int64_t runs = 0;
  std::int64_t checked_twice = 0;  // of these: with two conclusive verdicts or more
  std::int64_t flipped = 0;        // of these: with both good and bad ones
  std::int64_t attested = 0;       // of the runs: this verdict was signed
  std::int64_t drifted = 0;        // of the runs: it drifted, and no good verdict followed
};

// Runs judged twice or more with nothing changed: conclusive verdicts of drills whose reruns had
// the same surroundings (environment, code, data, seeds, and files read), as far as these are
// known. If they differ, only chance is left.
struct FlakeTally {
  std::string family;
  std::int64_t unchanged = 0;
  std::int64_t flaked = 0;  // of these: with both good and bad ones
};

// How long the runs of a family have waited for a comparison; excludes retired ones. A failed rerun
// compares nothing, although its verdict is conclusive.
struct WaitingTally {
  std::string family;
  std::int64_t runs = 0;
  std::int64_t never = 0;    // never compared: identical, equivalent or drifted
  std::int64_t waiting = 0;  // verified before the limit; or never, and added before it
  WallTime oldest{};         // the earliest of all: verified, or, if never, added
};

// What the last answers of `rharness check --available` were.
struct RebuildTally {
  std::string family;
  PartState state = PartState::kUnknown;
  std::int64_t runs = 0;
};

// Duration of reruns against the recorded one; only reruns that came to their end.
struct RuntimeTally {
  std::string family;
  std::int64_t reruns = 0;
  double wall_seconds = 0.0;       // their sum
  std::int64_t verdicts = 0;       // that these reruns led to
  double mean_ratio = 0.0;         // rerun's wall time over the run's recorded duration
  std::optional<double> ratio_sd;  // sample standard deviation; none of a single one
};

// The last measured verdict of each run in a window: number of runs by result.
struct MeasureTally {
  std::string family;
  std::int64_t weights = 0;  // with checkpoints on both sides
  std::int64_t weights_equal = 0;
  std::int64_t metrics = 0;      // with a metric that has a margin
  double margins_squared = 0.0;  // sum of the squares of their differences in margins
  std::int64_t looked_at = 0;    // under observation
  std::int64_t warned = 0;       // of these: an operator warned
  std::int64_t data = 0;         // with data
  std::int64_t data_had = 0;
  std::int64_t admitted = 0;  // of `records`: their record is complete
  std::int64_t records = 0;
};

// Runs rerun in a window as a rollback test, by the last result.
struct RollbackTally {
  std::string family;
  std::int64_t runs = 0;
  std::int64_t held = 0;  // of these: reproduced
  std::int64_t lost = 0;  // drifted or failed; the others are inconclusive
};

// A verdict with its environments, for trends: run after run, each in its order.
struct VerdictStep {
  std::string run_id;
  std::string family;
  WallTime started{};  // the run
  bool retired = false;
  Verdict verdict = Verdict::kInconclusive;
  WallTime decided{};
  std::vector<std::string> environments;  // of its reruns, each once, for GetSurroundings
  std::string node;                       // empty: not known
};

// Counts over all runs, read in one pass.
class HistoryTallies {
 public:
  virtual ~HistoryTallies() = default;

  // For objectives, by family: over the verdicts decided in [since, until); over current rows for
  // the others. Each reads what it counts once.
  virtual Result<std::vector<VerdictTally>> TallyVerdicts(WallTime since, WallTime until) = 0;
  // Over several windows [since, until) at once, the first beginning first: reads the verdicts once
  // for all. Counts `checked_twice`, `flipped`, `attested` and `drifted` in the first window only.
  virtual Result<std::vector<std::vector<VerdictTally>>> TallyWindows(
      const std::vector<WallTime>& since, WallTime until) = 0;
  virtual Result<std::vector<FlakeTally>> TallyFlakes(WallTime since, WallTime until) = 0;
  virtual Result<std::vector<RuntimeTally>> TallyRuntimes(WallTime since, WallTime until) = 0;
  virtual Result<std::vector<WaitingTally>> TallyWaiting(WallTime limit) = 0;
  virtual Result<std::vector<RebuildTally>> TallyRebuilds() = 0;
  virtual Result<std::vector<MeasureTally>> TallyMeasures(WallTime since, WallTime until) = 0;
  virtual Result<std::vector<RollbackTally>> TallyRollbacks(WallTime since, WallTime until) = 0;
  // Runs that made a file with this SHA-256, as a whole or a part, or weights with this tensor
  // digest (64 hex digits); by run_id. Reads the text of every manifest, since no index has it.
  virtual Result<std::vector<std::string>> RunsOfArtifact(const std::string& digest) = 0;
  // All verdicts but infra, without superseded ones, by run and sequence; also of retired runs.
  // Each once, with all kept environments of its reruns. `restart` is called before the first one,
  // and again if a lost connection makes it start over; neither may call the store.
  virtual Status EachVerdict(const std::function<void()>& restart,
                             const std::function<void(const VerdictStep&)>& take) = 0;
};

}  // namespace rharness

#endif  // RHARNESS_HARNESS_HISTORY_TALLY_H_
