// The probes of this version by name; a test compares them with the registry.
#include "harness/records/policy/known_probes.h"

#include <algorithm>

#include "harness/records/policy/policy.h"

namespace rharness {
namespace {

constexpr KnownProbe kKnown[] = {
    {"atomic_spread", "reduction"},
    {"atomic_spread_cuda", "reduction"},
    {"batch_invariance", "gemm"},
    {"batch_invariance_cuda", "gemm"},
    {"blas_bits", "gemm"},
    {"blas_dot_tree", "gemm"},
    {"blas_gemv_tree", "gemm"},
    {"conv_bits", "convolution"},
    {"conv_tree", "convolution"},
    {"convert_bits", "math"},
    {"convert_bits_cuda", "math"},
    {"cub_reduce_tree_cuda", "reduction"},
    {"cudnn_conv_bits", "convolution"},
    {"cudnn_conv_tree", "convolution"},
    {"cudnn_engine_list", "convolution"},
    {"cudnn_engine_list_named", "convolution"},
    {"cudnn_legacy_algo", "convolution"},
    {"endpoint_alone", "serving"},
    {"endpoint_batch", "serving"},
    {"endpoint_order", "serving"},
    {"endpoint_prefix", "serving"},
    {"env_ident", "identity"},
    {"env_ident_cuda", "identity"},
    {"fatbin_force_jit", "compiler"},
    {"fp_scalar", "scalar"},
    {"gemm_bits", "gemm"},
    {"gemm_bits_cuda", "gemm"},
    {"gemm_int8_exact", "gemm"},
    {"gemm_int8_exact_cuda", "gemm"},
    {"gemm_multistream", "gemm"},
    {"gemm_threads", "gemm"},
    {"gemm_tree_bf16_cuda", "gemm"},
    {"gemm_tree_fp16_cuda", "gemm"},
    {"gemm_tree_fp32", "gemm"},
    {"gemm_tree_fp32_cuda", "gemm"},
    {"gemm_tree_fp64", "gemm"},
    {"gemm_tree_fp64_cuda", "gemm"},
    {"gemm_tree_fp8_cuda", "gemm"},
    {"gemm_tree_tf32_cuda", "gemm"},
    {"gemm_workspace", "gemm"},
    {"jit_driver_cubin", "compiler"},
    {"jit_toolkit_bits", "compiler"},
    {"jit_toolkit_cubin", "compiler"},
    {"lt_forced_algo", "gemm"},
    {"lt_heuristic", "gemm"},
    {"math_bits", "math"},
    {"math_bits_cuda", "math"},
    {"mma_features", "gemm"},
    {"nccl_bits", "collective"},
    {"nccl_choice", "collective"},
    {"nccl_tree", "collective"},
    {"numpy_bits", "math"},
    {"nvrtc_ptx", "compiler"},
    {"omp_reduce_tree", "reduction"},
    {"own_reduce_tree", "compiler"},
    {"own_reduce_tree_cuda", "reduction"},
    {"pool_ctc_nd", "convolution"},
    {"ring_tree", "collective"},
    {"scan_bits", "reduction"},
    {"scan_bits_cuda", "reduction"},
    {"softmax_norm_tree", "reduction"},
    {"softmax_norm_tree_cuda", "reduction"},
    {"std_reduce_tree", "reduction"},
    {"symv_atomics", "gemm"},
    {"symv_bits", "gemm"},
    {"wgmma_features", "gemm"},
};

}  // namespace

std::span<const KnownProbe> KnownProbes() { return kKnown; }

bool MayConcern(std::string_view glob, const std::vector<std::string>& families) {
  if (families.empty() || NamesProbe(glob, "", kFamilyOfAll)) return true;
  for (const std::string& family : families) {
    if (NamesProbe(glob, "", family)) return true;
  }
  if (glob.starts_with("family:")) return false;
  bool is_known = false;
  for (const KnownProbe& probe : KnownProbes()) {
    if (!NamesProbe(glob, probe.name, probe.family)) continue;
    is_known = true;
    if (probe.family == kFamilyOfAll) return true;
    if (std::ranges::find(families, probe.family) != families.end()) return true;
  }
  return !is_known;
}

}  // namespace rharness
