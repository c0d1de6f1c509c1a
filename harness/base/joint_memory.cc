// Sums over children.
#include "harness/base/joint_memory.h"

#include <algorithm>
#include <utility>

namespace rharness {
namespace {

std::uint64_t SumOf(const std::map<const void*, std::uint64_t>& children) {
  std::uint64_t sum = 0;
  for (const auto& [child, bytes] : children) sum += bytes;
  return sum;
}

}  // namespace

const JobCgroup* JointMemory::Group(const std::string& name) {
  const std::lock_guard lock(mutex_);
  if (limit_bytes_ > 0 && !std::exchange(asked_, true)) {
    auto made = JobCgroup::Make(name, {.memory_bytes = limit_bytes_});
    if (made.ok() && made->limits_memory() && made->HandDown()) group_.emplace(std::move(*made));
  }
  return group_ ? &*group_ : nullptr;
}

std::uint64_t JointMemory::Tell(const void* child, std::uint64_t resident,
                                const std::function<std::uint64_t()>& proportional) {
  const auto counted = [this](std::uint64_t sum) {
    peak_bytes_ = std::max(peak_bytes_, sum);
    return sum;
  };
  {
    const std::lock_guard lock(mutex_);
    resident_[child] = resident;
    if (!exceeded_) {
      const std::uint64_t sum = SumOf(resident_);
      exceeded_ = limit_bytes_ > 0 && sum > limit_bytes_;
      if (!exceeded_) return counted(sum);
    }
  }
  const std::uint64_t bytes = proportional();  // slow
  const std::lock_guard lock(mutex_);
  proportional_[child] = bytes;
  return counted(SumOf(proportional_));
}

void JointMemory::Forget(const void* child) {
  const std::lock_guard lock(mutex_);
  resident_.erase(child);
  proportional_.erase(child);
}

std::uint64_t JointMemory::peak_bytes() const {
  const std::lock_guard lock(mutex_);
  return peak_bytes_;
}

}  // namespace rharness
