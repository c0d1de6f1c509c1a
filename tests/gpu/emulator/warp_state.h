// The state of a launch while it runs: blocks, warps, frames of functions.
//
// Role: what operations work on. An operation acts on the lanes of WarpState::active and leaves the
// order of execution to warp_run.h.
#ifndef RHARNESS_TESTS_GPU_EMULATOR_WARP_STATE_H_
#define RHARNESS_TESTS_GPU_EMULATOR_WARP_STATE_H_

#include <array>
#include <bit>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/gpu/emulator/launch.h"
#include "tests/gpu/emulator/wgmma_order.h"

namespace rharness {

inline constexpr unsigned kLanes = 32;
inline constexpr std::uint32_t kAllLanes = 0xffffffffU;
inline constexpr unsigned kNobody = 0xffffffffU;

struct WarpState;
struct BlockState {
  const LaunchRequest* request = nullptr;
  DeviceMemory* memory = nullptr;
  unsigned block = 0;
  std::uint32_t launch = 0;  // its number
  std::vector<std::byte> shared;
  std::vector<unsigned char> shared_written;
  TouchedMemory touched;    // of shared memory
  std::uint32_t epoch = 1;  // rises at each barrier of the block
  std::optional<Fault> fault;
  std::uint64_t steps = 0;
  std::vector<WarpState> warps;
};

// A function that a warp's lanes are in.
struct PtxFrame {
  const PtxFunction* function = nullptr;
  std::vector<std::uint64_t> registers;  // 32 lanes a slot
  std::vector<std::uint32_t> written;    // of each slot: the lanes that have a value in it
  std::vector<std::byte> arguments;      // argument_bytes a lane
  WgmmaOrder wgmma;
  unsigned local_base = 0;       // of its variables in a lane's local memory
  std::array<int, kLanes> at{};  // the next instruction of each lane
  std::array<std::uint64_t, kLanes> carry{};
  std::uint32_t running = 0;  // lanes that can take a step
  std::uint32_t waiting = 0;  // lanes at a barrier, or at an instruction of the whole warp
};

struct WarpState {
  BlockState* block = nullptr;
  unsigned first_thread = 0;
  std::uint32_t lanes = 0;  // that exist
  std::uint32_t exited = 0;
  std::uint32_t active = 0;  // that the current instruction acts on
  bool falling = false;      // the order of lanes
  std::uint32_t warp_epoch = 1;
  std::array<std::uint32_t, kLanes> proxy_fences{};
  PtxFrame* frame = nullptr;
  unsigned local_bytes = 0;      // a lane
  std::vector<std::byte> local;  // lane after lane
  std::vector<unsigned char> local_written;

  std::uint64_t* Slot(int slot) {
    return frame->registers.data() + static_cast<std::size_t>(slot) * kLanes;
  }
  unsigned Thread(unsigned lane) const { return first_thread + lane; }
};

// Records a fault of a lane; the first one of a block stays.
void Fail(WarpState& warp, const PtxInstruction& at, unsigned lane, FaultKind kind,
          const std::string& text);

// Calls f(lane) for the active lanes, in the order of the launch.
template <class F>
void ForActive(const WarpState& warp, F f) {
  if (!warp.falling && warp.active == kAllLanes) {
    for (unsigned lane = 0; lane < kLanes; ++lane) f(lane);
    return;
  }
  for (std::uint32_t left = warp.active; left != 0;) {
    const auto lane =
        static_cast<unsigned>(warp.falling ? 31 - std::countl_zero(left) : std::countr_zero(left));
    left &= ~(1U << lane);
    f(lane);
  }
}

}  // namespace rharness

#endif  // RHARNESS_TESTS_GPU_EMULATOR_WARP_STATE_H_
