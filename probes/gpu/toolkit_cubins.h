// Cubins that the toolkit's nvJitLink makes of our embedded PTX.
#ifndef RHARNESS_PROBES_GPU_TOOLKIT_CUBINS_H_
#define RHARNESS_PROBES_GPU_TOOLKIT_CUBINS_H_

#include <string>

#include "harness/base/result.h"
#include "probes/gpu/kernels.h"
#include "probes/library/nvjitlink.h"

namespace rharness {

// `compute`: 90 for sm_90. `optimization`: 0 to 3. Errors: internal with the linker's log.
Result<std::string> ToolkitCubin(const NvJitLink& linker, const KernelImage& image, int compute,
                                 int optimization);

}  // namespace rharness

#endif  // RHARNESS_PROBES_GPU_TOOLKIT_CUBINS_H_
