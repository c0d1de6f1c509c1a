// Algorithms of cuBLASLt: packed, configured, checked.
#include "tests/gpu/emulator/libraries/lt_algorithm.h"

#include <algorithm>
#include <cstring>

#include "tests/gpu/emulator/libraries/machine.h"

namespace rharness {
namespace {

constexpr std::uint64_t kMagic = 0x656d756c61746564U;

std::size_t BytesOfAttribute(cublasLtMatmulAlgoConfigAttributes_t attribute) {
  return attribute >= CUBLASLT_ALGO_CONFIG_INNER_SHAPE_ID ? 2 : 4;
}

bool IsAttribute(cublasLtMatmulAlgoConfigAttributes_t attribute) {
  return attribute >= CUBLASLT_ALGO_CONFIG_ID && attribute <= CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID;
}

bool StagesFit(int id, std::uint32_t stages) {
  const auto is_one_of = [&](std::initializer_list<cublasLtMatmulStages_t> those) {
    return std::ranges::count(those, static_cast<cublasLtMatmulStages_t>(stages)) > 0;
  };
  if (id == 66) {
    return is_one_of({CUBLASLT_MATMUL_STAGES_64xAUTO, CUBLASLT_MATMUL_STAGES_128xAUTO});
  }
  if (id == 21) return is_one_of({CUBLASLT_MATMUL_STAGES_32x3, CUBLASLT_MATMUL_STAGES_64x3});
  return stages == CUBLASLT_MATMUL_STAGES_UNDEFINED;
}

std::uint64_t InputFlag(Factor factor) {
  switch (factor) {
    case Factor::kF64:
      return CUBLASLT_NUMERICAL_IMPL_FLAGS_INPUT_64F;
    case Factor::kTf32:
      return CUBLASLT_NUMERICAL_IMPL_FLAGS_INPUT_TF32;
    case Factor::kBf16:
      return CUBLASLT_NUMERICAL_IMPL_FLAGS_INPUT_16BF;
    case Factor::kF16:
      return CUBLASLT_NUMERICAL_IMPL_FLAGS_INPUT_16F;
    case Factor::kFp8:
      return CUBLASLT_NUMERICAL_IMPL_FLAGS_INPUT_8F_E4M3;
    case Factor::kI8:
      return CUBLASLT_NUMERICAL_IMPL_FLAGS_INPUT_8I;
    default:
      return CUBLASLT_NUMERICAL_IMPL_FLAGS_INPUT_32F;
  }
}

}  // namespace

cublasLtMatmulAlgo_t LtAlgorithm::Pack() const {
  cublasLtMatmulAlgo_t algo{};
  algo.data[0] = kMagic;
  algo.data[1] = static_cast<std::uint64_t>(kernel.id) | static_cast<std::uint64_t>(factor) << 32;
  for (std::size_t i = 1; i < config.size(); ++i) {
    algo.data[2 + i / 2] |= std::uint64_t{config[i]} << (i % 2 * 32);
  }
  algo.data[7] = static_cast<std::uint64_t>(kernel.slices);
  return algo;
}

std::optional<LtAlgorithm> LtAlgorithm::Unpack(const cublasLtMatmulAlgo_t& algo) {
  if (algo.data[0] != kMagic) return std::nullopt;
  LtAlgorithm made;
  made.kernel = {static_cast<int>(algo.data[1] & 0xffffffffU), static_cast<int>(algo.data[7])};
  made.factor = static_cast<Factor>(algo.data[1] >> 32);
  for (std::size_t i = 1; i < made.config.size(); ++i) {
    made.config[i] = static_cast<std::uint32_t>(algo.data[2 + i / 2] >> (i % 2 * 32));
  }
  return made;
}

cublasStatus_t LtAlgorithm::Set(cublasLtMatmulAlgoConfigAttributes_t attribute, const void* value,
                                std::size_t bytes) {
  if (!IsAttribute(attribute) || attribute == CUBLASLT_ALGO_CONFIG_ID ||
      bytes != BytesOfAttribute(attribute)) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  std::uint32_t number = 0;
  std::memcpy(&number, value, bytes);
  if (attribute == CUBLASLT_ALGO_CONFIG_SPLITK_NUM) {
    if (number > 64) return CUBLAS_STATUS_INVALID_VALUE;
    kernel.slices = std::max(1, static_cast<int>(number));
  } else {
    config[attribute] = number;
  }
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t LtAlgorithm::Get(cublasLtMatmulAlgoConfigAttributes_t attribute, void* value,
                                std::size_t bytes, std::size_t* written) const {
  if (!IsAttribute(attribute) || bytes != BytesOfAttribute(attribute)) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  std::uint32_t number = config[attribute];
  if (attribute == CUBLASLT_ALGO_CONFIG_ID) number = static_cast<std::uint32_t>(kernel.id);
  if (attribute == CUBLASLT_ALGO_CONFIG_SPLITK_NUM) {
    number = static_cast<std::uint32_t>(kernel.slices);
  }
  std::memcpy(value, &number, bytes);
  if (written != nullptr) *written = bytes;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t LtAlgorithm::Check(Factor product) const {
  if (product != factor) return CUBLAS_STATUS_INVALID_VALUE;
  if (TheMachine().compute() < LeastCompute(kernel.id, factor)) return CUBLAS_STATUS_ARCH_MISMATCH;
  const std::uint32_t tile = config[CUBLASLT_ALGO_CONFIG_TILE_ID];
  const std::uint32_t scheme = config[CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME];
  const std::uint32_t wanted =
      kernel.slices > 1 ? CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE : CUBLASLT_REDUCTION_SCHEME_NONE;
  const bool fits = (tile == CUBLASLT_MATMUL_TILE_64x64 || tile == CUBLASLT_MATMUL_TILE_128x128) &&
                    scheme == wanted && (kernel.slices == 1 || CanSplit(kernel.id)) &&
                    StagesFit(kernel.id, config[CUBLASLT_ALGO_CONFIG_STAGES_ID]) &&
                    config[CUBLASLT_ALGO_CONFIG_CTA_SWIZZLING] <= 1 &&
                    config[CUBLASLT_ALGO_CONFIG_CUSTOM_OPTION] == 0 &&
                    config[CUBLASLT_ALGO_CONFIG_INNER_SHAPE_ID] == 0 &&
                    config[CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID] == 0;
  return fits ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_SUPPORTED;
}

std::uint64_t LtAlgorithm::NumericalFlags() const {
  const bool tensor = kernel.id == 66 || kernel.id == 21;
  const std::uint64_t unit = factor == Factor::kI8 ? CUBLASLT_NUMERICAL_IMPL_FLAGS_IMMA
                             : tensor              ? CUBLASLT_NUMERICAL_IMPL_FLAGS_HMMA
                                                   : CUBLASLT_NUMERICAL_IMPL_FLAGS_FMA;
  const std::uint64_t sum = factor == Factor::kF64  ? CUBLASLT_NUMERICAL_IMPL_FLAGS_ACCUMULATOR_64F
                            : factor == Factor::kI8 ? CUBLASLT_NUMERICAL_IMPL_FLAGS_ACCUMULATOR_32I
                                                    : CUBLASLT_NUMERICAL_IMPL_FLAGS_ACCUMULATOR_32F;
  return unit | sum | InputFlag(factor);
}

LtAlgorithm FirstOf(const MatmulKernel& kernel, Factor factor) {
  LtAlgorithm algorithm{.kernel = kernel, .factor = factor};
  algorithm.config[CUBLASLT_ALGO_CONFIG_TILE_ID] = CUBLASLT_MATMUL_TILE_128x128;
  if (kernel.slices > 1) {
    algorithm.config[CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME] =
        CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE;
  }
  algorithm.config[CUBLASLT_ALGO_CONFIG_STAGES_ID] =
      kernel.id == 66   ? CUBLASLT_MATMUL_STAGES_64xAUTO
      : kernel.id == 21 ? CUBLASLT_MATMUL_STAGES_32x3
                        : CUBLASLT_MATMUL_STAGES_UNDEFINED;
  return algorithm;
}

}  // namespace rharness
