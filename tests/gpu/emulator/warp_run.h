// One warp: its lanes run until none can go on.
//
// Role: below launch.cc, which has the blocks and lets lanes go on that wait at a barrier.
#ifndef RHARNESS_TESTS_GPU_EMULATOR_WARP_RUN_H_
#define RHARNESS_TESTS_GPU_EMULATOR_WARP_RUN_H_

#include "tests/gpu/emulator/warp_state.h"

namespace rharness {

// A function's registers with its constants and special registers, and its empty arguments.
PtxFrame MakeFrame(const WarpState& warp, const PtxFunction& function, unsigned local_base);

// Until no lane can go on. A warp's instruction whose lanes never come is a fault. `depth` is 0 for
// a kernel, and counts the calls around a function.
void RunFrame(WarpState& warp, PtxFrame& frame, unsigned depth);

// Which of the blocks or threads along one axis `number` is.
unsigned AlongAxis(const LaunchExtent& extent, std::size_t axis, unsigned number);
// Where the shared memory begins whose size the launch gives, behind the kernel's own.
unsigned DynamicSharedBegin(const PtxFunction& kernel);

// The instruction on the active lanes of its warp, unless one of them reads a register that it has
// never written, or one that a wgmma still uses: a fault.
void Execute(WarpState& warp, const PtxInstruction& instruction);
// wgmma.mma_async on four warps that all have come to it.
void ExecuteInWarpgroup(WarpState* warps, const PtxInstruction& instruction);

void Advance(PtxFrame& frame, std::uint32_t lanes);  // past their instruction
const PtxInstruction& InstructionAt(const PtxFrame& frame, unsigned lane);

}  // namespace rharness

#endif  // RHARNESS_TESTS_GPU_EMULATOR_WARP_RUN_H_
