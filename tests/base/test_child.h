// What the tests of subprocess share: the child program's command lines and a look at pids.
#ifndef RHARNESS_TESTS_BASE_TEST_CHILD_H_
#define RHARNESS_TESTS_BASE_TEST_CHILD_H_

#include <chrono>
#include <cstdint>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "harness/base/process_tree.h"
#include "harness/base/subprocess.h"

namespace rharness {

inline constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;

inline ProcessSpec Child(std::vector<std::string> steps) {
  ProcessSpec spec;
  spec.argv = std::move(steps);
  spec.argv.insert(spec.argv.begin(), std::string(RHARNESS_BIN_DIR) + "/test_subprocess_child");
  return spec;
}

inline ProcessLimits Timeout(std::chrono::nanoseconds timeout = std::chrono::seconds(30)) {
  ProcessLimits limits;
  limits.timeout = timeout;
  return limits;
}

inline ProcessResult RunSteps(std::vector<std::string> steps) {
  return RunProcess(Child(std::move(steps)), Timeout());
}

inline std::vector<int> Pids(const std::string& text) {
  std::istringstream stream(text);
  std::vector<int> pids;
  for (int pid = 0; stream >> pid;) pids.push_back(pid);
  return pids;
}

inline bool IsAlive(int pid) {
  const std::optional<ProcessStat> stat = ReadProcessStat(pid);
  return stat && !stat->IsDead();
}

}  // namespace rharness

#endif  // RHARNESS_TESTS_BASE_TEST_CHILD_H_
