// Control groups by name, in every hierarchy: what must not be there after a test.
#ifndef RHARNESS_TESTS_BASE_GROUPS_LEFT_H_
#define RHARNESS_TESTS_BASE_GROUPS_LEFT_H_

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "harness/base/cgroup_plan.h"

namespace rharness {

inline std::vector<std::string> GroupsLeft(const std::string& prefix) {
  namespace fs = std::filesystem;
  std::ifstream mounts("/proc/self/mountinfo");
  const std::string text{std::istreambuf_iterator<char>(mounts), {}};
  std::vector<std::string> left;
  for (const fs::path& mount : FindCgroupMounts(text)) {
    std::error_code error;
    for (fs::recursive_directory_iterator entry(mount, error), end; !error && entry != end;
         entry.increment(error)) {
      const std::string name = entry->path().filename();
      std::error_code gone;
      if (name.starts_with(prefix) && entry->is_directory(gone)) left.push_back(entry->path());
    }
  }
  return left;
}

}  // namespace rharness

#endif  // RHARNESS_TESTS_BASE_GROUPS_LEFT_H_
