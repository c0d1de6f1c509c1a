// What Slurm says of a task, and what follows from it. Pure: text and times in, decisions out.
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
  std::string state;   // "PENDING", "NODE_FAIL", ...; without what sacct adds behind it
  std::string node;    // empty before it starts
  std::string reason;  // of squeue: why it waits or failed
};
// By "JOB_INDEX"; by "JOB" where an array is known as a whole alone, as one that never started.
using SlurmTasks = std::map<std::string, SlurmTask>;

// What squeue and sacct are asked for: one line a task, fields between bars.
inline constexpr std::string_view kSqueueFormat = "%F_%K|%T|%N|%r";
inline constexpr std::string_view kSacctFormat = "JobID,State,NodeList";

// Errors: invalid_input, which quotes the line that is none.
Result<SlurmTasks> ParseSqueue(std::string_view text);
// A task that was requeued is there more than once: the last line holds.
Result<SlurmTasks> ParseSacct(std::string_view text);
// The number that `sbatch --parsable` prints, also in front of ";CLUSTER".
Result<std::uint64_t> ParseSbatch(std::string_view text);
// MaxArraySize in the output of `scontrol show config`; the documented default where it is missing.
// It caps the highest index.
int MaxArraySize(std::string_view config);

enum class SlurmPhase {
  kLive,       // it waits, runs, is suspended or is being started or cleared away
  kEnded,      // it came to an end of its own, or was cancelled or out of its limits
  kNode,       // its node failed it
  kPreempted,  // it had to go for another job
  kUnknown,    // a state that is in no manual
};
SlurmPhase PhaseOf(std::string_view state);

// A task that waits for this will wait for ever; empty where it is worth waiting. One sentence.
std::string WhyHopeless(const SlurmTask& task);

// It waits for a node that is down, drained or does not answer.
bool IsNodeOut(const SlurmTask& task);

// What refused an sbatch: worth another try, or an answer?
bool IsServiceTrouble(std::string_view sbatch_stderr);

// What is known of one task.
struct TaskView {
  std::optional<SlurmTask> queue;
  std::optional<SlurmTask> accounting;
  // There is evidence, and it says that the run was stopped from outside.
  bool stopped = false;
  bool accounting_answers = false;  // sacct could be asked
  // That IsNodeOut, of a task that may run nowhere else.
  std::chrono::nanoseconds since_out{0};
  std::chrono::nanoseconds since_ended{0};  // that Slurm first said that it ended or was gone
};

// For a task that has left no evidence of a run that came to its end. Unknown is never done.
TaskDecision DecideTask(const TaskView& view);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXECUTION_DISPATCH_SLURM_STATES_H_
