// The rows of a history on runs and drills, one struct each.
#ifndef RHARNESS_HARNESS_HISTORY_RECORDS_H_
#define RHARNESS_HARNESS_HISTORY_RECORDS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/clock.h"
#include "harness/history/signed_records.h"
#include "harness/verdict/states.h"
#include "harness/verdict/stored_verdict.h"

namespace rharness {

// One row of `history list`.
struct HistoryEntry : RunSummary {
  // Of what it ran on when it was last verified, for EnvironmentsOf. Empty: not kept.
  std::string environment_sha256 = {};
  std::optional<SignedRetirement> retirement = {};  // empty: not retired, or unsigned
};

// What `rharness check --available` was told of a run: whether all that it needs can still be had.
struct RebuildRecord {
  std::string run_id;
  WallTime asked{};
  PartState state = PartState::kUnknown;
  std::string body;  // the parts, as JSON
};

struct DrillRecord {
  std::string drill_id;
  WallTime started{};
  std::optional<WallTime> ended;  // these two are empty for drills of older versions
  std::optional<int> exit_code;
};

// Host and inputs of a rerun, from its evidence: parts by name, each a JSON text.
using Surroundings = std::map<std::string, std::string>;

// The parts of the machine: hardware, software, packages, and the image that they are in.
inline constexpr std::string_view kEnvironmentParts[] = {
    "environment.hardware", "environment.software", "environment.packages", "image_digest"};

// The environments in which runs were last verified, each once, however many runs share it.
struct VerifiedEnvironments {
  std::map<std::string, std::size_t> which;  // by HistoryEntry::environment_sha256: in `digests`
  std::vector<std::string> digests;          // one for GetSurroundings of each
};

// Further measures of a run by a drill, for indicators; each empty if there was nothing to measure,
// or if the drill's version kept none.
struct VerdictMeasures {
  std::string node;                          // node of its first rerun: a cluster's, or a host
  std::optional<bool> weights_equal;         // all checkpoints of weights to the bit
  std::optional<double> margins;             // the largest |difference| over its margin, of metrics
  std::optional<std::int64_t> warnings;      // of operators without a deterministic implementation
  std::optional<bool> data_had;              // all its training data were available again
  std::optional<std::int64_t> not_recorded;  // findings of its record's admission

  bool operator==(const VerdictMeasures&) const = default;
};

struct VerdictRecord {
  std::string drill_id;
  std::string run_id;
  Verdict verdict = Verdict::kInconclusive;
  WallTime decided{};
  int reruns = 0;
  std::string reasons;  // the decisive findings, and the limits for a report, as JSON
  // Read only: of the drill's first rerun that has some, for GetSurroundings. Empty: not kept.
  std::string surroundings_sha256 = {};
  // Read only: verdicts in order of entry, whatever the clock showed.
  std::int64_t sequence = 0;
  std::optional<VerdictMeasures> measures = {};  // entered only
};

// A drill's verdict on the runs of one configuration together.
struct FamilyRecord {
  std::string drill_id;
  std::string family;
  std::string configuration;  // ConfigurationKey
  std::string name;           // for people: the family's, or "mlp (as mlp-7)"
  Verdict verdict = Verdict::kInconclusive;
  WallTime decided{};
  int runs = 0;         // of different seeds and of equal ones, including those apart
  std::string reasons;  // the decisive findings, as JSON
};

struct RerunRecord {
  std::string drill_id;
  std::string run_id;
  int rerun = 0;
  std::string outcome;  // Outcome::ToString
  double wall_seconds = 0.0;
  std::string evidence_sha256;
  // Called when the rerun is entered: a list of packages is long. None, or empty: nothing is kept.
  std::function<Surroundings()> surroundings = {};
};

// Number of runs of a family with this last verdict; excludes retired runs.
struct HistoryCount {
  std::string family;
  std::optional<Verdict> last_verdict;  // empty: never drilled
  std::int64_t runs = 0;
};

// What one drill made of its runs.
struct DrillResults {
  std::vector<RerunRecord> reruns;
  std::vector<VerdictRecord> verdicts;
  std::vector<FamilyRecord> families;
};

enum class AddOutcome { kAdded, kAlreadyThere };

// A run to enter: its manifest's text, and the parts copied from it into columns.
struct NewRun {
  std::string run_id;
  std::string family;
  std::string configuration;
  std::string declared;
  WallTime started{};
  double duration_seconds = 0.0;
  std::string sha256;  // of the text
  std::string body;
  std::string code_commit = {}, image = {};  // search keys; each may be empty
};

// The history's content under the run_id of a new run.
enum class HeldContent { kNone, kSame, kOther };

}  // namespace rharness

#endif  // RHARNESS_HARNESS_HISTORY_RECORDS_H_
