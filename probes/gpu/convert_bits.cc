// Probe convert_bits_cuda: the device's conversions from fp32 to shorter types.
#include "probes/gpu/probe_tools.h"

namespace rharness {
namespace {

Result<ProbeResult> MeasureConvertBits(const ProbeContext& context) {
  ASSIGN_OR_RETURN(const auto device, Device::Open(context));
  ProbeResult result;
  result.parameters.Set("inputs", "2^16 bit patterns, stride 65537");
  for (const KernelImage* image : {&kConvert75Kernels, &kConvert80Kernels, &kConvert89Kernels}) {
    const auto module = device->Load(*image);
    // An older device has fewer conversions: that is no failure.
    if (!module.ok() && module.error().code == ErrorCode::kUnsupported) {
      result.notes.push_back(module.error().ToString());
      continue;
    }
    if (!module.ok()) return module.error();
    RETURN_IF_ERROR(
        RecordWordKernels(context, *device, *module, EntriesOf(image->ptx), "", &result));
  }
  return result;
}

ProbeResult RunConvertBits(const ProbeContext& context) {
  return Finish(MeasureConvertBits(context));
}

const RegisterProbe kConvertBitsProbe({.name = "convert_bits_cuda",
                                       .family = "math",
                                       .summary = "fp32 to fp16, bf16, tf32 and fp8 on the device",
                                       .device = ProbeDevice::kGpu,
                                       .run = RunConvertBits});

}  // namespace
}  // namespace rharness
