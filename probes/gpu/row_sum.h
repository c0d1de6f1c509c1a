// Our kernels that add rows, as a routine for questions: one block per row, one row per question.
#ifndef RHARNESS_PROBES_GPU_ROW_SUM_H_
#define RHARNESS_PROBES_GPU_ROW_SUM_H_

#include <string>
#include <vector>

#include "probes/gpu/device.h"
#include "probes/order/reveal.h"
#include "probes/probe.h"

namespace rharness {

// Rows of n ones, zeros outside of `units`, question q's masks of 2^`mask_exponent` in row q.
std::vector<float> MaskedRows(std::span<const MaskPair> pairs, UnitRange units, int n,
                              int mask_exponent);

// Of signature (const float* in, float* out, int n).
class RowSum : public MaskedSum {
 public:
  RowSum(const Device& device, CUfunction kernel, unsigned int threads, int n)
      : device_(device), kernel_(kernel), threads_(threads), n_(n) {}

  int size() const override { return n_; }
  int max_batch() const override { return 256; }
  Status Count(std::span<const MaskPair> pairs, UnitRange units, std::span<double> counts) override;

 private:
  const Device& device_;
  CUfunction kernel_;
  unsigned int threads_;
  int n_;
};

// Records the kernel's tree as "KERNEL n"; the result fails when it is not `expected`.
Status RecordKnownTree(const ProbeContext& context, const Device& device, CUmodule module,
                       const std::string& kernel, unsigned int threads, int n,
                       const Result<SumTree>& expected, ProbeResult* result);

}  // namespace rharness

#endif  // RHARNESS_PROBES_GPU_ROW_SUM_H_
