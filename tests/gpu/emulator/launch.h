// Runs a kernel of a PTX program on the host, and checks what it does.
//
// Role: the emulator itself; the driver (driver.cc) and the tests call it. Lanes of a warp run in
// lock step: of the lanes that can run, those at the lowest instruction. Warps of a block take
// turns at barriers, and blocks follow one another. That is one of the schedules that PTX permits;
// `order` selects others. Blocks and threads have the number that they have along x, then y, then
// z. Not here: clusters, cooperative launches.
#ifndef RHARNESS_TESTS_GPU_EMULATOR_LAUNCH_H_
#define RHARNESS_TESTS_GPU_EMULATOR_LAUNCH_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tests/gpu/emulator/device_memory.h"
#include "tests/gpu/emulator/ptx_program.h"

namespace rharness {

enum class FaultKind {
  kOutOfBounds,
  kMisaligned,
  kUnwritten,    // a read of bytes that nobody wrote
  kRace,         // two threads, one byte, a write, and neither a barrier between nor atomics
  kBarrier,      // threads of a block that wait at different barriers, or have exited
  kWarp,         // lanes that a warp's instruction names and that never come to it
  kProxy,        // shared memory or registers that wgmma uses without their fence or wait
  kRegister,     // a register that is read before it was written
  kUnsupported,  // what the emulator does not have
  kEndless,      // more instructions than `most_steps`
};

struct Fault {
  FaultKind kind = FaultKind::kUnsupported;
  std::string text;  // "reduce_rows, line 57, block 0, thread 3: ..."
};

using LaunchExtent = std::array<unsigned, 3>;  // along x, y and z
inline unsigned CountOf(const LaunchExtent& extent) { return extent[0] * extent[1] * extent[2]; }

// Orders 0 and 1 are rising and falling: of blocks, of the warps of a block, of the lanes whose
// writes or atomics meet. Every further number is another order of the blocks.
struct LaunchRequest {
  const PtxProgram* program = nullptr;
  const PtxFunction* kernel = nullptr;
  std::uint64_t globals = 0;  // the address of the program's variables
  LaunchExtent blocks{1, 1, 1}, threads{1, 1, 1};
  unsigned dynamic_shared_bytes = 0;
  std::vector<std::byte> parameters;  // in the layout of the kernel's arguments
  unsigned order = 0;
  int compute = 90;  // whose tensor cores: 90 for compute capability 9.0
  std::uint64_t most_steps = std::uint64_t{1} << 28;  // of warps' instructions
};

// The first fault; memory then holds what was written before it.
std::optional<Fault> RunKernel(const LaunchRequest& request, DeviceMemory* memory);

// A kernel's arguments, given by the addresses of their values, as cuLaunchKernel takes them.
std::vector<std::byte> PackParameters(const PtxFunction& kernel, void* const* values);

// Gives the program's variables memory and their first values; 0 when there is no room.
std::uint64_t PlaceGlobals(const PtxProgram& program, DeviceMemory* memory);

}  // namespace rharness

#endif  // RHARNESS_TESTS_GPU_EMULATOR_LAUNCH_H_
