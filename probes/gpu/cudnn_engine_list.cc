// Probes cudnn_engine_list and cudnn_engine_list_named: which engines cuDNN ranks first, before any
// bit moves; on this device, and for devices that are only described and need not be there.
#include <fmt/format.h>

#include "probes/gpu/cudnn_operations.h"
#include "probes/gpu/cudnn_run.h"
#include "probes/gpu/probe_tools.h"

namespace rharness {
namespace {

constexpr std::int64_t kRanks = 8, kNamedRanks = 3;

Result<ProbeResult> MeasureCudnnEngineList(const ProbeContext& context) {
  ASSIGN_OR_RETURN(const auto cudnn, CudnnContext::Open(context));
  ProbeResult result;
  result.parameters.Set("ranks", kRanks).Set("multiprocessors", cudnn.device->multiprocessors());
  result.libraries = cudnn.cudnn->DescribeParts();
  RETURN_IF_ERROR(ListEngines(cudnn.cudnn, "", nullptr, kRanks, &result));
  if (result.choices.empty()) return InternalError("no engine for any operation");
  return result;
}

// A part of cuDNN 9.28 that is loaded for any device needs the driver's library.
Error WithoutDriver(const Error& error) {
  return {error.code,
          error.message +
              "; there is no libcuda.so.1, which newer cuDNN needs: the toolkit's stub "
              "will do, by --library-path to its folder",
          error.where};
}

// `driver_there`: whether a driver's library was.
Result<ProbeResult> MeasureNamed(const ProbeContext& context, bool* driver_there) {
  ASSIGN_OR_RETURN(const auto cudnn, Cudnn::Load(context.library_paths));
  if (cudnn->version() < kCudnnWithDeviceProperties) {
    return NotFound(fmt::format("cuDNN {} knows the device that it runs on alone; since 9.8 others",
                                cudnn->VersionText()));
  }
  ProbeResult result;
  result.parameters.Set("ranks", kNamedRanks);
  // Engines that compile at run time are listed only when cuDNN can load a driver's library; the
  // toolkit's stub is enough, and can be set here.
  const auto driver = Library::Open({"libcuda.so.1", "libcuda.so"}, context.library_paths);
  *driver_there = driver.ok();
  if (!driver.ok()) {
    result.notes.emplace_back(
        "without libcuda.so.1, or the toolkit's stub, cuDNN lists no engine "
        "that compiles at run time");
  }
  result.libraries = cudnn->DescribeParts();
  for (const NamedDevice& named : NamedDevices()) {
    result.parameters.Set(named.name, named.properties);
    const auto device = CudnnDevice(cudnn, named.properties);
    if (!device.ok()) return driver.ok() ? device.error() : WithoutDriver(device.error());
    RETURN_IF_ERROR(
        ListEngines(cudnn, fmt::format("{} ", named.name), &*device, kNamedRanks, &result));
  }
  if (result.choices.empty()) return InternalError("no engine for any operation");
  return result;
}

ProbeResult RunCudnnEngineList(const ProbeContext& context) {
  return Finish(MeasureCudnnEngineList(context), Shows::kChoices);
}
ProbeResult RunNamed(const ProbeContext& context) {
  bool driver_there = false;
  ProbeResult result = Finish(MeasureNamed(context, &driver_there), Shows::kChoices);
  // Only beside rankings: alone it would pass for something that the probe saw.
  if (result.status == ProbeStatus::kOk) {
    result.choices["runtime-compiled engines"] = Json::MakeObject().Set("listed", driver_there);
  }
  return result;
}

const RegisterProbe kCudnnEngineListProbe({.name = "cudnn_engine_list",
                                           .family = "convolution",
                                           .summary = "the engines that cuDNN ranks first",
                                           .device = ProbeDevice::kGpu,
                                           .run = RunCudnnEngineList});
const RegisterProbe kNamed({.name = "cudnn_engine_list_named",
                            .family = "convolution",
                            .summary = "the engines that cuDNN ranks first for named devices",
                            .device = ProbeDevice::kCpu,
                            .run = RunNamed,
                            .by_name = true});

}  // namespace
}  // namespace rharness
