// cuBLAS: typed functions, the text of its errors, one handle.
#ifndef RHARNESS_PROBES_LIBRARY_CUBLAS_H_
#define RHARNESS_PROBES_LIBRARY_CUBLAS_H_

#include <cublas_v2.h>

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/result.h"
#include "probes/library/symbols.h"

#define RHARNESS_CUBLAS(X) \
  X(cublasGetStatusName)   \
  X(cublasGetStatusString) \
  X(cublasCreate)          \
  X(cublasDestroy)         \
  X(cublasGetVersion)      \
  X(cublasSetStream)       \
  X(cublasSetWorkspace)    \
  X(cublasSetMathMode)     \
  X(cublasSetAtomicsMode)  \
  X(cublasSsymv)

namespace rharness {

struct CublasFunctions {
  RHARNESS_CUBLAS(RHARNESS_DECLARE)
  // The header overloads it for an older type of its computation.
  cublasStatus_t (*cublasGemmEx)(cublasHandle_t, cublasOperation_t, cublasOperation_t, int m, int n,
                                 int k, const void* alpha, const void* a, cudaDataType, int lda,
                                 const void* b, cudaDataType, int ldb, const void* beta, void* c,
                                 cudaDataType, int ldc, cublasComputeType_t,
                                 cublasGemmAlgo_t) = nullptr;
};

class Cublas {
 public:
  // libcublas.so.13 or .12, with a handle in the current context. Errors: not_found, unsupported (a
  // function is missing), io, internal.
  static Result<std::shared_ptr<Cublas>> Open(const std::vector<std::filesystem::path>& paths);
  ~Cublas();
  Cublas(const Cublas&) = delete;
  Cublas& operator=(const Cublas&) = delete;

  Status Check(cublasStatus_t status, std::string_view call) const;
  cublasHandle_t handle() const { return handle_; }
  int version() const { return version_; }  // 130100 is 13.1.0
  const Library& library() const { return *library_; }

  CublasFunctions f;

 private:
  Cublas() = default;

  std::shared_ptr<Library> library_;
  cublasHandle_t handle_ = nullptr;
  int version_ = 0;
};

}  // namespace rharness

#endif  // RHARNESS_PROBES_LIBRARY_CUBLAS_H_
