// Probes gemm_tree_*_cuda: the order in which cuBLAS adds the products of a matrix product.
#include <fmt/format.h>

#include "probes/gpu/gemm.h"
#include "probes/gpu/probe_tools.h"

namespace rharness {
namespace {

struct TreeShape {
  int m, n, k;
  bool with_c;
};

// Square-ish ones, one of few rows over a long sum (split-K), one that is a vector product, and C
// as a summand. fp8 wants multiples of 16.
constexpr TreeShape kShapes[] = {
    {128, 128, 256, false}, {128, 128, 256, true}, {256, 256, 1024, false}, {16, 16, 2048, false}};
constexpr TreeShape kVector = {1, 64, 1024, false};

Status Reveal(const ProbeContext& context, const BlasContext& blas, const DeviceGemmShape& shape,
              bool with_c, const std::string& name, ProbeResult* result) {
  ASSIGN_OR_RETURN(const auto gemm, Gemm::Create(blas, shape));
  GemmSum sum(*gemm, with_c);
  return RecordTree(context, name, sum, result);
}

void RecordGemmTree(const ProbeContext& context, const BlasContext& blas, const TreeShape& shape,
                    NumberType input, NumberType output, ProbeResult* result) {
  const DeviceGemmShape product{shape.m, shape.n, shape.k, input, output};
  const std::string name = product.Name() + (shape.with_c ? " with C" : "");
  const Status done = Reveal(context, blas, product, shape.with_c, name, result);
  if (done.ok()) return;
  if (done.error().code == ErrorCode::kNotFound) {
    result->notes.push_back(name + ": " + done.error().ToString());
  } else {
    RecordFailure(name, done.error(), result);
  }
}

template <NumberType kInput>
Result<ProbeResult> MeasureGemmTree(const ProbeContext& context) {
  ASSIGN_OR_RETURN(const auto blas, BlasContext::Open(context));
  ProbeResult result;
  const NumberType wide = kInput == NumberType::kFp64 ? kInput : NumberType::kFp32;
  const MaskScheme scheme = SchemeOf(kInput, wide);
  result.parameters.Set("layout", "TN").Set("mask", scheme.mask()).Set("unit", scheme.unit());
  blas.Describe(&result);
  for (const TreeShape& shape : kShapes) {
    RecordGemmTree(context, blas, shape, kInput, wide, &result);
  }
  if (kInput != NumberType::kE4m3) {
    RecordGemmTree(context, blas, kVector, kInput, wide, &result);
  }
  if (kInput == NumberType::kBf16 || kInput == NumberType::kFp16) {
    for (const TreeShape& shape : {kShapes[0], kShapes[3]}) {
      RecordGemmTree(context, blas, shape, kInput, kInput, &result);
    }
  }
  return result;
}

template <NumberType kInput>
ProbeResult RunGemmTree(const ProbeContext& context) {
  return Finish(MeasureGemmTree<kInput>(context));
}

Probe TreeProbe(std::string_view name, ProbeResult (*run)(const ProbeContext&)) {
  return {.name = name,
          .family = "gemm",
          .summary = "order of addition in cuBLAS matrix products",
          .device = ProbeDevice::kGpu,
          .run = run,
          .limit = std::chrono::seconds(180)};
}

const RegisterProbe kFp32(TreeProbe("gemm_tree_fp32_cuda", RunGemmTree<NumberType::kFp32>));
const RegisterProbe kTf32(TreeProbe("gemm_tree_tf32_cuda", RunGemmTree<NumberType::kTf32>));
const RegisterProbe kBf16(TreeProbe("gemm_tree_bf16_cuda", RunGemmTree<NumberType::kBf16>));
const RegisterProbe kFp16(TreeProbe("gemm_tree_fp16_cuda", RunGemmTree<NumberType::kFp16>));
const RegisterProbe kFp8(TreeProbe("gemm_tree_fp8_cuda", RunGemmTree<NumberType::kE4m3>));
const RegisterProbe kFp64(TreeProbe("gemm_tree_fp64_cuda", RunGemmTree<NumberType::kFp64>));

}  // namespace
}  // namespace rharness
