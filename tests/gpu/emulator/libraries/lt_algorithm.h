// A configured algorithm of cuBLASLt, in the eight words of cublasLtMatmulAlgo_t.
#ifndef RHARNESS_TESTS_GPU_EMULATOR_LIBRARIES_LT_ALGORITHM_H_
#define RHARNESS_TESTS_GPU_EMULATOR_LIBRARIES_LT_ALGORITHM_H_

#include <cublasLt.h>

#include <array>
#include <optional>

#include "tests/gpu/emulator/libraries/matmul.h"

namespace rharness {

struct LtAlgorithm {
  MatmulKernel kernel;
  Factor factor = Factor::kF32;
  // By attribute, CUBLASLT_ALGO_CONFIG_TILE_ID to CLUSTER_SHAPE_ID; the splits are the kernel's.
  std::array<std::uint32_t, 9> config{};

  cublasLtMatmulAlgo_t Pack() const;
  // Empty: these words were never an algorithm of this library.
  static std::optional<LtAlgorithm> Unpack(const cublasLtMatmulAlgo_t& algo);

  // Attributes of the sizes that the header states; the id cannot be set.
  cublasStatus_t Set(cublasLtMatmulAlgoConfigAttributes_t attribute, const void* value,
                     std::size_t bytes);
  cublasStatus_t Get(cublasLtMatmulAlgoConfigAttributes_t attribute, void* value, std::size_t bytes,
                     std::size_t* written) const;
  // Whether it can run a product of these factors here: stages of its generation, a reduction
  // scheme where it is split and none else, tiles of 64 or 128 squared.
  cublasStatus_t Check(Factor product) const;
  std::uint64_t NumericalFlags() const;
};

// The configuration that a ranking gives for a kernel.
LtAlgorithm FirstOf(const MatmulKernel& kernel, Factor factor);

}  // namespace rharness

#endif  // RHARNESS_TESTS_GPU_EMULATOR_LIBRARIES_LT_ALGORITHM_H_
