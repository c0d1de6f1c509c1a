// The control groups of one job (cgroups(7)): processes started in them stay in them, whatever they
// do with process group, session and environment. The kernel limits their memory and number, and
// they end with the group.
//
// Role: under RunProcess, if available; cgroup_plan.h chooses the place. Version 2 limits memory
// and processes if it has these controllers, version 1 if its hierarchies of them are writable.
// Version 2 ends a job as a whole (Linux 5.14, cgroup.kill); version 1, where it limits processes,
// allows no new ones and kills one by one.
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

// Prefix of the names of the groups of jobs; the job's marker follows.
inline constexpr char kCgroupPrefix[] = "rharness-";

// 0: none.
struct CgroupLimits {
  std::uint64_t memory_bytes = 0;  // of all that is charged to it: also of files in memory, of what
                                   // the kernel keeps for it, and none of it is swapped out
  int processes = 0;               // and threads
};

// Effects of a job's limits, as enforced by the kernel.
struct CgroupEvents {
  bool out_of_memory = false;   // killed in it at its own limit, or at that of the group above it
  bool above = false;           // it was that of the group above it
  bool others_needed = false;   // killed in it for lack of memory elsewhere
  std::uint64_t unstarted = 0;  // number of refused process starts, at the limit of their number
};

class JobCgroup {
 public:
  // Makes a group of this name in every hierarchy that it needs, below this process's own. The
  // first call arranges version 2 for it, which may move this process and its children to a group
  // of their own (kSupervisorGroup) for good. Errors: not_found (no version 2, or a kernel before
  // 5.14, and no limit available either), io (not allowed).
  // `above`: the group of another name below which it is made in place of the process's own, after
  // HandDown; it outlives this one, and its limit of memory holds for both.
  static Result<JobCgroup> Make(std::string_view name, const CgroupLimits& limits = {},
                                const JobCgroup* above = nullptr);
  JobCgroup(JobCgroup&&) noexcept = default;
  JobCgroup& operator=(JobCgroup&&) = delete;
  // Ends the processes left in it, and removes it. Blocks for a second at most.
  ~JobCgroup();

  // Before groups are made below it, which is for groups without processes of their own. False:
  // the kernel would not say what happens in them.
  bool HandDown() const;

  // Descriptors for a child that joins it: it writes "0" to each, before it runs anything.
  std::vector<int> entrances() const;
  // Whether the kernel enforces the requested limits.
  bool limits_memory() const { return limits_memory_; }
  bool limits_processes() const { return limits_processes_; }
  // Limits that it does not enforce, in words; empty: it enforces all.
  const std::string& why_not() const { return why_not_; }
  // The current processes in it and in groups below it.
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
  // Whether it came to its limit of memory.
  bool WasFull() const;

  std::vector<Group> groups_;
  std::string name_;
  const JobCgroup* above_ = nullptr;
  std::filesystem::path memory_;  // its group with that controller; empty: none
  std::filesystem::path pids_;
  Hierarchy memory_hierarchy_ = Hierarchy::kNone;
  Hierarchy pids_hierarchy_ = Hierarchy::kNone;
  std::uint64_t memory_bytes_ = 0;
  bool limits_memory_ = false;
  bool limits_processes_ = false;
  std::string why_not_;
};

// Number of processes that the kernel has ended so far for lack of memory in this process's control
// group; with version 2 also in groups below it. Empty: no such group, or not stated.
std::optional<std::uint64_t> OwnMemoryKills();

// Ends and removes every group whose name begins with this, anywhere in every hierarchy: leftovers
// of a killed process. Groups that it may not end stay.
void EndCgroups(std::string_view prefix);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_BASE_CGROUP_H_
