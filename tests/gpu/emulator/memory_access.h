// One access of a lane to memory, checked: bounds, alignment, races, bytes that nobody wrote.
#ifndef RHARNESS_TESTS_GPU_EMULATOR_MEMORY_ACCESS_H_
#define RHARNESS_TESTS_GPU_EMULATOR_MEMORY_ACCESS_H_

#include <cstdint>

#include "tests/gpu/emulator/warp_state.h"

namespace rharness {

struct MemoryAccess {
  PtxSpace space = PtxSpace::kGeneric;
  std::uint64_t address = 0;
  unsigned bytes = 0;  // of one element: the alignment is that of all
  unsigned elements = 1;
  bool write = false;
  bool atomic = false;    // reads as well
  bool strong = false;    // volatile or relaxed: races with plain accesses alone
  bool by_proxy = false;  // of wgmma
};

// The bytes; null after a fault, which is recorded. A write counts as done.
std::byte* Reach(WarpState& warp, const PtxInstruction& at, unsigned lane,
                 const MemoryAccess& access);

// Of a read of shared memory by the asynchronous proxy (wgmma): bounds, races, bytes that nobody
// wrote, and whether the writer has fenced them. Null after a fault.
const std::byte* ReachByProxy(WarpState& warp, const PtxInstruction& at, std::uint64_t offset,
                              unsigned bytes);

}  // namespace rharness

#endif  // RHARNESS_TESTS_GPU_EMULATOR_MEMORY_ACCESS_H_
