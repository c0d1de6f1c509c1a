// Decides on a task from Slurm's reports. Pure: text and times in, decisions out.
//
// Sources: squeue(1), sacct(1) and sbatch(1) of Slurm 22.05, sections JOB STATE CODES and JOB
// REASON CODES.
#ifndef RHARNESS_HARNESS_EXECUTION_DISPATCH_SLURM_STATES_H_
#define RHARNESS_HARNESS_EXECUTION_DISPATCH_SLURM_STATES_H_

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "harness/base/result.h"
#include "harness/execution/dispatch/task_decision.h"

namespace rharness {

// A task as squeue or sacct tells it.
struct SlurmTask {
  std::string state;   // "PENDING", "NODE_FAIL", ...; without sacct's suffix
  std::string node;    // empty before it starts
  std::string reason;  // of squeue: why it waits or failed
};
// By "JOB_INDEX"; by "JOB" if only the whole array is known, as one that never started.
using SlurmTasks = std::map<std::string, SlurmTask>;

// Formats for squeue and sacct: one line per task, fields between bars.
inline constexpr std::string_view kSqueueFormat = "%F_%K|%T|%N|%r";
inline constexpr std::string_view kSacctFormat = "JobID,State,NodeList";

// Errors: invalid_input, which quotes an invalid line.
Result<SlurmTasks> ParseSqueue(std::string_view text);
// A requeued task appears more than once: the last line holds.
Result<SlurmTasks> ParseSacct(std::string_view text);
// The number printed by `sbatch --parsable`, also before ";CLUSTER".
Result<std::uint64_t> ParseSbatch(std::string_view text);
// MaxArraySize in the output of `scontrol show config`; the documented default if it is missing. It
// limits the highest index.
int MaxArraySize(std::string_view config);

enum class SlurmPhase {
  kLive,       // it waits, runs, is suspended or is being started or cleared away
  kEnded,      // it ended by itself, was cancelled, or exceeded its limits
  kNode,       // its node failed it
  kPreempted,  // it had to yield to another job
  kUnknown,    // an undocumented state
};
SlurmPhase PhaseOf(std::string_view state);

// Why a task will wait forever; empty if waiting is worthwhile. One sentence.
std::string WhyHopeless(const SlurmTask& task);

// It waits for a node that is down, drained or silent.
bool IsNodeOut(const SlurmTask& task);

// Whether a failure of sbatch is worth another try, or is an answer.
bool IsServiceTrouble(std::string_view sbatch_stderr);

// What is known of one task.
struct TaskView {
  std::optional<SlurmTask> queue;
  std::optional<SlurmTask> accounting;
  // Its evidence says that the run was stopped from outside.
  bool stopped = false;
  bool accounting_answers = false;  // sacct could be asked
  // Duration of IsNodeOut, for a task that may run nowhere else.
  std::chrono::nanoseconds since_out{0};
  std::chrono::nanoseconds since_ended{0};  // since Slurm first reported its end or its absence
};

// For a task without evidence of a completed run. Unknown is never done.
TaskDecision DecideTask(const TaskView& view);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXECUTION_DISPATCH_SLURM_STATES_H_
