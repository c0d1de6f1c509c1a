// Probe jit_toolkit_cubin: the machine code that the toolkit's assembler makes of fixed PTX, by
// architecture and optimisation. Needs no device.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "probes/gpu/cubin.h"
#include "probes/gpu/probe_tools.h"
#include "probes/gpu/toolkit_cubins.h"

namespace rharness {
namespace {

constexpr std::array<int, 7> kArchitectures = {75, 80, 86, 89, 90, 100, 120};

// The whole cubin, then each kernel's code: the first may change without the second.
Status Assemble(const ProbeContext& context, const NvJitLink& linker, const KernelImage& image,
                int compute, int optimization, ProbeResult* result) {
  const std::string name = fmt::format("sm_{} O{}", compute, optimization);
  std::string first;
  for (int repeat = 0; repeat < std::max(1, context.repeats); ++repeat) {
    ASSIGN_OR_RETURN(const std::string cubin, ToolkitCubin(linker, image, compute, optimization));
    if (repeat == 0) first = cubin;
    if (cubin != first) result->unstable.push_back(fmt::format("{} {}", name, image.name));
  }
  result->bits[fmt::format("{} {}", name, image.name)] = HashOf(first);
  ASSIGN_OR_RETURN(const auto digests, CodeDigests(first));
  for (const auto& [kernel, digest] : digests) {
    result->bits[fmt::format("{} {} code", name, kernel)] = digest;
  }
  return {};
}

Result<ProbeResult> MeasureJitToolkitCubin(const ProbeContext& context) {
  ASSIGN_OR_RETURN(const auto linker, NvJitLink::Open(context.library_paths));
  ProbeResult result;
  result.parameters.Set("sources", Json::MakeArray({"corpus", "reduce"}));
  result.libraries.emplace(linker->library().soname(),
                           DescribeLibrary(linker->library(), linker->version()));
  for (const int compute : kArchitectures) {
    // An architecture that this version does not know is a fact of the version, and every other
    // failure of one is a failure of all.
    const auto known = ToolkitCubin(*linker, kReduceKernels, compute, 3);
    if (!known.ok()) {
      result.notes.push_back(fmt::format("sm_{}: {}", compute, known.error().ToString()));
      continue;
    }
    for (const int optimization : {0, 3}) {
      for (const KernelImage* image : {&kCorpusKernels, &kReduceKernels}) {
        RETURN_IF_ERROR(Assemble(context, *linker, *image, compute, optimization, &result));
      }
    }
  }
  if (result.bits.empty())
    return Unsupported("no architecture could be linked: " + result.notes[0]);
  return result;
}

ProbeResult RunJitToolkitCubin(const ProbeContext& context) {
  return Finish(MeasureJitToolkitCubin(context));
}

const RegisterProbe kJitToolkitCubinProbe(
    {.name = "jit_toolkit_cubin",
     .family = "compiler",
     .summary = "machine code that nvJitLink makes of fixed PTX, O0 and O3",
     .device = ProbeDevice::kCpu,
     .run = RunJitToolkitCubin,
     .by_name = true,
     .limit = std::chrono::seconds(300)});

}  // namespace
}  // namespace rharness
