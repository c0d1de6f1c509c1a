// Child processes in interleaved rounds, and what they are fed.
#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
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

}  // namespace

Result<Usage> RunChild(const std::vector<std::string>& argv, const std::filesystem::path& out) {
  std::vector<char*> arguments;
  for (const std::string& argument : argv) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, out.c_str(),
                                   O_WRONLY | O_CREAT | O_TRUNC, 0644);
  const auto start = std::chrono::steady_clock::now();
  pid_t pid = 0;
  const int failure =
      ::posix_spawnp(&pid, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failure != 0) return ProcessError("cannot start", argv[0]);
  int status = 0;
  rusage used{};
  while (::wait4(pid, &status, 0, &used) < 0) {
    if (errno != EINTR) return ProcessError("cannot be waited for", argv[0]);
  }
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - start;
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    return ProcessError(fmt::format("failed with wait status {}", status), argv[0]);
  }
  return Usage{ToSeconds(used.ru_utime) + ToSeconds(used.ru_stime), wall.count()};
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

double MedianCpu(std::vector<Usage> usages) {
  std::sort(usages.begin(), usages.end(),
            [](const Usage& a, const Usage& b) { return a.cpu_seconds < b.cpu_seconds; });
  const std::size_t half = usages.size() / 2;
  if (usages.size() % 2 == 1) return usages[half].cpu_seconds;
  return (usages[half - 1].cpu_seconds + usages[half].cpu_seconds) / 2;
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
    for (std::uint64_t& word : block) word = random();
    file.write(reinterpret_cast<const char*>(block.data()),
               static_cast<std::streamsize>(block.size() * 8));
  }
  file.close();
  if (!file) return IoError("cannot write", path.string());
  return path;
}

}  // namespace rharness::bench
