// Child processes in interleaved rounds, and what they are fed.
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <random>
#include <sstream>

#include "tests/bench/bench.h"

extern char** environ;

namespace rharness::bench {
namespace {

double ToSeconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

std::atomic<int> interrupting_signal{0};
std::atomic<pid_t> current_child{0};
static_assert(std::atomic<pid_t>::is_always_lock_free, "used in a signal handler");

void KillCurrentChild() {
  const pid_t child = current_child.load();
  if (child > 0) ::kill(-child, SIGKILL);
}

extern "C" void OnInterrupt(int signal) {
  const int saved_errno = errno;
  interrupting_signal.store(signal);
  KillCurrentChild();
  errno = saved_errno;
}

Result<pid_t> Spawn(const std::vector<std::string>& argv, const std::filesystem::path& out) {
  std::vector<char*> arguments;
  for (const std::string& argument : argv) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, out.c_str(),
                                   O_WRONLY | O_CREAT | O_TRUNC, 0644);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  pid_t pid = 0;
  const int failure =
      ::posix_spawnp(&pid, arguments[0], &actions, &attributes, arguments.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (failure != 0) return ProcessError("cannot start", argv[0]);
  return pid;
}

}  // namespace

void CatchInterrupts() {
  struct sigaction action {};
  action.sa_handler = OnInterrupt;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) ::sigaction(signal, &action, nullptr);
}

int InterruptingSignal() { return interrupting_signal.load(); }

Result<Usage> RunChild(const std::vector<std::string>& argv, const std::filesystem::path& out) {
  if (InterruptingSignal() != 0) return ProcessError("interrupted", argv[0]);
  const auto start = std::chrono::steady_clock::now();
  ASSIGN_OR_RETURN(const pid_t pid, Spawn(argv, out));
  current_child.store(pid);
  if (InterruptingSignal() != 0) KillCurrentChild();  // it came before the handler knew the child
  int status = 0;
  rusage used{};
  pid_t ended = 0;
  do {
    ended = ::wait4(pid, &status, 0, &used);
  } while (ended < 0 && errno == EINTR);
  current_child.store(0);
  if (ended < 0) return ProcessError("cannot be waited for", argv[0]);
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - start;
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    return ProcessError(fmt::format("failed with wait status {}", status), argv[0]);
  }
  return Usage{ToSeconds(used.ru_utime) + ToSeconds(used.ru_stime), wall.count(),
               static_cast<std::uint64_t>(used.ru_maxrss) * 1024};
}

Result<std::map<std::string, double>> NumbersOf(const Context& context,
                                                const std::vector<std::string>& argv) {
  const std::filesystem::path out = context.scratch / "numbers";
  ASSIGN_OR_RETURN([[maybe_unused]] const Usage usage, RunChild(argv, out));
  std::ifstream lines(out);
  std::map<std::string, double> numbers;
  std::string name;
  for (double number = 0; lines >> name >> number;) numbers[name] = number;
  if (!lines.eof() || numbers.empty()) {
    return InvalidInput("expected lines of a name and a number", argv[0]);
  }
  return numbers;
}

Result<std::vector<std::vector<Usage>>> Interleave(
    const std::vector<std::vector<std::string>>& commands, int rounds,
    const std::function<Status(std::size_t)>& before) {
  std::vector<std::vector<Usage>> usages(commands.size());
  for (int round = 0; round < rounds; ++round) {
    for (std::size_t i = 0; i < commands.size(); ++i) {
      if (before) RETURN_IF_ERROR(before(i));
      ASSIGN_OR_RETURN(const Usage usage, RunChild(commands[i]));
      usages[i].push_back(usage);
    }
  }
  return usages;
}

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

double MedianCpu(const std::vector<Usage>& usages) {
  std::vector<double> seconds;
  for (const Usage& usage : usages) seconds.push_back(usage.cpu_seconds);
  return Median(std::move(seconds));
}

double MedianWall(const std::vector<Usage>& usages) {
  std::vector<double> seconds;
  for (const Usage& usage : usages) seconds.push_back(usage.wall_seconds);
  return Median(std::move(seconds));
}

double ShortestWall(const std::vector<Usage>& usages) {
  return std::min_element(
             usages.begin(), usages.end(),
             [](const Usage& a, const Usage& b) { return a.wall_seconds < b.wall_seconds; })
      ->wall_seconds;
}

bool HasProgram(const std::string& name) {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    if (::access((folder + "/" + name).c_str(), X_OK) == 0) return true;
  }
  return false;
}

Result<std::filesystem::path> RandomFile(const Context& context, const std::string& name,
                                         std::uint64_t size_bytes) {
  const std::filesystem::path path = context.scratch / name;
  std::error_code error;
  if (std::filesystem::file_size(path, error) == size_bytes && !error) return path;
  std::seed_seq seed(name.begin(), name.end());
  std::mt19937_64 random(seed);
  std::vector<std::uint64_t> block(std::min<std::uint64_t>(size_bytes, 1 << 20) / 8);
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  for (std::uint64_t written = 0; written < size_bytes; written += block.size() * 8) {
    if (InterruptingSignal() != 0) return ProcessError("interrupted", path.string());
    for (std::uint64_t& word : block) word = random();
    file.write(reinterpret_cast<const char*>(block.data()),
               static_cast<std::streamsize>(block.size() * 8));
  }
  file.close();
  if (!file) return IoError("cannot write", path.string());
  return path;
}

}  // namespace rharness::bench
