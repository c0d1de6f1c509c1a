// cuBLASLt: matrix products whose algorithm can be read and set.
//
// Role: typed functions, and one described product (LtProduct) that heuristics and runs share.
#ifndef RHARNESS_PROBES_LIBRARY_CUBLASLT_H_
#define RHARNESS_PROBES_LIBRARY_CUBLASLT_H_

#include <cublasLt.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/json.h"
#include "harness/base/result.h"
#include "probes/library/symbols.h"

#define RHARNESS_CUBLASLT(X)              \
  X(cublasLtGetStatusName)                \
  X(cublasLtGetStatusString)              \
  X(cublasLtGetVersion)                   \
  X(cublasLtCreate)                       \
  X(cublasLtDestroy)                      \
  X(cublasLtMatmulDescCreate)             \
  X(cublasLtMatmulDescDestroy)            \
  X(cublasLtMatmulDescSetAttribute)       \
  X(cublasLtMatrixLayoutCreate)           \
  X(cublasLtMatrixLayoutDestroy)          \
  X(cublasLtMatmulPreferenceCreate)       \
  X(cublasLtMatmulPreferenceDestroy)      \
  X(cublasLtMatmulPreferenceSetAttribute) \
  X(cublasLtMatmulAlgoGetHeuristic)       \
  X(cublasLtMatmulAlgoConfigGetAttribute) \
  X(cublasLtMatmulAlgoConfigSetAttribute) \
  X(cublasLtMatmulAlgoCapGetAttribute)    \
  X(cublasLtMatmulAlgoInit)               \
  X(cublasLtMatmulAlgoCheck)              \
  X(cublasLtMatmul)

namespace rharness {

struct CublasLtFunctions {
  RHARNESS_CUBLASLT(RHARNESS_DECLARE)
};

class CublasLt {
 public:
  // libcublasLt.so.13 or .12, with a handle in the current context. Errors as Cublas::Open.
  static Result<std::shared_ptr<CublasLt>> Open(const std::vector<std::filesystem::path>& paths);
  ~CublasLt();
  CublasLt(const CublasLt&) = delete;
  CublasLt& operator=(const CublasLt&) = delete;

  Status Check(cublasStatus_t status, std::string_view call) const;
  cublasLtHandle_t handle() const { return handle_; }
  std::uint64_t version() const { return f.cublasLtGetVersion(); }
  const Library& library() const { return *library_; }

  CublasLtFunctions f;

 private:
  CublasLt() = default;

  std::shared_ptr<Library> library_;
  cublasLtHandle_t handle_ = nullptr;
};

// D = A' B + beta C, column-major: A is k by m, B is k by n, C and D are m by n.
struct LtShape {
  int m = 0, n = 0, k = 0;
  cudaDataType input = CUDA_R_32F;
  cudaDataType output = CUDA_R_32F;
  cublasComputeType_t compute = CUBLAS_COMPUTE_32F;
  cudaDataType scale = CUDA_R_32F;
};

// What a heuristic may use. The alignment is that of every matrix's address.
struct LtLimits {
  std::size_t workspace_bytes = std::size_t{32} << 20;
  std::uint32_t alignment_bytes = 256;
};

class LtProduct {
 public:
  static Result<std::unique_ptr<LtProduct>> Create(std::shared_ptr<CublasLt> lt,
                                                   const LtShape& shape);
  ~LtProduct();
  LtProduct(const LtProduct&) = delete;
  LtProduct& operator=(const LtProduct&) = delete;

  // Best first, at most `limit`; empty when the library supports none.
  Result<std::vector<cublasLtMatmulHeuristicResult_t>> Heuristic(const LtLimits& limits,
                                                                 int limit) const;
  // The algorithm of a configuration as Describe gives it. Errors: not_found when the library says,
  // in a status that is documented for it, that it has it no longer, or not for this product or
  // device; internal for every other status.
  Result<cublasLtMatmulHeuristicResult_t> Configure(const Json& config) const;
  // The nine attributes of a configuration, by their lower-case names, and its numerical flags;
  // without those that an older library does not know. Errors: internal.
  Result<Json> Describe(const cublasLtMatmulAlgo_t& algo) const;
  // Device addresses; `beta` as the scale type's float. The stream is the default one.
  Status Run(const cublasLtMatmulAlgo_t& algo, const void* a, const void* b, const void* c, void* d,
             float beta, void* workspace, std::size_t workspace_bytes) const;

 private:
  LtProduct(std::shared_ptr<CublasLt> lt, const LtShape& shape)
      : lt_(std::move(lt)), shape_(shape) {}
  Status Start();

  std::shared_ptr<CublasLt> lt_;
  LtShape shape_;
  cublasLtMatmulDesc_t desc_ = nullptr;
  cublasLtMatrixLayout_t a_ = nullptr, b_ = nullptr, c_ = nullptr;
};

}  // namespace rharness

#endif  // RHARNESS_PROBES_LIBRARY_CUBLASLT_H_
