// The BLAS of the stack under test, through the loader, for the gemm, gemv, dot and symv probes.
// Column-major Fortran interface, with integers of 32 or 64 bits; also with the symbol names of
// OpenBLAS in NumPy's and SciPy's wheels.
#ifndef RHARNESS_PROBES_CPU_BLAS_H_
#define RHARNESS_PROBES_CPU_BLAS_H_

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "probes/cpu/matrix_product.h"
#include "probes/cpu/reveal_case.h"
#include "probes/library/loader.h"
#include "probes/probe.h"

namespace rharness {

class Blas {
 public:
  // libopenblas.so.0, libblas.so.3 or libmkl_rt.so.2, or a wheel's library in a searched folder.
  // Errors: not_found (none exists), io, unsupported (it has no BLAS symbols).
  static Result<Blas> Open(const ProbeContext& context);

  float Dot(std::span<const float> x, std::span<const float> y) const;
  double Dot(std::span<const double> x, std::span<const double> y) const;
  // y = A x, or A' x; A is m by n.
  void Gemv(bool transposed, int m, int n, const float* a, const float* x, float* y) const;
  void Gemv(bool transposed, int m, int n, const double* a, const double* x, double* y) const;
  // C = A B + beta C; A is m by k, B is k by n.
  void Gemm(const GemmShape& shape, const float* a, const float* b, float beta, float* c) const;
  void Gemm(const GemmShape& shape, const double* a, const double* b, double beta, double* c) const;
  void Symv(int n, const float* a, const float* x, float* y) const;  // lower triangle

  // OpenBLAS, MKL and BLIS. False if the library has no function for it.
  bool SetThreads(int threads) const;
  int Threads() const;  // 0: it does not say
  // {"core", "threads"}, as far as known: the library's kernels for this CPU. The library itself is
  // no choice.
  Json Choice() const;
  // Its soname, and the result of DescribeLibrary for the file.
  std::pair<std::string, Json> Description() const;

 private:
  // An OpenBLAS function of this name, in this library's spelling; nullptr: it has none.
  template <class Function>
  Function* OpenBlas(std::string_view name) const;

  std::shared_ptr<Library> library_;
  std::string_view prefix_;  // of its symbols: "scipy_"
  std::string_view suffix_;  // "64_" for integers of 64 bits
  void* sdot_ = nullptr;
  void* ddot_ = nullptr;
  void* sgemv_ = nullptr;
  void* dgemv_ = nullptr;
  void* sgemm_ = nullptr;
  void* dgemm_ = nullptr;
  void* ssymv_ = nullptr;
};

// Calls `run` with the current number of threads, and with one, which compares with every machine:
// `threads` is "" and then " threads 1". Once if the library cannot set them.
void WithThreads(const Blas& blas, const std::function<void(const std::string& threads)>& run);

// A probe over the BLAS: absent or failed when it cannot be opened.
ProbeResult WithBlas(const ProbeContext& context,
                     const std::function<void(const Blas&, ProbeResult*)>& run);

// C = A B of this shape, or C + A B, as a product to be revealed; `blas` outlives it.
template <class T>
MatrixProduct<T> GemmProduct(const Blas& blas, const GemmShape& shape, bool adds_to_old) {
  return {.shape = shape, .adds_to_old = adds_to_old, .run = [=, &blas](auto* a, auto* b, T* c) {
            blas.Gemm(shape, a, b, adds_to_old ? T(1) : T(0), c);
          }};
}

}  // namespace rharness

#endif  // RHARNESS_PROBES_CPU_BLAS_H_
