// Probe own_reduce_tree_cuda: the order of our own reductions, which no stack may change. A
// control: another tree than the source's is a failure of the probe's method or of the compiler.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "probes/gpu/probe_tools.h"
#include "probes/gpu/reduce_tree.h"

namespace rharness {
namespace {

constexpr int kRows = 256;
const float kMask = std::ldexp(1.0F, 120);

// One block a row, one row a question.
class RowSum : public MaskedSum {
 public:
  RowSum(const Device& device, CUfunction kernel, unsigned int threads, int n)
      : device_(device), kernel_(kernel), threads_(threads), n_(n) {}

  int size() const override { return n_; }
  int max_batch() const override { return kRows; }
  Status Count(std::span<const MaskPair> pairs, UnitRange units,
               std::span<double> counts) override {
    const auto n = static_cast<std::size_t>(n_);
    std::vector<float> rows(pairs.size() * n, 0.0F);
    for (std::size_t q = 0; q < pairs.size(); ++q) {
      float* row = rows.data() + q * n;
      std::fill(row + units.begin, row + units.end, 1.0F);
      row[pairs[q].plus] = kMask;
      row[pairs[q].minus] = -kMask;
    }
    ASSIGN_OR_RETURN(const DeviceBuffer in, device_.Upload(rows));
    ASSIGN_OR_RETURN(const DeviceBuffer out, device_.Allocate(pairs.size() * sizeof(float)));
    CUdeviceptr in_at = in.address(), out_at = out.address();
    int length = n_;
    RETURN_IF_ERROR(device_.Launch(kernel_, {static_cast<unsigned int>(pairs.size()), threads_},
                                   {&in_at, &out_at, &length}));
    ASSIGN_OR_RETURN(const auto bytes, device_.Read(out, pairs.size() * sizeof(float)));
    std::vector<float> sums(pairs.size());
    std::memcpy(sums.data(), bytes.data(), bytes.size());
    std::ranges::copy(sums, counts.begin());
    return {};
  }

 private:
  const Device& device_;
  CUfunction kernel_;
  unsigned int threads_;
  int n_;
};

Result<ProbeResult> Measure(const ProbeContext& context) {
  ASSIGN_OR_RETURN(const auto device, Device::Open(context));
  ASSIGN_OR_RETURN(const CUmodule module, device->Load(kReduceKernels));
  ProbeResult result;
  const auto record = [&](const std::string& kernel, unsigned int threads, int n,
                          const Result<SumTree>& expected) -> Status {
    if (!expected.ok()) return expected.error();
    ASSIGN_OR_RETURN(const CUfunction function, device->Find(module, kernel));
    RowSum sum(*device, function, threads, n);
    const std::string name = kernel + " " + std::to_string(n);
    RETURN_IF_ERROR(RecordTree(context, name, sum, &result));
    const auto found = result.trees.find(name);
    if (found != result.trees.end() && found->second == *expected) return {};
    result.status = ProbeStatus::kFailed;
    result.message += name + ": not the order of the source; ";
    return {};
  };
  RETURN_IF_ERROR(record("reduce_rows", 256, 256, RowsTree(256)));
  RETURN_IF_ERROR(record("reduce_rows", 256, 4096, RowsTree(4096)));
  RETURN_IF_ERROR(record("reduce_serial", 1, 1000, SerialTree(1000)));
  return result;
}

ProbeResult Run(const ProbeContext& context) { return Finish(Measure(context)); }

const RegisterProbe kProbe({.name = "own_reduce_tree_cuda",
                            .family = "reduction",
                            .summary = "order of our own reductions, which must be the source's",
                            .device = ProbeDevice::kGpu,
                            .run = Run});

}  // namespace
}  // namespace rharness
