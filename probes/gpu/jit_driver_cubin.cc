// Probe jit_driver_cubin: the machine code that the driver's own compiler makes from fixed PTX, and
// its results. Changes with the driver alone.
#include <fmt/format.h>

#include <algorithm>

#include "probes/gpu/cubin.h"
#include "probes/gpu/probe_tools.h"

namespace rharness {
namespace {

Result<std::string> DriverCubin(const CudaDriver& driver, const KernelImage& image) {
  CUlinkState state = nullptr;
  RETURN_IF_ERROR(driver.Check(driver.f.cuLinkCreate(0, nullptr, nullptr, &state), "cuLinkCreate"));
  // The terminating zero is part of PTX input.
  std::string ptx(image.ptx);
  Status done =
      driver.Check(driver.f.cuLinkAddData(state, CU_JIT_INPUT_PTX, ptx.data(), ptx.size() + 1,
                                          std::string(image.name).c_str(), 0, nullptr, nullptr),
                   "cuLinkAddData");
  void* cubin = nullptr;
  std::size_t size = 0;
  if (done.ok())
    done = driver.Check(driver.f.cuLinkComplete(state, &cubin, &size), "cuLinkComplete");
  // The bytes live as long as the link.
  const std::string copy =
      done.ok() ? std::string(static_cast<const char*>(cubin), size) : std::string();
  driver.f.cuLinkDestroy(state);
  if (!done.ok()) return done.error();
  return copy;
}

Result<ProbeResult> MeasureJitDriverCubin(const ProbeContext& context) {
  ASSIGN_OR_RETURN(const auto device, Device::Open(context));
  ProbeResult result;
  result.parameters.Set("sources", Json::MakeArray({"corpus", "reduce"}));
  for (const KernelImage* image : {&kCorpusKernels, &kReduceKernels}) {
    std::string first;
    for (int repeat = 0; repeat < std::max(1, context.repeats); ++repeat) {
      ASSIGN_OR_RETURN(const std::string cubin, DriverCubin(device->driver(), *image));
      if (repeat == 0) first = cubin;
      if (cubin != first) result.unstable.emplace_back(image->name);
    }
    result.bits[std::string(image->name)] = HashOf(first);
    ASSIGN_OR_RETURN(const auto digests, CodeDigests(first));
    for (const auto& [kernel, digest] : digests) result.bits[kernel + " code"] = digest;
    if (image != &kCorpusKernels) continue;
    ASSIGN_OR_RETURN(const CUmodule module, device->Load(first));
    RETURN_IF_ERROR(
        RecordWordKernels(context, *device, module, EntriesOf(image->ptx), "computed ", &result));
  }
  return result;
}

ProbeResult RunJitDriverCubin(const ProbeContext& context) {
  return Finish(MeasureJitDriverCubin(context));
}

const RegisterProbe kJitDriverCubinProbe(
    {.name = "jit_driver_cubin",
     .family = "compiler",
     .summary = "machine code that the driver makes of fixed PTX",
     .device = ProbeDevice::kGpu,
     .run = RunJitDriverCubin,
     .limit = std::chrono::seconds(120)});

}  // namespace
}  // namespace rharness
