// One matrix product of fixed shape and types on the device, and its order of addition.
//
// Role: for the gemm probes. D = A' B + beta C, column-major, A is k by m, B is k by n, C and D are
// m by n, so that one question's summands lie side by side. fp8 goes through cuBLASLt's first
// choice, everything else through cublasGemmEx with its default algorithm. The shape is constant
// over all questions, since it picks the kernel.
#ifndef RHARNESS_PROBES_GPU_GEMM_H_
#define RHARNESS_PROBES_GPU_GEMM_H_

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "harness/base/result.h"
#include "probes/gpu/device.h"
#include "probes/gpu/number_type.h"
#include "probes/library/cublas.h"
#include "probes/library/cublaslt.h"
#include "probes/order/reveal.h"

namespace rharness {

struct DeviceGemmShape {
  int m = 0, n = 0, k = 0;
  NumberType input = NumberType::kFp32;
  NumberType output = NumberType::kFp32;

  std::string Name() const;  // "128x128x256", and " to bf16" when the output is a short type
  std::size_t a_size() const { return static_cast<std::size_t>(m) * static_cast<std::size_t>(k); }
  std::size_t b_size() const { return static_cast<std::size_t>(n) * static_cast<std::size_t>(k); }
  std::size_t c_size() const { return static_cast<std::size_t>(m) * static_cast<std::size_t>(n); }
};

// For cuBLASLt; tf32 is the fast compute type of fp32.
LtShape ToLtShape(const DeviceGemmShape& shape);

// The libraries, opened once a probe.
struct BlasContext {
  std::shared_ptr<Device> device;
  std::shared_ptr<Cublas> blas;
  std::shared_ptr<CublasLt> lt;

  // not_found without driver, device, cuBLAS or cuBLASLt.
  static Result<BlasContext> Open(const ProbeContext& context);
  // Adds the found files to the result: they belong to the stack and are no choice of the library.
  void Describe(ProbeResult* result) const;
};

class Gemm {
 public:
  // Errors: not_found when the library has no product of these types on this device.
  static Result<std::unique_ptr<Gemm>> Create(const BlasContext& context,
                                              const DeviceGemmShape& shape);

  const DeviceGemmShape& shape() const { return shape_; }
  // Matrices as stored; an empty `c` is beta 0, else beta is 1. Returns D as stored.
  Result<std::vector<std::byte>> Run(std::span<const std::byte> a, std::span<const std::byte> b,
                                     std::span<const std::byte> c) const;

 private:
  Gemm(const BlasContext& context, const DeviceGemmShape& shape)
      : context_(context), shape_(shape) {}
  Status Multiply(bool with_c) const;

  BlasContext context_;
  DeviceGemmShape shape_;
  DeviceBuffer a_, b_, c_, d_, workspace_;
  std::unique_ptr<LtProduct> product_;  // of fp8 alone
  cublasLtMatmulAlgo_t algo_{};
};

// The matrices of a batch of questions, as stored: question q is row q of A, or column q of B if
// there are more of these, or both in a diagonal scheme; rows without a question are all units.
// Summand k, if present, is C.
struct MaskedMatrices {
  std::vector<std::byte> a, b, c;
};
// Questions of one batch at most, and the element of D and C, as stored, that belongs to one.
int MostQuestions(const DeviceGemmShape& shape, const MaskScheme& scheme);
std::size_t ElementOf(const DeviceGemmShape& shape, const MaskScheme& scheme, std::size_t question);
MaskedMatrices BuildMasked(const DeviceGemmShape& shape, const MaskScheme& scheme, bool with_c,
                           std::span<const MaskPair> pairs, UnitRange units);

class GemmSum : public MaskedSum {
 public:
  // `with_c`: C is one summand more.
  GemmSum(const Gemm& gemm, bool with_c)
      : gemm_(gemm), with_c_(with_c), scheme_(SchemeOf(gemm.shape().input, gemm.shape().output)) {}

  int size() const override { return gemm_.shape().k + (with_c_ ? 1 : 0); }
  int max_batch() const override;
  std::int64_t exact_count() const override { return scheme_.exact_count; }
  Status Count(std::span<const MaskPair> pairs, UnitRange units, std::span<double> counts) override;

 private:
  const Gemm& gemm_;
  bool with_c_;
  MaskScheme scheme_;
};

}  // namespace rharness

#endif  // RHARNESS_PROBES_GPU_GEMM_H_
