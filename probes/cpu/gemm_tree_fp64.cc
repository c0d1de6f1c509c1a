// The order in which the BLAS adds a matrix product over its inner dimension, in double precision.
#include "probes/cpu/gemm_trees.h"

namespace rharness {
namespace {

const RegisterProbe kGemmTreeFp64Probe({.name = "gemm_tree_fp64",
                                        .family = "gemm",
                                        .summary = "order of addition of fp64 matrix products",
                                        .run = RevealGemmTrees<double>,
                                        .limit = std::chrono::seconds(600)});

}  // namespace
}  // namespace rharness
