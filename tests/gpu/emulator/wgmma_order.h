// Whether the registers of asynchronous wgmma are fenced before it and left alone until it is
// waited for. Source: PTX ISA, "wgmma.fence", "wgmma.commit_group", "wgmma.wait_group".
#ifndef RHARNESS_TESTS_GPU_EMULATOR_WGMMA_ORDER_H_
#define RHARNESS_TESTS_GPU_EMULATOR_WGMMA_ORDER_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace rharness {

// Of the registers of one warp in one function, by slot. Of a function without wgmma it is empty,
// and everything is in order.
class WgmmaOrder {
 public:
  WgmmaOrder() = default;
  explicit WgmmaOrder(int slots)
      : unfenced_(static_cast<std::size_t>(slots), 1), group_(static_cast<std::size_t>(slots), 0) {}

  // Whether some of the registers belong to a wgmma that was not waited for.
  bool InFlight(std::span<const int> slots) const;
  // Whether some were written since the last fence.
  bool Unfenced(std::span<const int> slots) const;
  void Write(std::span<const int> slots);
  void Use(std::span<const int> slots);  // by a wgmma, until its group is waited for
  void Fence();
  void Commit() { ++open_; }
  void Wait(std::uint64_t pending);  // until at most so many groups are left

 private:
  std::vector<std::uint8_t> unfenced_;
  std::vector<std::uint32_t> group_;  // 0: none
  std::uint32_t open_ = 1;            // that the next commit ends
};

}  // namespace rharness

#endif  // RHARNESS_TESTS_GPU_EMULATOR_WGMMA_ORDER_H_
