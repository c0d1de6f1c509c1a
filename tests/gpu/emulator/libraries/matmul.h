// Matrix products as cuBLAS and cuBLASLt both do them: the kernels that there are, which of them a
// product gets, and the product itself.
//
// Role: the stated orders. Kernels, by the id that cuBLASLt gives them:
//   10 one accumulator, rising; can be split     12 32 lanes, for vectors
//   11 two lanes                                 21 tensor cores of compute capability 8.0
//   66 tensor cores of 9.0                       70 whole numbers
// First in rank: 12 for a vector; else, with a small result of a long sum and a workspace, four
// slices (EMULATED_SPLIT: another number); else unsplit; of kernels 66, 21, 10, 11 in this order.
#ifndef RHARNESS_TESTS_GPU_EMULATOR_LIBRARIES_MATMUL_H_
#define RHARNESS_TESTS_GPU_EMULATOR_LIBRARIES_MATMUL_H_

#include <cublas_v2.h>

#include <optional>
#include <string_view>
#include <vector>

#include "tests/gpu/emulator/libraries/elements.h"
#include "tests/gpu/emulator/libraries/sums.h"

namespace rharness {

std::optional<Element> ElementOf(cudaDataType type);  // of the types that the libraries know

// What is multiplied: tf32 is fp32 whose low bits tensor cores drop.
enum class Factor { kF64, kF32, kTf32, kBf16, kF16, kFp8, kI8 };
// Of inputs, output and compute type, as the table of supported types has it; empty: not supported.
// Source: cuBLAS, "cublasGemmEx" and "cublasLtMatmul", tables of types. fp8 is for cuBLASLt alone.
std::optional<Factor> FactorOf(cudaDataType input, cudaDataType output,
                               cublasComputeType_t compute);

struct MatmulSize {
  std::uint64_t m = 0, n = 0, k = 0;
};

struct MatmulKernel {
  int id = 10;
  int slices = 1;
  bool operator==(const MatmulKernel&) const = default;
};
bool IsKernel(int id);
bool Takes(int id, Factor factor);
bool CanSplit(int id);
int LeastCompute(int id, Factor factor);  // capability, 80 for 8.0
std::uint64_t AlignmentOf(int id);        // of every matrix, in bytes
std::uint64_t WorkspaceOf(const MatmulKernel& kernel, const MatmulSize& size);
SumOrder OrderOf(const MatmulKernel& kernel, Factor factor);

// Best first; at least one unless the device cannot do this at all.
std::vector<MatmulKernel> RankKernels(Factor factor, const MatmulSize& size,
                                      std::uint64_t alignment, std::uint64_t workspace_bytes);

// Column-major: A as stored is k by m if transposed, else m by k; B is n by k, or k by n.
struct MatmulCall {
  std::string_view name;
  int device = 0;
  MatmulKernel kernel;
  Factor factor = Factor::kF32;
  unsigned turn = 0;  // SumOrder's
  MatmulSize size;
  Element input = Element::kF32, output = Element::kF32;
  const void* a = nullptr;
  const void* b = nullptr;
  const void* c = nullptr;
  void* d = nullptr;
  std::uint64_t lda = 0, ldb = 0, ldc = 0, ldd = 0;
  bool transpose_a = false, transpose_b = false;
  double alpha = 1, beta = 0;
};
// D = alpha * sum + beta * C, rounded in the compute type, then to the output's. C is not read when
// beta is 0. False after a fault of the device, which then stays.
bool RunMatmul(const MatmulCall& call);

}  // namespace rharness

#endif  // RHARNESS_TESTS_GPU_EMULATOR_LIBRARIES_MATMUL_H_
