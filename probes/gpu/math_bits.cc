// Probe math_bits_cuda: the bits of the compiler's mathematical functions on the device.
#include "probes/gpu/probe_tools.h"

namespace rharness {
namespace {

Result<ProbeResult> Measure(const ProbeContext& context) {
  ASSIGN_OR_RETURN(const auto device, Device::Open(context));
  ASSIGN_OR_RETURN(const CUmodule module, device->Load(kMathKernels));
  ProbeResult result;
  result.parameters.Set("inputs", "2^16 bit patterns, stride 65537");
  RETURN_IF_ERROR(
      RecordWordKernels(context, *device, module, EntriesOf(kMathKernels.ptx), "", &result));
  return result;
}

ProbeResult Run(const ProbeContext& context) { return Finish(Measure(context)); }

const RegisterProbe kProbe({.name = "math_bits_cuda",
                            .family = "math",
                            .summary = "exp, log, sin, ... on the device, single, double and fast",
                            .device = ProbeDevice::kGpu,
                            .run = Run});

}  // namespace
}  // namespace rharness
