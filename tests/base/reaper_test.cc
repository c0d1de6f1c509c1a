// A test program that is killed leaves no server of its own behind, and no other one is touched.
#include "tests/base/reaper.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <functional>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "harness/base/files.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

// Starts a program that detaches at once and whose child does, too, in a folder; both write who
// they are.
void StartDaemons(const fs::path& folder, const fs::path& pids) {
  const std::string script = "cd " + folder.string() + " && (setsid sh -c 'echo $$ >> " +
                             pids.string() + "; cd /; sleep 600' & echo $! >> " + pids.string() +
                             "; sleep 600) > /dev/null 2>&1 < /dev/null &";
  const pid_t child = ::fork();
  if (child == 0) {
    ::execlp("setsid", "setsid", "sh", "-c", script.c_str(), nullptr);
    ::_exit(127);
  }
  ::waitpid(child, nullptr, 0);
}

std::vector<int> Pids(const fs::path& file) {
  std::vector<int> pids;
  const auto text = ReadFile(file);
  std::istringstream lines(text.ok() ? *text : "");
  for (int pid = 0; lines >> pid;) pids.push_back(pid);
  return pids;
}

// Dead ones may wait for somebody to fetch them.
bool Lives(int pid) {
  const auto stat = ReadFile("/proc/" + std::to_string(pid) + "/stat");
  return stat.ok() && stat->find(") Z ") == std::string::npos;
}

bool Within(std::chrono::seconds limit, const std::function<bool()>& done) {
  const auto end = std::chrono::steady_clock::now() + limit;
  while (!done()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return true;
}

TEST(Reaper, EndsWhatAKilledProgramLeftAndNothingElse) {
  const auto kept = ScopedTempDir::Make("rharness-kept-").value();
  const fs::path folder = kept.path() / "rharness-world";
  const fs::path pids = kept.path() / "pids";
  fs::create_directory(folder);
  const pid_t bystander = ::fork();
  if (bystander == 0) {
    ::execlp("sleep", "sleep", "600", nullptr);
    ::_exit(127);
  }
  const pid_t program = ::fork();
  if (program == 0) {
    const Reaper reaper(folder);
    if (!reaper.problem().empty()) ::_exit(1);
    StartDaemons(folder, pids);
    for (;;) ::pause();
  }
  ASSERT_TRUE(Within(std::chrono::seconds(20), [&] { return Pids(pids).size() >= 2; }));
  ::kill(program, SIGKILL);
  ::waitpid(program, nullptr, 0);
  EXPECT_TRUE(Within(std::chrono::seconds(20), [&] { return !fs::exists(folder); }));
  for (const int pid : Pids(pids)) EXPECT_FALSE(Lives(pid)) << pid;
  EXPECT_TRUE(Lives(bystander));
  ::kill(bystander, SIGKILL);
  ::waitpid(bystander, nullptr, 0);
}

TEST(Reaper, IsDoneWhenItsObjectIsGone) {
  const auto kept = ScopedTempDir::Make("rharness-kept-").value();
  const fs::path folder = kept.path() / "rharness-world";
  const fs::path pids = kept.path() / "pids";
  fs::create_directory(folder);
  {
    const Reaper reaper(folder);
    ASSERT_EQ(reaper.problem(), "");
    StartDaemons(folder, pids);
    ASSERT_TRUE(Within(std::chrono::seconds(20), [&] { return Pids(pids).size() >= 2; }));
  }
  for (const int pid : Pids(pids)) EXPECT_FALSE(Lives(pid)) << pid;
  EXPECT_FALSE(fs::exists(folder));
}

}  // namespace
}  // namespace rharness
