// A bound on the descriptors that the files of one checkpoint keep open.
//
// Role: a checkpoint of a thousand shards fits any limit on open files. Not here: how a file is
// opened again, and the check that it is still the same (InputFile).
#ifndef RHARNESS_COMPARE_WEIGHTS_DESCRIPTOR_POOL_H_
#define RHARNESS_COMPARE_WEIGHTS_DESCRIPTOR_POOL_H_

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "harness/base/descriptor.h"

namespace rharness {

// Safe from several threads. A descriptor that left the pool is closed when the last read on it
// ends, so at most the limit and one per thread are open.
class DescriptorPool {
 public:
  static constexpr std::size_t kLimit = 64;

  explicit DescriptorPool(std::size_t limit = kLimit) : limit_(limit) {}

  std::uint64_t NewKey();  // for one file
  // The file's descriptor, now the most recently used; nullptr when it is not in the pool.
  std::shared_ptr<const Descriptor> Find(std::uint64_t key);
  // Adds or replaces a file's descriptor; the least recently used one leaves a full pool.
  void Put(std::uint64_t key, std::shared_ptr<const Descriptor> descriptor);
  std::size_t size() const;

 private:
  struct Entry {
    std::uint64_t key = 0;
    std::shared_ptr<const Descriptor> descriptor;
  };

  std::size_t limit_;
  mutable std::mutex mutex_;  // guards the three below
  std::uint64_t next_key_ = 0;
  std::list<Entry> entries_;  // the most recently used first
  std::unordered_map<std::uint64_t, std::list<Entry>::iterator> by_key_;
};

}  // namespace rharness

#endif  // RHARNESS_COMPARE_WEIGHTS_DESCRIPTOR_POOL_H_
