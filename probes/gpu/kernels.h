// Our own kernels, carried in the program: the source, and PTX that older drivers accept.
//
// Role: CMake compiles kernels/*.cu to PTX for the lowest device each file runs on, writes the
// lowest PTX version that its instructions need over the compiler's own, has the assembler check
// that, and embeds both texts (embed_kernel.cmake).
#ifndef RHARNESS_PROBES_GPU_KERNELS_H_
#define RHARNESS_PROBES_GPU_KERNELS_H_

#include <string>
#include <string_view>
#include <vector>

namespace rharness {

struct KernelImage {
  std::string_view name;    // "reduce"
  std::string_view source;  // CUDA C++ that needs no header
  std::string_view ptx;
  int compute = 0;     // lowest compute capability: 75 for 7.5
  int driver = 0;      // lowest CUDA version of a driver that takes the PTX: 11000 for 11.0
  bool exact = false;  // of this compute capability alone, as PTX for sm_90a is

  bool Runs(int device_compute) const {
    return exact ? device_compute == compute : device_compute >= compute;
  }
};

extern const KernelImage kReduceKernels;     // fixed trees, and atomics that have none
extern const KernelImage kNormKernels;       // row sums of normalizations, in a known order
extern const KernelImage kCorpusKernels;     // small kernels that exercise a compiler
extern const KernelImage kMathKernels;       // one kernel a function, over bit patterns
extern const KernelImage kConvert75Kernels;  // fp32 to fp16
extern const KernelImage kConvert80Kernels;  // fp32 to bf16 and tf32
extern const KernelImage kConvert89Kernels;  // fp32 to fp8
extern const KernelImage kMma75Kernels;      // one tensor-core instruction a kernel
extern const KernelImage kMma80Kernels;
extern const KernelImage kMma89Kernels;
extern const KernelImage kWgmma90aKernels;

// Names of the kernels of a file, in the order of its text: every ".entry NAME" of its PTX.
std::vector<std::string> EntriesOf(std::string_view ptx);

// The text of one entry, from its ".entry" to the brace that ends it; empty if there is none.
std::string_view EntryText(std::string_view ptx, std::string_view name);

}  // namespace rharness

#endif  // RHARNESS_PROBES_GPU_KERNELS_H_
