// The file in which the processes of a run note the GPU kernels that they launch: its layout in
// memory.
//
// Role: as arena.h, under the same conditions. kernels.cc writes it; kernel_notes.cc makes and
// reads it.
#ifndef RHARNESS_HARNESS_RECORDS_OBSERVE_KERNEL_ARENA_H_
#define RHARNESS_HARNESS_RECORDS_OBSERVE_KERNEL_ARENA_H_

#include <cstddef>
#include <cstdint>

namespace rharness {

inline constexpr std::uint64_t kKernelArenaMagic = 0x31304e4c4b4b4852;  // "RHKKLN01"
inline constexpr std::size_t kKernelEntries = 2048;
inline constexpr std::size_t kKernelShapes = 8;
inline constexpr std::size_t kKernelProcesses = 256;
inline constexpr std::size_t kKernelNameBytes = 640;

// What became of a process whose driver loaded the library; 0: no process.
inline constexpr std::uint32_t kKernelsWatched = 1;
inline constexpr std::uint32_t kKernelsNoCupti = 2;  // no libcupti that the driver can use
inline constexpr std::uint32_t kKernelsRefused = 3;  // by CUPTI, with `error`
inline constexpr std::uint32_t kKernelsStarted = 4;  // it has not come further

struct KernelProcess {
  std::uint64_t order;     // digest of the names launched, in the order of the calls' ends
  std::uint64_t launches;  // in it
  std::uint32_t state;
  std::uint32_t error;  // a CUptiResult
};

struct KernelShape {
  std::uint64_t hash;  // 0: free
  std::uint32_t ready;
  std::uint32_t grid[3], block[3];
  std::uint32_t shared_bytes;  // dynamic
};
static_assert(sizeof(KernelShape) == 40);

struct KernelEntry {
  std::uint64_t hash;      // of the whole name; 0: free
  std::uint64_t launches;  // by all processes
  std::uint32_t ready;     // 1: the name is written to its end
  std::uint32_t more_shapes;
  std::uint32_t reserved;
  std::uint32_t size;  // of the name, which may be longer than its part here
  char name[kKernelNameBytes];
  KernelShape shapes[kKernelShapes];
};
static_assert(sizeof(KernelEntry) % 8 == 0);

struct KernelArena {
  std::uint64_t magic;
  std::uint32_t dropped;  // launches, and processes, that found no place
  std::uint32_t reserved;
  KernelProcess processes[kKernelProcesses];
  KernelEntry entries[kKernelEntries];
};

// In the folder that kObserveVariable names.
inline constexpr char kKernelArenaFile[] = "kernels";
// The CUDA driver loads the library that this variable names, and calls its InitializeInjection.
inline constexpr char kInjectionVariable[] = "CUDA_INJECTION64_PATH";
inline constexpr char kKernelsLibrary[] = "librharness-kernels.so";
// Stands for the launch of a graph: kSeenGraphLaunch.
inline constexpr char kGraphLaunch[] = "[CUDA graph launch]";

}  // namespace rharness

#endif  // RHARNESS_HARNESS_RECORDS_OBSERVE_KERNEL_ARENA_H_
