// A list in order of use, and a map into it.
#include "compare/weights/descriptor_pool.h"

namespace rharness {

std::uint64_t DescriptorPool::NewKey() {
  const std::lock_guard lock(mutex_);
  return next_key_++;
}

std::shared_ptr<const Descriptor> DescriptorPool::Find(std::uint64_t key) {
  const std::lock_guard lock(mutex_);
  const auto found = by_key_.find(key);
  if (found == by_key_.end()) return nullptr;
  entries_.splice(entries_.begin(), entries_, found->second);
  return found->second->descriptor;
}

void DescriptorPool::Put(std::uint64_t key, std::shared_ptr<const Descriptor> descriptor) {
  const std::lock_guard lock(mutex_);
  if (const auto found = by_key_.find(key); found != by_key_.end()) {
    found->second->descriptor = std::move(descriptor);
    return;
  }
  if (entries_.size() >= limit_ && !entries_.empty()) {
    by_key_.erase(entries_.back().key);
    entries_.pop_back();
  }
  entries_.push_front({key, std::move(descriptor)});
  by_key_[key] = entries_.begin();
}

std::size_t DescriptorPool::size() const {
  const std::lock_guard lock(mutex_);
  return entries_.size();
}

}  // namespace rharness
