// Which families of probes a run depends on, from the GPU kernels that it launched.
//
// Role: from a profiler's list of kernel names to Manifest::probe_families, so that nobody has to
// know the kernels behind a framework.
#ifndef RHARNESS_HARNESS_RECORDS_MANIFEST_KERNEL_FAMILIES_H_
#define RHARNESS_HARNESS_RECORDS_MANIFEST_KERNEL_FAMILIES_H_

#include <string>
#include <string_view>
#include <vector>

#include "harness/base/result.h"

namespace rharness {

struct KernelFamilies {
  std::vector<std::string> families;  // sorted, each once
  std::vector<std::string> unknown;   // kernels of unknown family, in the list's order
  int kernels = 0;                    // distinct names, without copies and fills of memory
};

// `text`: one kernel's name a line; or CSV (RFC 4180) whose header has a column "Name" (`nsys stats
// --report cuda_gpu_kern_sum --format csv`), "Kernel Name" (`ncu --csv`) or "Kernel". Lines before
// that header are skipped when they hold no comma. Copies and fills ("[CUDA memcpy HtoD]") compute
// nothing and are left out. Knows the kernel names of cuBLAS, cuDNN, NCCL, CUTLASS, CUB, Triton and
// PyTorch; a name counts for every family that it matches.
// Errors: invalid_input with the line, for a list without a kernel, a name longer than 64 KiB, an
// unclosed quote, or more than 1,000 fields.
Result<KernelFamilies> FamiliesOfKernels(std::string_view text, std::string_view file);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_RECORDS_MANIFEST_KERNEL_FAMILIES_H_
