// A limit of memory that several children of this process share: the tasks of one node.
//
// Role: under RunProcess, through ProcessLimits. The kernel enforces it where groups of jobs can be
// made below one of their own (cgroup.h); else it counts what the watches of the children see.
#ifndef RHARNESS_HARNESS_BASE_JOINT_MEMORY_H_
#define RHARNESS_HARNESS_BASE_JOINT_MEMORY_H_

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "harness/base/cgroup.h"

namespace rharness {

class JointMemory {
 public:
  // 0: no limit, and it only counts.
  explicit JointMemory(std::uint64_t limit_bytes) : limit_bytes_(limit_bytes) {}
  JointMemory(const JointMemory&) = delete;
  JointMemory& operator=(const JointMemory&) = delete;

  // The group above those of the children, made by the first call. Null: there is no limit, or no
  // group can hold one.
  const JobCgroup* Group(const std::string& name);

  // What a child holds now; returns what all hold. `resident` counts pages that children share for
  // each of them; where that exceeds the limit, `proportional` is asked from then on, and only
  // children that told theirs count.
  std::uint64_t Tell(const void* child, std::uint64_t resident,
                     const std::function<std::uint64_t()>& proportional);
  void Forget(const void* child);

  std::uint64_t limit_bytes() const { return limit_bytes_; }
  std::uint64_t peak_bytes() const;

 private:
  const std::uint64_t limit_bytes_;
  mutable std::mutex mutex_;
  bool asked_ = false;
  std::optional<JobCgroup> group_;
  std::map<const void*, std::uint64_t> resident_;
  std::map<const void*, std::uint64_t> proportional_;
  bool exceeded_ = false;  // by resident pages
  std::uint64_t peak_bytes_ = 0;
};

}  // namespace rharness

#endif  // RHARNESS_HARNESS_BASE_JOINT_MEMORY_H_
