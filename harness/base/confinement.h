// What the kernel holds one child to while it runs, and what it says of that afterwards.
//
// Role: between RunProcess and the control groups (cgroup.h): which limits they take over, and
// which are left to the watch (process_watch.h).
#ifndef RHARNESS_HARNESS_BASE_CONFINEMENT_H_
#define RHARNESS_HARNESS_BASE_CONFINEMENT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/base/cgroup.h"
#include "harness/base/subprocess.h"

namespace rharness {

class Confinement {
 public:
  // Makes the control groups of the job of this name, where the spec asks for them and they can be
  // had; what cannot is said once, at the debug level.
  Confinement(const ProcessSpec& spec, const ProcessLimits& limits, const std::string& job);

  // What the child writes "0" to, one after the other until one refuses, before it runs anything.
  std::vector<int> entrances() const;
  // How many of them took it.
  void Enter(std::size_t count);

  // Null: the child is in none.
  const JobCgroup* cgroup() const { return entered_ > 0 ? &*cgroup_ : nullptr; }
  bool holds_memory() const { return holds_memory_; }
  // Something in it was killed at its own limit.
  bool IsOutOfMemory() const { return holds_memory_ && cgroup_->Events().out_of_memory; }
  static std::string MemoryDetail(std::uint64_t limit_bytes);

  // Adds to what became of the child what the kernel did to it: a kill at the limit of memory is
  // kMemoryLimit; one for want of memory elsewhere, and processes that were refused to a child that
  // failed, are told in `detail`. Says in `not_held` what was not limited.
  void Explain(const ProcessLimits& limits, Outcome* outcome) const;

 private:
  bool asked_ = false;
  std::optional<JobCgroup> cgroup_;
  std::string why_not_;  // something cannot be had
  std::size_t entered_ = 0;
  bool holds_memory_ = false;
  bool holds_processes_ = false;
};

}  // namespace rharness

#endif  // RHARNESS_HARNESS_BASE_CONFINEMENT_H_
