// The order of touches.
#include "tests/gpu/emulator/memory_touch.h"

namespace rharness {
namespace {

constexpr unsigned kThreadsOfAWarp = 32;
constexpr std::uint64_t kPage = 1024;

bool InWarpOrder(const MemoryTouch& earlier, const MemoryTouch& now) {
  return earlier.thread / kThreadsOfAWarp == now.thread / kThreadsOfAWarp &&
         earlier.warp_epoch < now.warp_epoch;
}

bool InOrder(const MemoryTouch& earlier, const MemoryTouch& now) {
  if (earlier.launch != now.launch) return true;
  if (earlier.block != now.block) return false;
  return earlier.thread == now.thread || earlier.epoch < now.epoch || InWarpOrder(earlier, now);
}

}  // namespace

void TouchHistory::Record(MemoryTouch now) {
  if (last_.launch != now.launch) {
    by_many_ = by_blocks_ = false;
  } else {
    const bool same_block = last_.block == now.block;
    const bool stands_for_all = InOrder(last_, now) && (!by_many_ || last_.epoch < now.epoch);
    // A plain touch that is not in order stays one, whoever comes after it.
    if (!stands_for_all && !last_.strong) now.strong = false;
    by_many_ = !stands_for_all && same_block && last_.epoch == now.epoch;
    by_blocks_ = by_blocks_ || !same_block;
  }
  last_ = now;
}

bool TouchHistory::RacesWith(const MemoryTouch& now) const {
  if (last_.launch != now.launch || (last_.strong && now.strong)) return false;
  if (by_blocks_) return true;
  if (by_many_ && last_.epoch == now.epoch && !InWarpOrder(last_, now)) return true;
  return !InOrder(last_, now);
}

void TouchedMemory::SplitWords(Page* page) {
  auto bytes = std::make_unique<Touched[]>(kPage);
  for (std::uint64_t k = 0; k < kPage; ++k) bytes[k] = page->entries[k / page->unit];
  *page = {1, std::move(bytes)};
}

std::span<Touched> TouchedMemory::Of(std::uint64_t offset, std::uint64_t bytes) {
  const std::uint64_t number = offset / kPage, within = offset % kPage;
  if (pages_.size() <= number) pages_.resize(number + 1);
  Page& page = pages_[number];
  if (page.entries == nullptr) page.entries = std::make_unique<Touched[]>(kPage / page.unit);
  if (bytes % page.unit != 0) SplitWords(&page);
  return {page.entries.get() + within / page.unit, bytes / page.unit};
}

}  // namespace rharness
