// Probe jit_toolkit_bits: results of the toolkit's machine code on the device at O0 and at O3.
// Integer kernels must agree; floating-point kernels may differ if the assembler fuses.
#include <fmt/format.h>

#include "probes/gpu/probe_tools.h"
#include "probes/gpu/toolkit_cubins.h"

namespace rharness {
namespace {

bool IsInteger(const std::string& kernel) {
  for (const char* name : {"absolute_maximum", "logic_three", "byte_permute", "shift_wide",
                           "divide_integers", "pool_maximum"}) {
    if (kernel == name) return true;
  }
  return false;
}

Result<ProbeResult> MeasureJitToolkitBits(const ProbeContext& context) {
  ASSIGN_OR_RETURN(const auto device, Device::Open(context));
  ASSIGN_OR_RETURN(const auto linker, NvJitLink::Open(context.library_paths));
  ProbeResult result;
  const std::vector<std::string> kernels = EntriesOf(kCorpusKernels.ptx);
  for (const int optimization : {0, 3}) {
    ASSIGN_OR_RETURN(const std::string cubin,
                     ToolkitCubin(*linker, kCorpusKernels, device->compute(), optimization));
    ASSIGN_OR_RETURN(const CUmodule module, device->Load(cubin));
    RETURN_IF_ERROR(RecordWordKernels(context, *device, module, kernels,
                                      fmt::format("O{} ", optimization), &result));
  }
  std::string wrong;
  for (const std::string& kernel : kernels) {
    if (result.bits["O0 " + kernel] == result.bits["O3 " + kernel]) continue;
    result.notes.push_back(kernel + ": O0 and O3 compute different bits");
    if (IsInteger(kernel)) wrong += " " + kernel;
  }
  if (!wrong.empty()) {
    result.status = ProbeStatus::kFailed;
    result.message = "exact kernels differ between O0 and O3, a miscompilation:" + wrong;
  }
  return result;
}

ProbeResult RunJitToolkitBits(const ProbeContext& context) {
  return Finish(MeasureJitToolkitBits(context));
}

const RegisterProbe kJitToolkitBitsProbe(
    {.name = "jit_toolkit_bits",
     .family = "compiler",
     .summary = "what nvJitLink's code computes, O0 against O3",
     .device = ProbeDevice::kGpu,
     .run = RunJitToolkitBits,
     .limit = std::chrono::seconds(120)});

}  // namespace
}  // namespace rharness
