// Probe lt_forced_algo: the bits of fixed cuBLASLt configurations. When a heuristic has drifted,
// this shows whether the old configuration still exists and still computes the same.
#include <fmt/format.h>

#include "probes/gpu/gemm.h"
#include "probes/gpu/probe_tools.h"

namespace rharness {
namespace {

// The identifiers of algorithms are small numbers; which of them exist is the library's matter.
constexpr int kAlgorithms = 128;
constexpr int kSplits[] = {1, 4};
// For each generation of kernels: those of Ampere name a number of stages, those of Hopper leave it
// to the kernel, the oldest have none. The first that an algorithm accepts is its fixed one.
constexpr cublasLtMatmulStages_t kStages[] = {
    CUBLASLT_MATMUL_STAGES_32x3,    CUBLASLT_MATMUL_STAGES_64x3,
    CUBLASLT_MATMUL_STAGES_64xAUTO, CUBLASLT_MATMUL_STAGES_128xAUTO,
    CUBLASLT_MATMUL_STAGES_32xAUTO, CUBLASLT_MATMUL_STAGES_UNDEFINED};

Json Configuration(int id, int split, cublasLtMatmulStages_t stages) {
  const int scheme =
      split > 1 ? CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE : CUBLASLT_REDUCTION_SCHEME_NONE;
  return Json::MakeObject()
      .Set("id", id)
      .Set("tile", static_cast<int>(CUBLASLT_MATMUL_TILE_128x128))
      .Set("split_k", split)
      .Set("reduction_scheme", scheme)
      .Set("cta_swizzling", 0)
      .Set("custom_option", 0)
      .Set("stages", static_cast<int>(stages))
      .Set("inner_shape", 0)
      .Set("cluster_shape", 0);
}

struct Fixed {
  Json config;
  cublasLtMatmulHeuristicResult_t algorithm{};
};

// Errors: not_found when the library has no such algorithm, or not for this product.
Result<Fixed> Find(const LtProduct& product, int id, int split) {
  Result<Fixed> found = NotFound("no configuration of it is known");
  for (const cublasLtMatmulStages_t stages : kStages) {
    Json config = Configuration(id, split, stages);
    const auto known = product.Configure(config);
    if (known.ok()) return Fixed{std::move(config), *known};
    found = known.error();
    if (known.error().code != ErrorCode::kNotFound) break;
  }
  return found;
}

Status RecordForced(const ProbeContext& context, const BlasContext& blas,
                    const DeviceGemmShape& shape, ProbeResult* result) {
  const Device& device = *blas.device;
  ASSIGN_OR_RETURN(const auto product, LtProduct::Create(blas.lt, ToLtShape(shape)));
  const auto upload = [&](std::size_t size, std::uint64_t seed) {
    return device.Upload(EncodeAll(shape.input, RoundingValues(size, seed)));
  };
  ASSIGN_OR_RETURN(const DeviceBuffer a, upload(shape.a_size(), context.seed));
  ASSIGN_OR_RETURN(const DeviceBuffer b, upload(shape.b_size(), context.seed + 1));
  const std::size_t bytes = shape.c_size() * BytesOf(shape.output);
  ASSIGN_OR_RETURN(const DeviceBuffer c, device.Allocate(bytes));
  ASSIGN_OR_RETURN(const DeviceBuffer workspace, device.Allocate(std::size_t{32} << 20));
  for (int id = 0; id < kAlgorithms; ++id) {
    for (const int split : kSplits) {
      const auto known = Find(*product, id, split);
      // Not there, or not for this product or workspace: a missing case, seen by comparison.
      if (!known.ok() && known.error().code == ErrorCode::kNotFound) continue;
      if (!known.ok()) return known.error();
      if (known->algorithm.workspaceSize > workspace.bytes()) continue;
      const auto run = [&]() -> Result<std::vector<std::byte>> {
        RETURN_IF_ERROR(device.Zero(c));
        RETURN_IF_ERROR(product->Run(known->algorithm.algo, a.pointer(), b.pointer(), c.pointer(),
                                     c.pointer(), 0.0F, workspace.pointer(), workspace.bytes()));
        RETURN_IF_ERROR(device.Synchronize());
        return device.Read(c, bytes);
      };
      const std::string name = fmt::format("{} {} algorithm {} split {}",
                                           NumberTypeName(shape.input), shape.Name(), id, split);
      result->choices[name] = known->config;
      const auto made = RecordBits(context, name, run, result);
      // What passes the library's check may still be refused when it is run.
      if (!made.ok()) RecordFailure(name, made.error(), result);
    }
  }
  return {};
}

Result<ProbeResult> MeasureLtForcedAlgo(const ProbeContext& context) {
  ASSIGN_OR_RETURN(const auto blas, BlasContext::Open(context));
  ProbeResult result;
  result.parameters.Set("layout", "TN").Set("seed", context.seed).Set("tile", "128x128");
  blas.Describe(&result);
  using T = NumberType;
  for (const DeviceGemmShape& shape : {DeviceGemmShape{256, 256, 1024, T::kBf16, T::kBf16},
                                       DeviceGemmShape{256, 256, 1024, T::kTf32, T::kFp32},
                                       DeviceGemmShape{256, 256, 1024, T::kFp32, T::kFp32}}) {
    RETURN_IF_ERROR(RecordForced(context, blas, shape, &result));
  }
  result.counts["configurations"] = result.bits.size();
  if (result.bits.empty()) result.notes.emplace_back("the library has none of the configurations");
  return result;
}

ProbeResult RunLtForcedAlgo(const ProbeContext& context) {
  return Finish(MeasureLtForcedAlgo(context));
}

const RegisterProbe kLtForcedAlgoProbe({.name = "lt_forced_algo",
                                        .family = "gemm",
                                        .summary = "bits of fixed cuBLASLt configurations",
                                        .device = ProbeDevice::kGpu,
                                        .run = RunLtForcedAlgo,
                                        .limit = std::chrono::seconds(120)});

}  // namespace
}  // namespace rharness
