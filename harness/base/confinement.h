// The kernel's limits on one child while it runs, and the kernel's report afterwards.
//
// Role: between RunProcess and the control groups (cgroup.h): which limits they enforce, and which
// ones the watch enforces (process_watch.h).
#ifndef RHARNESS_HARNESS_BASE_CONFINEMENT_H_
#define RHARNESS_HARNESS_BASE_CONFINEMENT_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harness/base/cgroup.h"
#include "harness/base/process_tree.h"
#include "harness/base/subprocess.h"

namespace rharness {

class Confinement {
 public:
  // Makes the control groups of the job of this name, if the spec asks for them and they are
  // available; logs once, at the debug level, which ones are not.
  Confinement(const ProcessSpec& spec, const ProcessLimits& limits, const std::string& job);
  ~Confinement();
  Confinement(const Confinement&) = delete;
  Confinement& operator=(const Confinement&) = delete;

  // The child writes "0" to each, in order until one refuses, before it runs anything.
  std::vector<int> entrances() const;
  // How many of them took it.
  void Enter(std::size_t count);

  // Null: the child is in none.
  const JobCgroup* cgroup() const { return entered_ > 0 ? &*cgroup_ : nullptr; }
  bool holds_memory() const { return holds_memory_; }
  // Tells what the child holds to the limit that it shares. Why it has to end, in words, where the
  // kernel does not hold it to that; empty: it need not.
  std::string TellJoint(const ProcessTree& tree, std::uint64_t resident) const;
  // Why something in it was killed at its own limit or the shared one, in words; empty: it was not.
  std::string OutOfMemory(const ProcessLimits& limits) const;

  // Adds the kernel's actions to the child's outcome: a kill at the limit of memory is
  // kMemoryLimit; `detail` reports a kill for lack of memory elsewhere, and processes refused to a
  // failed child. `not_held` names the limits that were not enforced.
  void Explain(const ProcessLimits& limits, Outcome* outcome) const;

 private:
  bool asked_ = false;
  std::shared_ptr<JointMemory> joint_;
  std::optional<JobCgroup> cgroup_;
  std::string why_not_;  // something cannot be had
  std::size_t entered_ = 0;
  bool is_below_ = false;  // a group of several
  bool holds_memory_ = false;
  bool holds_joint_memory_ = false;
  bool holds_processes_ = false;
};

}  // namespace rharness

#endif  // RHARNESS_HARNESS_BASE_CONFINEMENT_H_
