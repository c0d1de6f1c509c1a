// Child processes: a whole process group, an argument vector, a complete environment, limits, and
// capped output. Only subprocess.cc uses Boost.Process.
#ifndef RHARNESS_HARNESS_BASE_SUBPROCESS_H_
#define RHARNESS_HARNESS_BASE_SUBPROCESS_H_

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/footprint.h"
#include "harness/base/result.h"

namespace rharness {

class JointMemory;

struct ProcessSpec {
  // argv[0] is looked up in environment["PATH"], as execvp does.
  std::vector<std::string> argv;
  // The child's whole environment, but for kJobMarker.
  std::map<std::string, std::string> environment;
  std::filesystem::path working_directory;  // empty: this process's own
  // The child writes to this process's stdout and stderr; nothing is captured or counted.
  bool inherit_stdio = false;
  // Processes that leave the child's process group are not part of the job, and neither counted nor
  // killed: the monitors that a container engine's client starts and leaves behind.
  bool group_only = false;
  // False if the child passes its environment to processes outside the job, as sbatch does: then it
  // gets no kJobMarker.
  bool marked = true;
  // If control groups are available (cgroup.h), the child and its descendants run in one of their
  // own, which limits memory and processes and ends with them; else memory is watched, and a
  // process that clears its environment and detaches at once may escape.
  bool own_cgroup = false;
  // Files and folders that the child and its descendants see read-only, in their own mount
  // namespace; no effect if none is available, which takes root.
  std::vector<std::filesystem::path> read_only;
};

// The one variable that RunProcess adds to (or replaces in) the environment of a marked child. Its
// value is unique to the call and always 16 characters long: JobSession and a count. It identifies
// descendants that left the process group.
inline constexpr std::string_view kJobMarker = "RHARNESS_JOB";

struct ProcessLimits {
  std::chrono::nanoseconds timeout{0};  // 0: none
  // Of the whole process tree: memory charged to its control group, or else, watched, its resident
  // set. 0: none.
  std::uint64_t memory_bytes = 0;
  std::shared_ptr<JointMemory> joint_memory;  // beside it, of this child and others; null: none
  int processes = 0;             // and threads, in a control group; 0, or without one: no limit
  std::uint64_t disk_bytes = 0;  // blocks below `disk_root`, and size of any file; 0: none
  std::filesystem::path disk_root;
  std::uint64_t output_bytes = std::uint64_t{1} << 20;  // kept of each of stdout and stderr
  // Further output meets a closed pipe (SIGPIPE), instead of being read and dropped.
  bool close_when_full = false;
  // Whether to sample the tree's programs and libraries, and these variables of each program.
  bool footprint = false;
  std::vector<std::string> footprint_variables;
};

// What the child did. Never an Error.
enum class OutcomeKind {
  kExited,
  kSignalled,    // by somebody else than rharness
  kTimedOut,     // killed at its time limit
  kMemoryLimit,  // killed at its memory limit
  kDiskLimit,    // killed at its disk limit
  kCancelled,    // killed because the drill was interrupted
  kLost,         // its end was not seen
  kNotStarted,   // it could not be started; `detail` has the reason
};
std::string_view OutcomeKindName(OutcomeKind kind);  // "exited", "timed_out", ...
Result<OutcomeKind> ParseOutcomeKind(std::string_view name);

struct Outcome {
  OutcomeKind kind = OutcomeKind::kLost;
  int exit_code = 0;     // of kExited
  int signal = 0;        // of kSignalled
  int error_number = 0;  // errno of kNotStarted; 0: not known. Not recorded.
  std::string detail;
  std::chrono::nanoseconds wall{0};
  std::chrono::nanoseconds cpu{0};      // user + system of the child and its waited-for children
  std::uint64_t peak_memory_bytes = 0;  // resident, as sampled
  // Limits that the kernel did not enforce although own_cgroup asked for it, and why; empty: it
  // enforced all.
  std::string not_held;

  bool Succeeded() const { return kind == OutcomeKind::kExited && exit_code == 0; }
  // "exited with 3", "killed by SIGSEGV", "timed out after 12 s", ...
  std::string ToString() const;
};

struct ProcessResult {
  Outcome outcome;
  std::string stdout_text;  // the first half and the last half, if capped
  std::string stderr_text;
  std::uint64_t stdout_bytes = 0;  // total written; closed when full: more than was kept
  std::uint64_t stderr_bytes = 0;
  // When rharness stopped it: for how long it had printed nothing, and its last line until then.
  std::chrono::nanoseconds silence{0};
  std::string last_line;
  // The program that was started, and what samples saw: processes that lived for less than some
  // milliseconds, or files mapped at the very end, may be missing.
  Footprint footprint;
};

// Starts the child in a process group of its own, with stdin from /dev/null, and watches it to its
// end, killing the whole tree (SIGTERM, two seconds later SIGKILL; at the memory and disk limits
// SIGKILL at once). After the leader's end it also kills the rest: the group, every descendant seen
// while its parent lived, every process with the job's marker, and its control group. Without one,
// a process that clears its environment and leaves the process group within a twentieth of a second
// can escape; it cannot delay the call. `on_start` gets the pid; `should_cancel` is polled about
// ten times a second; `on_failure` is called at most once, as soon as the leader failed or met a
// limit, before anything else is ended. A kill by the kernel at the control group's limit is
// kMemoryLimit; any other SIGKILL is kSignalled. Watched memory counts pages shared inside the tree
// once (proportional set size). No core files are written. Thread-safe; blocks. Never fails: a
// child that could not be started is an Outcome. If this process is killed, what it started here
// ends all the same, unless it is not marked (job_keeper.h). Cost: vfork, so independent of this
// process's size; watching costs about 1 % of a core.
ProcessResult RunProcess(const ProcessSpec& spec, const ProcessLimits& limits = {},
                         const std::function<void(int pid)>& on_start = {},
                         const std::function<bool()>& should_cancel = {},
                         const std::function<void()>& on_failure = {});

// The named variables of this process's environment that are set.
std::map<std::string, std::string> PickEnvironment(const std::vector<std::string>& names);

// Identity of a live process that survives pid reuse: its start time in clock ticks since boot
// (/proc/PID/stat field 22). Empty when there is no such process.
std::optional<std::uint64_t> ProcessStartTicks(int pid);
// Prefix of the markers of all children of this process; drawn at random, 10 characters.
std::string JobSession();
// Kills every process with a marker of this session, which must be another process's, or in a
// control group of it: leftovers of a killed process, wherever they went. Cost: reads the
// environment of every process of this user.
void KillSession(const std::string& session);
// Kills the group of `pid` if that process is still the one that started at `start_ticks`.
void KillLeftoverGroup(int pid, std::uint64_t start_ticks);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_BASE_SUBPROCESS_H_
