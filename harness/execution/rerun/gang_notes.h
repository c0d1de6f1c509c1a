// What the nodes of a gang tell each other, as files in a folder that all of them see.
//
// Role: the nouns of gang_session.h, which writes and reads them. The run itself could write them,
// too: they are read strictly, and no path in them is opened but node 0's workspace.
#ifndef RHARNESS_HARNESS_EXECUTION_RERUN_GANG_NOTES_H_
#define RHARNESS_HARNESS_EXECUTION_RERUN_GANG_NOTES_H_

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "harness/base/json.h"
#include "harness/base/result.h"
#include "harness/execution/launch/job.h"
#include "harness/execution/rerun/rendezvous.h"
#include "harness/records/manifest/evidence.h"

namespace rharness {

// A node that could start its tasks, or cannot.
struct NodeReady {
  Machine machine;
  std::string address;        // by which others reach it
  int port = 0;               // of node 0: free when it was chosen
  std::string workspace;      // of node 0: the run's folder, absolute
  std::vector<Mount> mounts;  // of node 0: what links in it point to
  // Of node 0, whose command starts processes on other nodes, too: the folder of their notes, the
  // same path on each node. Empty: nothing is observed there.
  std::string notes;
  // Why it cannot; empty: it could.
  std::string obstacle;
  std::optional<Layer> layer;  // of the obstacle; empty: infrastructure
  bool infrastructure = false;
};

// The failure of the run that came first; what other ranks did then is its consequence.
struct FirstFailure {
  int node = 0;
  int rank = 0;
  std::string host;
  Outcome outcome;
  std::string last_line;  // of its stderr
};

struct TaskEnd {
  int rank = 0;
  Outcome outcome;
  bool stopped = false;  // with the others, after a failure elsewhere
  // Of one that was stopped, here or at a limit: for how long it had printed nothing by then, by
  // this node's clock, and the last line of its output.
  std::chrono::nanoseconds silence{0};
  std::string last_line;
  std::optional<Observation> observation;
};

// All that a node leaves.
struct PartEnd {
  Evidence evidence;
  bool infrastructure = false;
  std::vector<TaskEnd> tasks;
  std::uint64_t peak_memory_bytes = 0;  // of its tasks together
};

Json ToJson(const NodeReady& ready);
Json ToJson(const FirstFailure& failure);
Json ToJson(const Rendezvous& start);
Json ToJson(const PartEnd& end);
// Errors: invalid_input with file and JSON path.
Result<NodeReady> ParseNodeReady(const Json& json, std::string_view file);
Result<FirstFailure> ParseFirstFailure(const Json& json, std::string_view file);
Result<Rendezvous> ParseRendezvous(const Json& json, std::string_view file);
Result<PartEnd> ParsePartEnd(const Json& json, std::string_view file);

// "rank 3 on n3 exited with 1: ModuleNotFoundError: numpy".
std::string InWords(const FirstFailure& failure);

// Sorted numbers: "0-3, 7".
std::string InRanges(const std::vector<int>& numbers);

// What srun says of the step that starts the other nodes, by its stderr, in which their lines are,
// too. Pure. Source: Slurm 22.05, messages of srun.
struct StepWord {
  std::string why;        // empty: nothing that keeps a node from coming up
  bool is_final = false;  // else it goes on trying
};
// The file of that stderr, beside the gang's folders; its last line tells the end of srun.
inline constexpr char kStepLog[] = "step.log";
StepWord ReadStepLog(std::string_view text);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXECUTION_RERUN_GANG_NOTES_H_
