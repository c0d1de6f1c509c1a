// Words for the machine's offer, and for the kernel's actions.
#include "harness/base/confinement.h"

#include <fmt/format.h>

#include <csignal>
#include <utility>

#include "harness/base/joint_memory.h"
#include "harness/base/log.h"

namespace rharness {
namespace {

// What a machine does not offer is the same for every child.
template <class Topic>
void SayOnceOf(const std::string& text) {
  [[maybe_unused]] static const bool said = (LogDebug(text), true);
}

}  // namespace

Confinement::Confinement(const ProcessSpec& spec, const ProcessLimits& limits,
                         const std::string& job)
    : asked_(spec.own_cgroup), joint_(limits.joint_memory) {
  if (!asked_) return;
  const JobCgroup* above = nullptr;
  if (joint_) above = joint_->Group(kCgroupPrefix + job + "-all");
  auto made =
      JobCgroup::Make(kCgroupPrefix + job,
                      {.memory_bytes = limits.memory_bytes, .processes = limits.processes}, above);
  if (made.ok()) {
    cgroup_.emplace(std::move(*made));
    is_below_ = above != nullptr;
    why_not_ = cgroup_->why_not();
  } else {
    why_not_ = made.error().ToString();
    SayOnceOf<struct NoCgroup>(
        why_not_ +
        "; a process that empties its environment and detaches at once may outlive its rerun");
  }
}

Confinement::~Confinement() {
  if (joint_) joint_->Forget(this);
}

std::string Confinement::TellJoint(const ProcessTree& tree, std::uint64_t resident) const {
  if (!joint_) return "";
  const std::uint64_t all =
      joint_->Tell(this, resident, [&tree] { return tree.ProportionalBytes(); });
  const std::uint64_t limit = joint_->limit_bytes();
  if (limit == 0 || all <= limit || holds_joint_memory_) return "";
  return fmt::format("it and the other tasks of its node held {} bytes; their limit is {}", all,
                     limit);
}

std::vector<int> Confinement::entrances() const {
  return cgroup_ ? cgroup_->entrances() : std::vector<int>();
}

void Confinement::Enter(std::size_t count) {
  entered_ = count;
  if (!cgroup_) return;
  const bool in_all = count == cgroup_->entrances().size();
  if (!in_all) why_not_ = "a process cannot be moved to its control group";
  holds_memory_ = in_all && cgroup_->limits_memory();
  holds_joint_memory_ = in_all && is_below_;
  holds_processes_ = in_all && cgroup_->limits_processes();
}

std::string Confinement::OutOfMemory(const ProcessLimits& limits) const {
  if (!holds_memory_ && !holds_joint_memory_) return "";
  const CgroupEvents events = cgroup_->Events();
  if (!events.out_of_memory) return "";
  if (events.above) {
    return fmt::format("it and the other tasks of its node reached the limit of {} bytes together",
                       joint_->limit_bytes());
  }
  return fmt::format("its control group reached the limit of {} bytes", limits.memory_bytes);
}

void Confinement::Explain(const ProcessLimits& limits, Outcome* outcome) const {
  if (!asked_) return;
  const bool joint = joint_ && joint_->limit_bytes() > 0;
  const bool watched =
      (limits.memory_bytes > 0 && !holds_memory_) || (joint && !holds_joint_memory_);
  const bool unbounded = limits.processes > 0 && !holds_processes_;
  if (watched || unbounded) {
    outcome->not_held = fmt::format(
        "{}{}{}: {}", watched ? "memory was watched" : "", watched && unbounded ? ", and " : "",
        unbounded ? "the number of processes was not limited" : "", why_not_);
    SayOnceOf<struct NotHeld>(outcome->not_held);
  }
  const bool ended_itself =
      outcome->kind == OutcomeKind::kExited || outcome->kind == OutcomeKind::kSignalled;
  if (entered_ == 0 || !ended_itself) return;
  const CgroupEvents events = cgroup_->Events();
  if (const std::string detail = OutOfMemory(limits); !detail.empty()) {
    outcome->kind = OutcomeKind::kMemoryLimit;
    outcome->exit_code = outcome->signal = 0;
    outcome->detail = detail;
  } else if (events.others_needed && !outcome->Succeeded()) {
    outcome->detail = "the kernel killed one of its processes for lack of memory elsewhere";
  } else if (events.unstarted > 0 && !outcome->Succeeded()) {
    outcome->detail = fmt::format("{} times it could start no process, at the limit of {}",
                                  events.unstarted, limits.processes);
  }
}

}  // namespace rharness
