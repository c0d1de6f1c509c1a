// The order in which the BLAS adds a matrix product over its inner dimension, in single precision.
#include "probes/cpu/gemm_trees.h"

namespace rharness {
namespace {

const RegisterProbe kGemmTreeFp32Probe({.name = "gemm_tree_fp32",
                                        .family = "gemm",
                                        .summary = "order of addition of fp32 matrix products",
                                        .run = RevealGemmTrees<float>,
                                        .limit = std::chrono::seconds(600)});

}  // namespace
}  // namespace rharness
