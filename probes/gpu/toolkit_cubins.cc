// One link of one file of kernels.
#include "probes/gpu/toolkit_cubins.h"

#include <fmt/format.h>

namespace rharness {

Result<std::string> ToolkitCubin(const NvJitLink& linker, const KernelImage& image, int compute,
                                 int optimization) {
  return linker.Link(std::string(image.ptx), std::string(image.name),
                     {fmt::format("-arch=sm_{}", compute), fmt::format("-O{}", optimization)});
}

}  // namespace rharness
