// Who touched a byte of memory, and whether two touches are in order.
//
// Role: the races that memory_access.cc looks for, in shared memory and in global memory alike. Two
// touches of one launch are in order if one thread made them, if a barrier of their block lies
// between, or if both are of one warp with a bar.warp.sync between. Blocks have no order: what one
// hands to another by fences and flags counts as a race. Source: PTX ISA, "Memory Consistency
// Model"; only the part for kernels without such hand-overs.
#ifndef RHARNESS_TESTS_GPU_EMULATOR_MEMORY_TOUCH_H_
#define RHARNESS_TESTS_GPU_EMULATOR_MEMORY_TOUCH_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace rharness {

struct MemoryTouch {
  std::uint32_t launch = 0;  // 0: nobody's
  std::uint32_t block = 0;
  std::uint32_t epoch = 0, warp_epoch = 0;  // barriers of the block and of the warp before it
  std::uint16_t thread = 0;
  bool strong = false;  // atomic or volatile: two of those never race
};

// Touches of one kind, as far as they have to be known: the last one, and whether it stands for all
// before it.
class TouchHistory {
 public:
  void Record(MemoryTouch now);
  // Whether some touch before is not in order before `now`.
  bool RacesWith(const MemoryTouch& now) const;
  const MemoryTouch& last() const { return last_; }

 private:
  MemoryTouch last_;
  bool by_many_ = false;    // since the last barrier of the block
  bool by_blocks_ = false;  // of the launch
};

struct Touched {
  TouchHistory writes, reads;
  std::uint32_t proxy_fence = 0;  // the writer's count of fence.proxy.async when it wrote
};

// The touches of a piece of memory, kept for words, and for bytes where something smaller than a
// word was touched.
class TouchedMemory {
 public:
  // Of bytes that are aligned to their size, 64 at most: one entry for each word or byte of them.
  std::span<Touched> Of(std::uint64_t offset, std::uint64_t bytes);
  void Clear() { pages_.clear(); }

 private:
  struct Page {
    std::uint64_t unit = 4;
    std::unique_ptr<Touched[]> entries;
  };
  static void SplitWords(Page* page);

  std::vector<Page> pages_;  // made when they are needed
};

}  // namespace rharness

#endif  // RHARNESS_TESTS_GPU_EMULATOR_MEMORY_TOUCH_H_
