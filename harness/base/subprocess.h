// Child processes: a whole process group, an argument vector, a complete environment, limits, and
// output that is capped. Boost.Process is used by subprocess.cc alone.
#ifndef RHARNESS_HARNESS_BASE_SUBPROCESS_H_
#define RHARNESS_HARNESS_BASE_SUBPROCESS_H_

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/footprint.h"
#include "harness/base/result.h"

namespace rharness {

struct ProcessSpec {
  // argv[0] is looked up in environment["PATH"], as execvp does.
  std::vector<std::string> argv;
  // The child's whole environment, but for kJobMarker.
  std::map<std::string, std::string> environment;
  std::filesystem::path working_directory;  // empty: this process's own
  // The child's stdout and stderr are this process's own, live; nothing is captured or counted.
  bool inherit_stdio = false;
  // What leaves the child's process group is not the job's, and neither counted nor killed: the
  // monitors that a container engine's client starts and leaves behind.
  bool group_only = false;
  // False where the child hands its environment on to what is not the job's, as sbatch does: then
  // there is no kJobMarker in it.
  bool marked = true;
  // Where control groups can be had (cgroup.h), the child and all that it starts are in one of
  // their own, are held by it to the limits of memory and processes, and end with it; else memory
  // is watched, and what clears its environment and detaches at once may escape.
  bool own_cgroup = false;
  // Files and folders that the child and all that it starts see read-only, in a mount namespace of
  // their own; where none can be had, which takes root, nothing is done.
  std::vector<std::filesystem::path> read_only;
};

// The one variable that RunProcess adds to the environment of a marked child, in place of one of
// that name. Its value is unique to the call and always 16 characters long: JobSession and a count.
// Descendants that left the process group are found by it.
inline constexpr std::string_view kJobMarker = "RHARNESS_JOB";

struct ProcessLimits {
  std::chrono::nanoseconds timeout{0};  // 0: none
  // Of the whole process tree: what is charged to its control group, or else, watched, its resident
  // set. 0: none.
  std::uint64_t memory_bytes = 0;
  int processes = 0;             // and threads, in a control group; 0, or without one: no limit
  std::uint64_t disk_bytes = 0;  // blocks below `disk_root`, and size of any file; 0: none
  std::filesystem::path disk_root;
  std::uint64_t output_bytes = std::uint64_t{1} << 20;  // kept of each of stdout and stderr
  // What is written beyond that finds a closed pipe (SIGPIPE), instead of being read and dropped.
  bool close_when_full = false;
  // Whether to look, from time to time, at the programs and libraries of the tree. Of each program
  // these variables are kept.
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
  kNotStarted,   // it could not be started; `detail` says why
};
std::string_view OutcomeKindName(OutcomeKind kind);  // "exited", "timed_out", ...
Result<OutcomeKind> ParseOutcomeKind(std::string_view name);

struct Outcome {
  OutcomeKind kind = OutcomeKind::kLost;
  int exit_code = 0;     // of kExited
  int signal = 0;        // of kSignalled
  int error_number = 0;  // of kNotStarted: why, as errno says it; 0: not known. Not recorded.
  std::string detail;
  std::chrono::nanoseconds wall{0};
  std::chrono::nanoseconds cpu{0};      // user + system of the child and its waited-for children
  std::uint64_t peak_memory_bytes = 0;  // resident, as sampled
  // Which limits the kernel did not hold it to, where own_cgroup asked for that, and why; empty: to
  // all of them.
  std::string not_held;

  bool Succeeded() const { return kind == OutcomeKind::kExited && exit_code == 0; }
  // "exited with 3", "killed by SIGSEGV", "timed out after 12 s", ...
  std::string ToString() const;
};

struct ProcessResult {
  Outcome outcome;
  std::string stdout_text;  // the first half and the last half of what was written, when capped
  std::string stderr_text;
  std::uint64_t stdout_bytes = 0;  // written in all; closed when full: more than was kept
  std::uint64_t stderr_bytes = 0;
  // The program that was started, and what was seen in samples: what lived for less than some
  // milliseconds, or was mapped at the very end, may be missing.
  Footprint footprint;
};

// Starts the child in a process group of its own, with stdin from /dev/null, and watches it to its
// end, killing the whole tree (SIGTERM, two seconds later SIGKILL; at the memory and disk limits
// SIGKILL at once). The rest is also killed after the leader's end: the group, every descendant
// seen while its parent lived, every process that carries the job's marker, and what is in its
// control group. Without one, what clears its environment and leaves the process group within a
// twentieth of a second can escape; it cannot hold the call back. `on_start` gets the pid;
// `should_cancel` is asked about ten times a second. A kill by the kernel at the control group's
// limit is kMemoryLimit; any other one by SIGKILL is kSignalled. Memory that is watched counts
// pages shared inside the tree once (proportional set size). No core files are written.
// Thread-safe; blocks.
// Never fails: a child that could not be started is an Outcome. Cost: vfork, so independent of this
// process's size; watching takes about 1 % of a core.
ProcessResult RunProcess(const ProcessSpec& spec, const ProcessLimits& limits = {},
                         const std::function<void(int pid)>& on_start = {},
                         const std::function<bool()>& should_cancel = {});

// This process's environment variables named here, as they are set.
std::map<std::string, std::string> PickEnvironment(const std::vector<std::string>& names);

// Identity of a live process that survives pid reuse: its start time in clock ticks since boot
// (/proc/PID/stat field 22). Empty when there is no such process.
std::optional<std::uint64_t> ProcessStartTicks(int pid);
// What the markers of all children of this process begin with; drawn at random, 10 characters.
std::string JobSession();
// Kills every process that carries a marker of this session, which must be another process's, or is
// in a control group of it: what that left behind when it was killed, wherever it went since. Cost:
// reads the environment of every process of this user.
void KillSession(const std::string& session);
// Kills the group of `pid` if that process still is the one that started at `start_ticks`.
void KillLeftoverGroup(int pid, std::uint64_t start_ticks);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_BASE_SUBPROCESS_H_
