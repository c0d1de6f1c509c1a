// Fences and groups of wgmma.
#include "tests/gpu/emulator/wgmma_order.h"

#include <algorithm>

namespace rharness {

bool WgmmaOrder::InFlight(std::span<const int> slots) const {
  if (group_.empty()) return false;
  return std::ranges::any_of(slots,
                             [&](int s) { return group_[static_cast<std::size_t>(s)] != 0; });
}

bool WgmmaOrder::Unfenced(std::span<const int> slots) const {
  if (group_.empty()) return false;
  return std::ranges::any_of(slots,
                             [&](int s) { return unfenced_[static_cast<std::size_t>(s)] != 0; });
}

void WgmmaOrder::Write(std::span<const int> slots) {
  if (group_.empty()) return;
  for (const int s : slots) unfenced_[static_cast<std::size_t>(s)] = 1;
}

void WgmmaOrder::Use(std::span<const int> slots) {
  for (const int s : slots) group_[static_cast<std::size_t>(s)] = open_;
}

void WgmmaOrder::Fence() { std::ranges::fill(unfenced_, std::uint8_t{0}); }

void WgmmaOrder::Wait(std::uint64_t pending) {
  for (std::uint32_t& group : group_) {
    // Group open_ has no end yet; those before it are in order.
    if (group != 0 && group + pending < open_) group = 0;
  }
}

}  // namespace rharness
