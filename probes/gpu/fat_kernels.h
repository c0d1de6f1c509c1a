// Our own kernels as machine code for every architecture that the toolkit's assembler knows, with
// its PTX.
//
// Role: the output of embed_fatbin.cmake for a file of kernels.h, for probes that compare the
// toolkit's assembler with the driver's compiler.
#ifndef RHARNESS_PROBES_GPU_FAT_KERNELS_H_
#define RHARNESS_PROBES_GPU_FAT_KERNELS_H_

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "probes/gpu/kernels.h"
#include "probes/probe.h"

namespace rharness {

struct FatKernels {
  const KernelImage* image = nullptr;
  std::span<const unsigned char> fatbin;
  std::string_view architectures;  // of machine code: "75 80 90", rising
  int driver = 0;  // CUDA version of the toolkit; its machine code needs a driver of this major one
};

extern const FatKernels kReduceFat;
extern const FatKernels kCorpusFat;
extern const FatKernels kMathFat;

// The architecture whose machine code a device of `compute` runs: the highest of its own major
// number that is not above it; 0 when there is none. Source: CUDA C++ Programming Guide, "Binary
// Compatibility".
int MachineCodeFor(std::string_view architectures, int compute);

// The fatbin, for Device::Load.
std::string FatImage(const FatKernels& kernels);

// From bits["machine code K"], ["forced K"] and ["driver code K"] of every kernel K: choices[K],
// whether the toolkit's machine code and the driver's code computed the same, if there is machine
// code; and a note if a forced fatbin computed something else than the driver's code of the bare
// text, which means an ignored variable.
void CompareDriverCode(ProbeResult* result);

}  // namespace rharness

#endif  // RHARNESS_PROBES_GPU_FAT_KERNELS_H_
