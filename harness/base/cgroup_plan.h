// Which control groups this machine offers the jobs of this process, from the kernel's files
// (cgroups(7)): where they are, and which of them can enforce a limit.
//
// Role: pure, between cgroup.cc, which reads and makes the groups, and recorded texts. A controller
// belongs to one hierarchy at a time: to version 2, or to one of version 1.
#ifndef RHARNESS_HARNESS_BASE_CGROUP_PLAN_H_
#define RHARNESS_HARNESS_BASE_CGROUP_PLAN_H_

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace rharness {

// The group of our processes, if the one that they were started in must be empty.
inline constexpr char kSupervisorGroup[] = "rharness.supervisor";

// The groups below which groups of jobs can be made: this process's own ones, but the one above a
// supervisor's. Empty: not mounted, or not below a mounted folder.
struct CgroupFolders {
  std::filesystem::path unified;  // version 2
  std::filesystem::path memory;   // version 1
  std::filesystem::path pids;     // version 1; may be the same folder as `memory`
};
// `own`: /proc/self/cgroup; `mounts`: /proc/self/mountinfo.
CgroupFolders FindCgroups(std::string_view own, std::string_view mounts);

// All folders that may hold groups of our jobs, in any hierarchy.
std::vector<std::filesystem::path> FindCgroupMounts(std::string_view mounts);

// Known state of the folders.
struct CgroupStates {
  std::string controllers;      // cgroup.controllers of `unified`: what it can delegate
  std::string subtree_control;  // cgroup.subtree_control: what it delegates
  bool is_root = false;         // the root group: it may hold processes anyway
  bool is_ours = false;         // we may arrange it: delegated, or of no other owner
  bool holds_processes = false;
  bool holds_others = false;  // processes not started by this process
  bool memory_is_writable = false;
  bool pids_is_writable = false;
};

enum class Hierarchy { kNone, kUnified, kLegacy };

struct CgroupPlan {
  Hierarchy memory = Hierarchy::kNone;
  Hierarchy pids = Hierarchy::kNone;
  // Steps for `unified` first, in this order: move our processes to a group below it, as only a
  // group without processes may delegate controllers; then delegate them.
  bool leave = false;
  bool hand_down = false;
  std::string why_not;  // reason for a kNone; empty if there is none
};
CgroupPlan DecideCgroups(const CgroupFolders& folders, const CgroupStates& states);

// The number after `key` in lines of "KEY NUMBER", as in memory.events; 0: absent.
std::uint64_t CgroupCount(std::string_view text, std::string_view key);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_BASE_CGROUP_PLAN_H_
