// Probe atomic_spread_cuda: a sum by atomic additions, whose order is the scheduler's. A control:
// if every result is equal, repeats cannot show non-determinism here.
#include <algorithm>
#include <set>

#include "probes/gpu/probe_tools.h"

namespace rharness {
namespace {

constexpr int kLeastSpreadRepeats = 50;
constexpr unsigned int kBlocks = 512, kThreads = 256;

Result<ProbeResult> MeasureAtomicSpread(const ProbeContext& context) {
  ASSIGN_OR_RETURN(const auto device, Device::Open(context));
  ASSIGN_OR_RETURN(const CUmodule module, device->Load(kReduceKernels));
  ASSIGN_OR_RETURN(const CUfunction kernel, device->Find(module, "reduce_atomic"));
  std::vector<float> values = RoundingValues(std::size_t{1} << 20, context.seed);
  // Scales that differ make the order visible in the last bits.
  for (std::size_t i = 0; i < values.size(); ++i) values[i] *= 1.0F + static_cast<float>(i % 997);
  ASSIGN_OR_RETURN(const DeviceBuffer in, device->Upload(values));
  ASSIGN_OR_RETURN(const DeviceBuffer out, device->Allocate(sizeof(float)));
  std::set<std::vector<std::byte>> seen;
  const int repeats = std::max(kLeastSpreadRepeats, context.repeats);
  for (int repeat = 0; repeat < repeats; ++repeat) {
    RETURN_IF_ERROR(device->Zero(out));
    CUdeviceptr in_at = in.address(), out_at = out.address();
    int n = static_cast<int>(values.size());
    RETURN_IF_ERROR(device->Launch(kernel, {kBlocks, kThreads}, {&in_at, &out_at, &n}));
    ASSIGN_OR_RETURN(auto sum, device->Read(out, sizeof(float)));
    seen.insert(std::move(sum));
  }
  ProbeResult result;
  result.parameters.Set("summands", values.size());
  // The number of values is itself a matter of chance: only whether there is more than one.
  if (seen.size() > 1) result.unstable.emplace_back("atomic sum");
  if (seen.size() == 1) result.bits["atomic sum"] = HashOf(*seen.begin());
  result.counts["sums"] = static_cast<std::uint64_t>(repeats);
  result.counts["distinct values"] = seen.size();
  return result;
}

ProbeResult RunAtomicSpread(const ProbeContext& context) {
  return Finish(MeasureAtomicSpread(context));
}

const RegisterProbe kAtomicSpreadProbe({.name = "atomic_spread_cuda",
                                        .family = "reduction",
                                        .summary = "a sum by atomics, which must not repeat itself",
                                        .device = ProbeDevice::kGpu,
                                        .run = RunAtomicSpread,
                                        .must_be_unstable = true});

}  // namespace
}  // namespace rharness
