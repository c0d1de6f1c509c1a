// Which control groups this machine offers the jobs of this process, read off what the kernel says
// of them (cgroups(7)): where they are, and which of them can hold a job to a limit.
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

// Our processes' own group, where the one that they were started in has to be empty.
inline constexpr char kSupervisorGroup[] = "rharness.supervisor";

// The groups below which those of jobs can be made: this process's own ones, but the one above a
// supervisor's. Empty: not mounted, or not below what is.
struct CgroupFolders {
  std::filesystem::path unified;  // version 2
  std::filesystem::path memory;   // version 1
  std::filesystem::path pids;     // version 1; may be the same folder as `memory`
};
// `own`: /proc/self/cgroup; `mounts`: /proc/self/mountinfo.
CgroupFolders FindCgroups(std::string_view own, std::string_view mounts);

// Where all groups lie that a job of ours may be in, of any hierarchy.
std::vector<std::filesystem::path> FindCgroupMounts(std::string_view mounts);

// What is known of the folders beside their names.
struct CgroupStates {
  std::string controllers;      // cgroup.controllers of `unified`: what it may hand down
  std::string subtree_control;  // cgroup.subtree_control: what it does hand down
  bool is_root = false;         // of all groups: it may hold processes all the same
  bool is_ours = false;         // to arrange: delegated, or nobody else's
  bool holds_processes = false;
  bool holds_others = false;  // some that this process has not started
  bool memory_is_writable = false;
  bool pids_is_writable = false;
};

enum class Hierarchy { kNone, kUnified, kLegacy };

struct CgroupPlan {
  Hierarchy memory = Hierarchy::kNone;
  Hierarchy pids = Hierarchy::kNone;
  // What has to be done to `unified` first, in this order: move our processes to a group below it,
  // as only a group without processes may hand controllers down; then let it do so.
  bool leave = false;
  bool hand_down = false;
  std::string why_not;  // why there is a kNone; empty where there is none
};
CgroupPlan DecideCgroups(const CgroupFolders& folders, const CgroupStates& states);

// The number after `key` in lines of "KEY NUMBER", as memory.events has them; 0: not there.
std::uint64_t CgroupCount(std::string_view text, std::string_view key);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_BASE_CGROUP_PLAN_H_
