// A job: one rerun, ready to start, and the two small interfaces that start it.
//
// Role: a Launcher turns a job into an argument vector (host, podman, docker, apptainer, enroot);
// an Executor runs an argument vector somewhere (here). The two are orthogonal.
#ifndef RHARNESS_HARNESS_EXECUTION_LAUNCH_JOB_H_
#define RHARNESS_HARNESS_EXECUTION_LAUNCH_JOB_H_

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/result.h"
#include "harness/base/subprocess.h"
#include "harness/records/manifest/manifest.h"

namespace rharness {

// Limit on processes and threads of a job on every launcher: more than any data loader starts,
// fewer than a machine can bear.
inline constexpr int kMostProcesses = 16384;

// Data outside the workspace that the command sees under an absolute path, read-only.
struct Mount {
  std::filesystem::path source;
  std::string target;
};

// A folder in memory: empty, for the command alone, removed with it. Uses its memory.
struct Scratch {
  std::string target;
  std::uint64_t size_bytes = 0;
};

struct Job {
  std::string name;  // "RUN.1": unique in the drill
  std::vector<std::string> command;
  std::filesystem::path workspace;                 // fresh; holds links to relative data and code
  std::string working_directory;                   // relative to the workspace
  std::vector<Mount> mounts;                       // absolute data, and targets of workspace links
  std::optional<Scratch> scratch;                  // of a container, beside /tmp
  std::map<std::string, std::string> environment;  // complete: nothing is inherited
  Image image;
  std::filesystem::path image_file;  // if the image is a file: its path, proved; absolute
  Resources resources;
  ProcessLimits limits;
  // In a container of a rootful engine the job is the machine's root, not an unprivileged user.
  bool container_root = false;
};

// The image that ran, according to the engine. Empty strings for host runs.
struct ImageProof {
  std::string digest;    // manifest digest of the image, as the engine knows it
  std::string image_id;  // configuration digest of the container's image
};

class Launcher {
 public:
  virtual ~Launcher() = default;
  virtual std::string_view name() const = 0;  // as MakeLauncher knows it
  // Makes the image present and checks its digest; explicit and separate so that the run itself
  // never pulls. Idempotent, thread-safe. Errors: not_found (no such image or digest: terminal),
  // process and timeout (infrastructure: worth a retry), integrity (it pulled another image).
  virtual Status Prepare(const Image& image) = 0;
  // Gives the workspace, which is filled, to the user of the job. Errors: io, invalid_input.
  virtual Status HandOver(const Job& job) const = 0;
  virtual Result<ProcessSpec> BuildCommand(const Job& job) const = 0;
  // After the process ended: which image ran, and was the outcome the engine's or the job's? May
  // change *outcome (125 from the engine is kNotStarted, 137 at the memory limit kMemoryLimit).
  virtual Result<ImageProof> Finish(const Job& job, Outcome* outcome) = 0;
};

// "host", "podman", "docker", "apptainer", "enroot" or "pod". Errors: invalid_input for another
// name, not_found when the engine is not installed.
Result<std::unique_ptr<Launcher>> MakeLauncher(std::string_view name);
// The launcher for images of this kind: the requested one, if it runs such
// images; for "auto" the first that does. Empty: none.
std::string ChooseLauncher(std::string_view asked, ImageKind image_kind);

struct ExecutionHooks {
  std::function<void(int pid)> on_start;  // may be empty
  std::function<bool()> should_cancel;    // may be empty
  std::function<void()> on_failure;       // may be empty; see RunProcess
};

class Executor {
 public:
  virtual ~Executor() = default;
  virtual std::string_view name() const = 0;  // "local"
  // Runs to the end and blocks; called from several threads at once.
  virtual ProcessResult Execute(const ProcessSpec& spec, const ProcessLimits& limits,
                                const ExecutionHooks& hooks) = 0;
};

// Runs processes on this machine.
std::unique_ptr<Executor> MakeLocalExecutor();

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXECUTION_LAUNCH_JOB_H_
