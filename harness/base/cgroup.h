// The control group of one job (cgroups(7), version 2): what is started in it stays in it, whatever
// it does with its process group, session and environment, and ends with it.
//
// Role: under RunProcess, where one can be had. Not here: limits; the controllers of memory and
// processes can be had only below a group that holds no process, and ours holds this one.
#ifndef RHARNESS_HARNESS_BASE_CGROUP_H_
#define RHARNESS_HARNESS_BASE_CGROUP_H_

#include <filesystem>
#include <set>
#include <string>
#include <string_view>

#include "harness/base/descriptor.h"
#include "harness/base/result.h"

namespace rharness {

// What the names of the groups of jobs begin with; the job's marker follows.
inline constexpr char kCgroupPrefix[] = "rharness-";

class JobCgroup {
 public:
  // A new one of this name below this process's own. Errors: not_found (no version 2, or a kernel
  // before 5.14, which cannot end a group as a whole), io (not ours to make).
  static Result<JobCgroup> Make(std::string_view name);
  JobCgroup(JobCgroup&&) noexcept = default;
  JobCgroup& operator=(JobCgroup&&) = delete;
  // Ends what is left in it, and removes it. Blocks for a second at most.
  ~JobCgroup();

  // A descriptor for a child that is to be in it: it writes "0" there, before it runs anything.
  int entrance() const { return entrance_.get(); }
  // The processes in it and in groups below it, as of now.
  std::set<int> Members() const;
  // SIGKILL to all of them at once.
  void Kill() const;

 private:
  JobCgroup(std::filesystem::path path, Descriptor entrance)
      : path_(std::move(path)), entrance_(std::move(entrance)) {}
  std::filesystem::path path_;
  Descriptor entrance_;  // invalid: moved from
};

// Ends and removes every group whose name begins with this, wherever it lies: those of a process
// that was killed. What is not ours to end stays.
void EndCgroups(std::string_view prefix);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_BASE_CGROUP_H_
