// Probe math_bits_cuda: the bits of the compiler's mathematical functions on the device, and their
// largest error.
#include "probes/gpu/math_reference.h"
#include "probes/gpu/probe_tools.h"
#include "probes/ulp_error.h"

namespace rharness {
namespace {

Result<ProbeResult> MeasureMathBits(const ProbeContext& context) {
  ASSIGN_OR_RETURN(const auto device, Device::Open(context));
  ASSIGN_OR_RETURN(const CUmodule module, device->Load(kMathKernels));
  ProbeResult result;
  result.parameters.Set("inputs", "2^16 bit patterns, stride 65537")
      .Set("reference", ReferenceName());
  const std::vector<std::uint32_t> words = StridedWords();
  for (const std::string& kernel : EntriesOf(kMathKernels.ptx)) {
    const auto run = [&] { return RunWordKernel(*device, module, kernel, words); };
    ASSIGN_OR_RETURN(const auto made, RecordBits(context, kernel, run, &result));
    if (const auto worst = LargestUlpError(kernel, words, made)) {
      result.counts["max_milli_ulp of " + kernel] = MilliUlp(*worst);
    }
  }
  return result;
}

ProbeResult RunMathBits(const ProbeContext& context) { return Finish(MeasureMathBits(context)); }

const RegisterProbe kMathBitsProbe(
    {.name = "math_bits_cuda",
     .family = "math",
     .summary = "exp, log, sin, ... on the device, single, double and fast",
     .device = ProbeDevice::kGpu,
     .run = RunMathBits});

}  // namespace
}  // namespace rharness
