// Starts children. The only file that knows Boost.Process: its executor sequences vfork, our setup
// in the child, execve and the report of a failure; this file decides everything in between.
#include "harness/base/subprocess.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <pthread.h>
#include <signal.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/version.hpp>
// Boost needs an old X/Open level as a promise of vfork; Linux has always had it.
#define BOOST_POSIX_HAS_VFORK 1
#if BOOST_VERSION >= 108600
#include <boost/process/v1/child.hpp>
#include <boost/process/v1/extend.hpp>
#include <boost/process/v1/posix.hpp>
namespace boost_process = boost::process::v1;
#else
#include <boost/process/child.hpp>
#include <boost/process/extend.hpp>
#include <boost/process/posix.hpp>
namespace boost_process = boost::process;
#endif

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>

#include "harness/base/confinement.h"
#include "harness/base/descriptor.h"
#include "harness/base/job_keeper.h"
#include "harness/base/log.h"
#include "harness/base/process_watch.h"
#include "harness/base/read_only_mounts.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

// Everything that the child needs between vfork and execve, prepared beforehand: it shares the
// parent's memory there, so it allocates nothing and makes only async-signal-safe calls.
struct Launch {
  std::string program;
  std::vector<char*> argv;
  std::vector<char*> envp;
  std::string working_directory;
  int stdin_fd = -1;
  int stdout_fd = -1;  // -1: the parent's
  int stderr_fd = -1;
  std::uint64_t file_size_limit = 0;  // 0: none
  std::vector<int> cgroup_fds;        // the entrances of its control groups
  std::vector<const char*> read_only;

  // Written by the child: itself, and why it cannot become the program.
  pid_t pid = 0;
  std::size_t entered = 0;  // control groups, from the first one on
  int error_number = 0;
  const char* failed_step = "";
  int mount_error = 0;  // why nothing is read-only that should be
};

[[noreturn]] void FailInChild(Launch* launch, const char* step, int error_number) {
  launch->error_number = error_number;
  launch->failed_step = step;
  ::_exit(127);
}

void SetLimit(Launch* launch, __rlimit_resource resource, rlim_t value) {
  rlimit limit{};
  if (::getrlimit(resource, &limit) != 0) FailInChild(launch, "getrlimit", errno);
  limit.rlim_max = std::min(limit.rlim_max, value);
  limit.rlim_cur = limit.rlim_max;
  if (::setrlimit(resource, &limit) != 0) FailInChild(launch, "setrlimit", errno);
}

void ResetSignals() {
  struct sigaction action {};
  action.sa_handler = SIG_DFL;
  for (int signal = 1; signal < NSIG; ++signal) ::sigaction(signal, &action, nullptr);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

void PrepareChild(Launch* launch) {
  launch->pid = ::getpid();
  // First, since their numbers may be those of standard streams.
  for (const int entrance : launch->cgroup_fds) {
    if (::syscall(SYS_write, entrance, "0", 1UL) != 1) break;
    ++launch->entered;
  }
  if (!launch->read_only.empty()) launch->mount_error = MountReadOnly(launch->read_only);
  if (::setpgid(0, 0) != 0) FailInChild(launch, "setpgid", errno);
  if (::dup2(launch->stdin_fd, STDIN_FILENO) < 0 ||
      (launch->stdout_fd >= 0 && ::dup2(launch->stdout_fd, STDOUT_FILENO) < 0) ||
      (launch->stderr_fd >= 0 && ::dup2(launch->stderr_fd, STDERR_FILENO) < 0)) {
    FailInChild(launch, "dup2", errno);
  }
  // Descriptors that some library opened without O_CLOEXEC stay here; kernels before 5.11 refuse.
  constexpr long kCloseRange = 436;  // SYS_close_range, which glibc's headers before 2.32 lack
  ::syscall(kCloseRange, 3U, ~0U, 4U /* CLOSE_RANGE_CLOEXEC */);
  if (!launch->working_directory.empty() && ::chdir(launch->working_directory.c_str()) != 0) {
    FailInChild(launch, "cannot enter the working directory", errno);
  }
  SetLimit(launch, RLIMIT_CORE, 0);
  // Above the largest file size the kernel would read the limit as a negative one.
  constexpr rlim_t kLargestFile = std::numeric_limits<off_t>::max();
  if (launch->file_size_limit > 0 && launch->file_size_limit <= kLargestFile) {
    SetLimit(launch, RLIMIT_FSIZE, launch->file_size_limit);
  }
  ResetSignals();
}

// The hooks of Boost.Process' executor.
struct LaunchHandler : boost_process::extend::handler {
  explicit LaunchHandler(Launch* to_launch) : launch(to_launch) {}
  template <class Executor>
  void on_setup(Executor& executor) const {
    executor.exe = launch->program.c_str();
    executor.cmd_line = launch->argv.data();
    executor.env = launch->envp.data();
  }
  template <class Executor>
  void on_exec_setup(Executor&) const {
    PrepareChild(launch);
  }
  template <class Executor>
  void on_exec_error(Executor&, const std::error_code& error) const {
    FailInChild(launch, "cannot execute", error.value());
  }
  Launch* launch;
};

// No handler of this process may run in the child while the memory is shared.
class AllSignalsBlocked {
 public:
  AllSignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &old_);
  }
  AllSignalsBlocked(const AllSignalsBlocked&) = delete;
  AllSignalsBlocked& operator=(const AllSignalsBlocked&) = delete;
  ~AllSignalsBlocked() { ::pthread_sigmask(SIG_SETMASK, &old_, nullptr); }

 private:
  sigset_t old_;
};

// The child's pid, or 0 with launch->error_number set.
int Spawn(Launch* launch) {
  const AllSignalsBlocked blocked;
  std::error_code error;
  int pid = 0;
  try {
    boost_process::child child(LaunchHandler(launch), boost_process::posix::use_vfork, error);
    pid = child.id();
    if (launch->error_number == 0 && !error) child.detach();
  } catch (const std::exception&) {
    if (!error) error = std::make_error_code(std::errc::resource_unavailable_try_again);
  }
  if (launch->error_number == 0 && error) {
    launch->error_number = error.value();
    launch->failed_step = "cannot create a process";
  }
  if (launch->error_number == 0) return pid;
  // Whether Boost has waited for a child that failed depends on its version.
  if (launch->pid > 0) ::waitpid(launch->pid, nullptr, 0);
  return 0;
}

// Where a program named without a slash is found, as seen from the child's working directory, from
// which relative folders of `path` count. As execvp does: the first that can be executed; EACCES
// if one could not, else ENOENT.
std::string FindProgram(const std::string& name, std::string_view path,
                        const fs::path& working_directory, int* error_number) {
  if (name.find('/') != std::string::npos) return name;
  *error_number = ENOENT;
  while (!name.empty()) {
    const std::size_t colon = path.find(':');
    const fs::path candidate = fs::path(".") / path.substr(0, colon) / name;
    const fs::path seen_from_here = working_directory / candidate;
    struct stat info {};
    if (::stat(seen_from_here.c_str(), &info) == 0 && S_ISREG(info.st_mode)) {
      if (::access(seen_from_here.c_str(), X_OK) == 0) {
        *error_number = 0;
        return candidate.string();
      }
      *error_number = EACCES;
    }
    if (colon == std::string_view::npos) break;
    path.remove_prefix(colon + 1);
  }
  return {};
}

std::string NewJobId() {
  static std::atomic<std::uint32_t> counter{0};
  return JobSession() + fmt::format("{:06x}", counter.fetch_add(1) & 0xffffffU);
}

// Empty when argv and environment can be handed to execve.
std::string WhyUnusable(const ProcessSpec& spec) {
  if (spec.argv.empty()) return "the argument vector is empty";
  for (const std::string& argument : spec.argv) {
    if (argument.find('\0') != std::string::npos) return "an argument contains a NUL byte";
  }
  for (const auto& [name, value] : spec.environment) {
    if (name.empty() || name.find_first_of(std::string_view("=\0", 2)) != std::string::npos) {
      return fmt::format("'{}' is no name of an environment variable", name);
    }
    if (value.find('\0') != std::string::npos) {
      return fmt::format("the value of {} contains a NUL byte", name);
    }
  }
  return {};
}

// Opens with O_CLOEXEC and a number above the standard three, which a parent without open standard
// streams would otherwise hand out.
Descriptor AboveStandard(int fd) {
  Descriptor opened(fd);
  if (fd < 0 || fd > STDERR_FILENO) return opened;
  return Descriptor(::fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
}

struct Pipe {
  Descriptor read;
  Descriptor write;

  bool Open() {
    int fds[2];
    if (::pipe2(fds, O_CLOEXEC) != 0) return false;
    read = AboveStandard(fds[0]);
    write = AboveStandard(fds[1]);
    return read.valid() && write.valid();
  }
};

ProcessResult NotStarted(std::string detail) {
  ProcessResult result;
  result.outcome.kind = OutcomeKind::kNotStarted;
  result.outcome.detail = std::move(detail);
  return result;
}

ProcessResult NotStarted(std::string_view step, const std::string& subject, int error_number) {
  ProcessResult result =
      NotStarted(fmt::format("{} '{}': {}", step, subject, std::strerror(error_number)));
  result.outcome.error_number = error_number;
  return result;
}

// A spec as execve wants it. The strings must outlive the launch.
void FillLaunch(const ProcessSpec& spec, const ProcessLimits& limits,
                std::vector<std::string>* environment, Launch* launch) {
  for (const auto& [name, value] : spec.environment) {
    if (name != kJobMarker) environment->push_back(fmt::format("{}={}", name, value));
  }
  for (const std::string& argument : spec.argv) {
    launch->argv.push_back(const_cast<char*>(argument.c_str()));
  }
  for (std::string& variable : *environment) launch->envp.push_back(variable.data());
  launch->argv.push_back(nullptr);
  launch->envp.push_back(nullptr);
  for (const fs::path& path : spec.read_only) launch->read_only.push_back(path.c_str());
  launch->working_directory = spec.working_directory.string();
  // One block more than the limit, so that a file can pass it and be seen to.
  constexpr std::uint64_t kBlock = 4096;
  if (limits.disk_bytes > 0) {
    launch->file_size_limit = std::min(limits.disk_bytes, RLIM_INFINITY - 1 - kBlock) + kBlock;
  }
}

// What a machine does not offer is the same for every child.
template <class Topic, class Text>
void SayOnce(Text text) {
  [[maybe_unused]] static const bool said = (LogDebug(text()), true);
}

// The program that was started is known, even if it ended before anybody looked.
void AddStarted(const fs::path& program, const ProcessSpec& spec, const ProcessLimits& limits,
                Footprint* footprint) {
  std::error_code error;
  SeenProgram started{.executable = fs::canonical(spec.working_directory / program, error).string(),
                      .invoked_as = spec.argv.front(),
                      .working_directory = spec.working_directory.string(),
                      .variables = {}};
  if (error) return;
  if (started.working_directory.empty()) {
    started.working_directory = fs::current_path(error).string();
  }
  for (const std::string& name : limits.footprint_variables) {
    const auto found = spec.environment.find(name);
    if (found != spec.environment.end()) started.variables.insert(*found);
  }
  footprint->programs.insert(std::move(started));
}

}  // namespace

std::string JobSession() {
  static const std::uint64_t drawn = [] {
    // Not std::random_device, which asks for a glibc newer than most images have.
    std::uint64_t value = 0;
    if (::getrandom(&value, sizeof(value), 0) != sizeof(value)) Abort("getrandom failed");
    return value;
  }();
  return fmt::format("{:016x}", drawn).substr(0, 10);
}

ProcessResult RunProcess(const ProcessSpec& spec, const ProcessLimits& limits,
                         const std::function<void(int pid)>& on_start,
                         const std::function<bool()>& should_cancel,
                         const std::function<void()>& on_failure) {
  if (std::string why = WhyUnusable(spec); !why.empty()) return NotStarted(std::move(why));
  StartedProcess child;
  const std::string job = NewJobId();
  child.marker = fmt::format("{}={}", kJobMarker, job);
  child.group_only = spec.group_only;
  std::vector<std::string> environment;
  if (spec.marked) environment.push_back(child.marker);
  Launch launch;
  FillLaunch(spec, limits, &environment, &launch);

  const auto path = spec.environment.find("PATH");
  int error_number = 0;
  launch.program = FindProgram(spec.argv.front(),
                               path == spec.environment.end() ? "/bin:/usr/bin" : path->second,
                               spec.working_directory, &error_number);
  if (error_number != 0) return NotStarted("cannot execute", spec.argv.front(), error_number);

  const Descriptor null = AboveStandard(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  Pipe out;
  Pipe err;
  if (!null.valid() || (!spec.inherit_stdio && (!out.Open() || !err.Open()))) {
    return NotStarted("no descriptors for", spec.argv.front(), errno);
  }
  launch.stdin_fd = null.get();
  launch.stdout_fd = out.write.get();
  launch.stderr_fd = err.write.get();

  Confinement confinement(spec, limits, job);
  launch.cgroup_fds = confinement.entrances();
  const KeptJob kept(spec.marked);
  child.started = std::chrono::steady_clock::now();
  child.pid = Spawn(&launch);
  if (child.pid == 0) {
    const bool in_folder =
        std::string_view(launch.failed_step).find("directory") != std::string::npos;
    return NotStarted(launch.failed_step, in_folder ? launch.working_directory : spec.argv.front(),
                      launch.error_number);
  }
  if (launch.mount_error != 0) {
    SayOnce<struct NotReadOnly>([&] {
      return fmt::format(
          "shared data cannot be mounted read-only: {}; they are looked at afterwards",
          std::strerror(launch.mount_error));
    });
  }
  confinement.Enter(launch.entered);
  child.confinement = &confinement;
  out.write.Close();
  err.write.Close();
  child.stdout_read = std::move(out.read);
  child.stderr_read = std::move(err.read);
  if (on_start) on_start(child.pid);
  ProcessResult result = WatchProcess(std::move(child), limits, should_cancel, on_failure);
  if (limits.footprint) AddStarted(launch.program, spec, limits, &result.footprint);
  return result;
}

}  // namespace rharness
