// A BLAS as NumPy's wheels bring it: 64-bit integers, and names with a prefix and a suffix.
#include <cstdint>

namespace {

using Integer = std::int64_t;

template <class T>
void Gemm(Integer m, Integer n, Integer k, T alpha, const T* a, const T* b, T beta, T* c) {
  for (Integer i = 0; i < m; ++i) {
    for (Integer j = 0; j < n; ++j) {
      T sum = 0;
      for (Integer p = 0; p < k; ++p) sum += a[i + p * m] * b[p + j * k];
      c[i + j * m] = alpha * sum + beta * c[i + j * m];
    }
  }
}

}  // namespace

extern "C" {
float scipy_sdot_64_(const Integer* n, const float* x, const Integer*, const float* y,
                     const Integer*) {
  float result = 0;
  Gemm<float>(1, 1, *n, 1, x, y, 0, &result);
  return result;
}
double scipy_ddot_64_(const Integer* n, const double* x, const Integer*, const double* y,
                      const Integer*) {
  double result = 0;
  Gemm<double>(1, 1, *n, 1, x, y, 0, &result);
  return result;
}
void scipy_sgemv_64_(const char*, const Integer* m, const Integer* n, const float* alpha,
                     const float* a, const Integer*, const float* x, const Integer*,
                     const float* beta, float* y, const Integer*) {
  Gemm<float>(*m, 1, *n, *alpha, a, x, *beta, y);
}
void scipy_dgemv_64_(const char*, const Integer* m, const Integer* n, const double* alpha,
                     const double* a, const Integer*, const double* x, const Integer*,
                     const double* beta, double* y, const Integer*) {
  Gemm<double>(*m, 1, *n, *alpha, a, x, *beta, y);
}
void scipy_sgemm_64_(const char*, const char*, const Integer* m, const Integer* n, const Integer* k,
                     const float* alpha, const float* a, const Integer*, const float* b,
                     const Integer*, const float* beta, float* c, const Integer*) {
  Gemm<float>(*m, *n, *k, *alpha, a, b, *beta, c);
}
void scipy_dgemm_64_(const char*, const char*, const Integer* m, const Integer* n, const Integer* k,
                     const double* alpha, const double* a, const Integer*, const double* b,
                     const Integer*, const double* beta, double* c, const Integer*) {
  Gemm<double>(*m, *n, *k, *alpha, a, b, *beta, c);
}
void scipy_ssymv_64_(const char*, const Integer* n, const float* alpha, const float* a,
                     const Integer*, const float* x, const Integer*, const float* beta, float* y,
                     const Integer*) {
  Gemm<float>(*n, 1, *n, *alpha, a, x, *beta, y);
}
const char* scipy_openblas_get_corename64_() { return "Wheel"; }
}
