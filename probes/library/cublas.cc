// libcublas: found, bound, one handle.
#include "probes/library/cublas.h"

#include <fmt/format.h>

#include "probes/library/version_text.h"

namespace rharness {

Result<std::shared_ptr<Cublas>> Cublas::Open(const std::vector<std::filesystem::path>& paths) {
  std::shared_ptr<Cublas> blas(new Cublas());
  ASSIGN_OR_RETURN(blas->library_, Library::Open({"libcublas.so.13", "libcublas.so.12"}, paths));
  Symbols symbols(*blas->library_);
  CublasFunctions& f = blas->f;
  RHARNESS_CUBLAS(RHARNESS_BIND)
  symbols.Bind("cublasGemmEx", &f.cublasGemmEx);
  RETURN_IF_ERROR(symbols.Check());
  RETURN_IF_ERROR(blas->Check(f.cublasCreate(&blas->handle_), "cublasCreate"));
  RETURN_IF_ERROR(
      blas->Check(f.cublasGetVersion(blas->handle_, &blas->version_), "cublasGetVersion"));
  return blas;
}

Cublas::~Cublas() {
  if (handle_ != nullptr) f.cublasDestroy(handle_);
}

Status Cublas::Check(cublasStatus_t status, std::string_view call) const {
  if (status == CUBLAS_STATUS_SUCCESS) return {};
  return InternalError(fmt::format("{}: {}: {}", call, OrUnknown(f.cublasGetStatusName(status)),
                                   OrUnknown(f.cublasGetStatusString(status))),
                       library_->soname());
}

}  // namespace rharness
