// The control groups of one job (cgroups(7)): what is started in them stays in them, whatever it
// does with its process group, session and environment, is held by the kernel to a limit of memory
// and of processes, and ends with them.
//
// Role: under RunProcess, where they can be had; cgroup_plan.h decides where. Memory and processes
// are limited by version 2 where it has these controllers, by version 1 where its hierarchies of
// them are ours to write. A job is ended by version 2 as a whole (Linux 5.14, cgroup.kill); by
// version 1, where it limits processes, by letting none start and killing one by one.
#ifndef RHARNESS_HARNESS_BASE_CGROUP_H_
#define RHARNESS_HARNESS_BASE_CGROUP_H_

#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/cgroup_plan.h"
#include "harness/base/descriptor.h"
#include "harness/base/result.h"

namespace rharness {

// What the names of the groups of jobs begin with; the job's marker follows.
inline constexpr char kCgroupPrefix[] = "rharness-";

// 0: none.
struct CgroupLimits {
  std::uint64_t memory_bytes = 0;  // of all that is charged to it: also of files in memory, of what
                                   // the kernel keeps for it, and none of it is swapped out
  int processes = 0;               // and threads
};

// What the kernel did to a job for the sake of its limits.
struct CgroupEvents {
  bool out_of_memory = false;   // killed in it, since it had reached its own limit
  bool others_needed = false;   // killed in it, for want of memory somewhere else
  std::uint64_t unstarted = 0;  // how often a process was refused it, at the limit of their number
};

class JobCgroup {
 public:
  // A new one of this name in every hierarchy that it takes, below this process's own. The first
  // call arranges version 2 for it, which may move this process and its children to a group of
  // their own (kSupervisorGroup), where they stay. Errors: not_found (no version 2, or a kernel
  // before 5.14, and no limit to be had either), io (not ours to make).
  static Result<JobCgroup> Make(std::string_view name, const CgroupLimits& limits = {});
  JobCgroup(JobCgroup&&) noexcept = default;
  JobCgroup& operator=(JobCgroup&&) = delete;
  // Ends what is left in it, and removes it. Blocks for a second at most.
  ~JobCgroup();

  // Descriptors for a child that is to be in it: it writes "0" to each, before it runs anything.
  std::vector<int> entrances() const;
  // Whether the kernel holds what is in it to the limits that were asked for.
  bool limits_memory() const { return limits_memory_; }
  bool limits_processes() const { return limits_processes_; }
  // In words, what of this it does not; empty: it does.
  const std::string& why_not() const { return why_not_; }
  // The processes in it and in groups below it, as of now.
  std::set<int> Members() const;
  // SIGKILL to all of them.
  void Kill() const;
  CgroupEvents Events() const;

 private:
  struct Group {
    std::filesystem::path path;
    Descriptor entrance;  // invalid: moved from
  };
  JobCgroup() = default;
  Status Add(const std::filesystem::path& path, Hierarchy hierarchy);
  void Limit(const CgroupLimits& limits);

  std::vector<Group> groups_;
  std::filesystem::path memory_;  // its group with that controller; empty: none
  std::filesystem::path pids_;
  Hierarchy memory_hierarchy_ = Hierarchy::kNone;
  std::uint64_t memory_bytes_ = 0;
  bool limits_memory_ = false;
  bool limits_processes_ = false;
  std::string why_not_;
};

// How many processes the kernel has ended until now for want of memory in the control group that
// this process is in; of version 2 also in groups below it. Empty: no such group, or it does not
// say.
std::optional<std::uint64_t> OwnMemoryKills();

// Ends and removes every group whose name begins with this, wherever it lies and in every
// hierarchy: those of a process that was killed. What is not ours to end stays.
void EndCgroups(std::string_view prefix);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_BASE_CGROUP_H_
