// The living processes of one job, found in /proc: their memory, and how to end them.
#ifndef RHARNESS_HARNESS_BASE_PROCESS_TREE_H_
#define RHARNESS_HARNESS_BASE_PROCESS_TREE_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "harness/base/cgroup.h"
#include "harness/base/descriptor.h"

namespace rharness {

// A line of /proc/PID/stat (proc(5)).
struct ProcessStat {
  int pid = 0;
  char state = 0;  // 'Z' and 'X': dead
  int parent = 0;
  int group = 0;
  std::uint64_t start_ticks = 0;  // since boot
  std::uint64_t resident_bytes = 0;

  bool IsDead() const { return state == 'Z' || state == 'X'; }
};

// Empty when there is no such process.
std::optional<ProcessStat> ReadProcessStat(int pid);

// Members are the leader, its process group, every descendant seen while its parent was a member,
// every process whose environment carries the marker, and the processes of the control group.
// Inspects only processes younger than the leader, so the cost of a scan depends on those started
// since, not on all of the machine.
class ProcessTree {
 public:
  // `leader` leads a process group and must not be reaped while this object is in use. `marker`:
  // "NAME=VALUE"; empty: no search by environment. `group_only`: the leader's group alone.
  // `cgroup`, which outlives this object: the leader's; null: none.
  ProcessTree(int leader, std::string marker, bool group_only = false,
              const JobCgroup* cgroup = nullptr);

  // Looks for members again, among parents and groups and, if asked, in environments.
  void Refresh(bool search_environments);
  // As of the last Refresh: resident bytes; pages shared between members count for each.
  std::uint64_t ResidentBytes() const;
  // Now: every page shared between processes counted in proportion (smaps_rollup; resident size if
  // that cannot be read). Slow: the kernel walks the page tables. `outside_cgroup`: only members
  // that are not, or no longer, in the control group.
  std::uint64_t ProportionalBytes(bool outside_cgroup = false) const;
  // Process ids of those that live, as of the last Refresh.
  std::vector<int> LivingMembers() const;
  // Sends to the group and to every member outside it.
  void Signal(int signal) const;
  // Sends SIGKILL to everything until no living process is found, for a second at most.
  void KillAll();

 private:
  std::vector<int> Candidates();
  bool Adopt(const ProcessStat& stat, bool search_environments) const;
  bool HasLivingMember() const;

  int leader_;
  std::string marker_;
  bool group_only_;
  const JobCgroup* cgroup_;
  std::set<int> in_cgroup_;  // as of the last Refresh
  int last_pid_ = 0;         // the newest process id at the last look
  bool wrapped_ = false;
  std::map<int, ProcessStat> members_;
};

// KillSession, also of this process's own session.
void KillMarked(const std::string& session);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_BASE_PROCESS_TREE_H_
