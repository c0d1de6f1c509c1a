// Probe scan_bits_cuda: prefix sums by CUB. Blocks take the sum of earlier blocks from any that is
// ready, so that fp32 need not repeat: the repeats are part of the answer.
#include <fmt/format.h>

#include "probes/gpu/cub_launch.h"
#include "probes/gpu/probe_tools.h"

namespace rharness {
namespace {

// One block, several, and more than the device runs at once.
constexpr int kSizes[] = {1000, 100'000, 10'000'000};

Result<ProbeResult> MeasureScanBits(const ProbeContext& context) {
  ASSIGN_OR_RETURN(const auto device, Device::Open(context));
  ASSIGN_OR_RETURN(const int ordinal, DeviceOrdinal(context.device));
  RETURN_IF_ERROR(StartCub(ordinal, device->driver().version()));
  ProbeResult result;
  result.parameters.Set("seed", context.seed);
  result.libraries["cub"] =
      Json::MakeObject().Set("cccl", CcclVersion()).Set("cuda_runtime", CubRuntimeVersion());
  for (const int n : kSizes) {
    std::vector<float> values = RoundingValues(static_cast<std::size_t>(n), context.seed);
    // Scales that differ make the order visible in the last bits.
    for (std::size_t i = 0; i < values.size(); ++i) values[i] *= 1.0F + static_cast<float>(i % 997);
    ASSIGN_OR_RETURN(const DeviceBuffer in, device->Upload(values));
    ASSIGN_OR_RETURN(const DeviceBuffer out, device->Allocate(in.bytes()));
    const auto scan = [&]() -> Result<std::vector<std::byte>> {
      RETURN_IF_ERROR(device->Zero(out));
      RETURN_IF_ERROR(CubInclusiveSum(static_cast<const float*>(in.pointer()),
                                      static_cast<float*>(out.pointer()), n));
      return device->Read(out, out.bytes());
    };
    const auto made =
        RecordBits(context, fmt::format("fp32 cub::DeviceScan::InclusiveSum {}", n), scan, &result);
    if (!made.ok()) return made.error();
  }
  return result;
}

ProbeResult RunScanBits(const ProbeContext& context) { return Finish(MeasureScanBits(context)); }

const RegisterProbe kScanBitsProbe({.name = "scan_bits_cuda",
                                    .family = "reduction",
                                    .summary = "bits of CUB's prefix sums",
                                    .device = ProbeDevice::kGpu,
                                    .run = RunScanBits});

}  // namespace
}  // namespace rharness
