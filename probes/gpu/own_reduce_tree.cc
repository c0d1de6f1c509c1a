// Probe own_reduce_tree_cuda: the order of our own reductions, which no stack may change. A
// control: another tree than the source's is a failure of the probe's method or of the compiler.
#include "probes/gpu/probe_tools.h"
#include "probes/gpu/reduce_tree.h"
#include "probes/gpu/row_sum.h"

namespace rharness {
namespace {

Result<ProbeResult> MeasureOwnReduceTree(const ProbeContext& context) {
  ASSIGN_OR_RETURN(const auto device, Device::Open(context));
  ASSIGN_OR_RETURN(const CUmodule module, device->Load(kReduceKernels));
  ProbeResult result;
  const auto record = [&](const std::string& kernel, unsigned int threads, int n,
                          const Result<SumTree>& expected) {
    return RecordKnownTree(context, *device, module, kernel, threads, n, expected, &result);
  };
  RETURN_IF_ERROR(record("reduce_rows", 256, 256, RowsTree(256)));
  RETURN_IF_ERROR(record("reduce_rows", 256, 4096, RowsTree(4096)));
  RETURN_IF_ERROR(record("reduce_serial", 1, 1000, SerialTree(1000)));
  return result;
}

ProbeResult RunOwnReduceTree(const ProbeContext& context) {
  return Finish(MeasureOwnReduceTree(context));
}

const RegisterProbe kOwnReduceTreeProbe(
    {.name = "own_reduce_tree_cuda",
     .family = "reduction",
     .summary = "order of our own reductions, which must be the source's",
     .device = ProbeDevice::kGpu,
     .run = RunOwnReduceTree});

}  // namespace
}  // namespace rharness
