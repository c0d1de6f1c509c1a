// The lanes of AVX-512 (F, DQ, VL, CD), and the vector kernels on them. Compiled for AVX-512 alone.
#include <immintrin.h>

#include "compare/weights/element_formats.h"
#include "compare/weights/vector_kernel.h"

namespace rharness {
namespace {

struct I32 {
  __m256i v;
};
struct I64 {
  __m512i v;
};
struct F64 {
  __m512d v;
};

struct Avx512Lanes {
  static __m128i Halves(const std::byte* at) {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
  }
  static I32 Load(F32Format, const std::byte* at) {
    return {_mm256_loadu_si256(reinterpret_cast<const __m256i*>(at))};
  }
  static I32 Load(BF16Format, const std::byte* at) { return {_mm256_cvtepi16_epi32(Halves(at))}; }
  static I32 Load(F16Format, const std::byte* at) { return {_mm256_cvtepi16_epi32(Halves(at))}; }
  static I64 Load(F64Format, const std::byte* at) { return {_mm512_loadu_si512(at)}; }

  static F64 Values(F32Format, I32 x) { return {_mm512_cvtps_pd(_mm256_castsi256_ps(x.v))}; }
  static F64 Values(BF16Format, I32 x) { return Values(F32Format{}, {_mm256_slli_epi32(x.v, 16)}); }
  static F64 Values(F16Format, I32 x) {
    return {_mm512_cvtps_pd(_mm256_cvtph_ps(_mm256_cvtepi32_epi16(x.v)))};
  }
  static F64 Values(F64Format, I64 x) { return {_mm512_castsi512_pd(x.v)}; }

  static I32 Spread(std::int32_t x) { return {_mm256_set1_epi32(x)}; }
  static I32 And(I32 x, I32 y) { return {_mm256_and_si256(x.v, y.v)}; }
  static I32 Or(I32 x, I32 y) { return {_mm256_or_si256(x.v, y.v)}; }
  static I32 Xor(I32 x, I32 y) { return {_mm256_xor_si256(x.v, y.v)}; }
  static I32 Minus(I32 x, I32 y) { return {_mm256_sub_epi32(x.v, y.v)}; }
  static I32 Lesser(I32 x, I32 y) { return {_mm256_min_epi32(x.v, y.v)}; }
  static I32 Greater(I32 x, I32 y) { return {_mm256_max_epi32(x.v, y.v)}; }
  static I32 GreaterUnsigned(I32 x, I32 y) { return {_mm256_max_epu32(x.v, y.v)}; }
  static I32 Negative(I32 x) { return {_mm256_srai_epi32(x.v, 31)}; }
  static unsigned EqualMask(I32 x, I32 y) { return _mm256_cmpeq_epi32_mask(x.v, y.v); }
  static unsigned GreaterMask(I32 x, I32 y) { return _mm256_cmpgt_epi32_mask(x.v, y.v); }
  static void LeadingZeros(I32 x, std::uint32_t* counts) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(counts), _mm256_lzcnt_epi32(x.v));
  }
  static void Store(I32 x, std::int32_t* to) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), x.v);
  }
  static I32 Restore(const std::int32_t* from) {
    return {_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from))};
  }

  static I64 Spread(std::int64_t x) { return {_mm512_set1_epi64(x)}; }
  static I64 And(I64 x, I64 y) { return {_mm512_and_si512(x.v, y.v)}; }
  static I64 Or(I64 x, I64 y) { return {_mm512_or_si512(x.v, y.v)}; }
  static I64 Xor(I64 x, I64 y) { return {_mm512_xor_si512(x.v, y.v)}; }
  static I64 Minus(I64 x, I64 y) { return {_mm512_sub_epi64(x.v, y.v)}; }
  static I64 Lesser(I64 x, I64 y) { return {_mm512_min_epi64(x.v, y.v)}; }
  static I64 Greater(I64 x, I64 y) { return {_mm512_max_epi64(x.v, y.v)}; }
  static I64 GreaterUnsigned(I64 x, I64 y) { return {_mm512_max_epu64(x.v, y.v)}; }
  static I64 Negative(I64 x) { return {_mm512_srai_epi64(x.v, 63)}; }
  static unsigned EqualMask(I64 x, I64 y) { return _mm512_cmpeq_epi64_mask(x.v, y.v); }
  static unsigned GreaterMask(I64 x, I64 y) { return _mm512_cmpgt_epi64_mask(x.v, y.v); }
  static void LeadingZeros(I64 x, std::uint32_t* counts) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(counts),
                        _mm512_cvtepi64_epi32(_mm512_lzcnt_epi64(x.v)));
  }
  static void Store(I64 x, std::int64_t* to) { _mm512_storeu_si512(to, x.v); }
  static I64 Restore(const std::int64_t* from) { return {_mm512_loadu_si512(from)}; }

  static F64 Zeros() { return {_mm512_setzero_pd()}; }
  static F64 Spread(double x) { return {_mm512_set1_pd(x)}; }
  static F64 Plus(F64 x, F64 y) { return {_mm512_add_pd(x.v, y.v)}; }
  static F64 Minus(F64 x, F64 y) { return {_mm512_sub_pd(x.v, y.v)}; }
  static F64 Times(F64 x, F64 y) { return {_mm512_mul_pd(x.v, y.v)}; }
  static F64 Over(F64 x, F64 y) { return {_mm512_div_pd(x.v, y.v)}; }
  static F64 Magnitude(F64 x) { return {_mm512_andnot_pd(_mm512_set1_pd(-0.0), x.v)}; }
  static F64 Larger(F64 x, F64 y) { return {_mm512_max_pd(x.v, y.v)}; }
  static F64 WhereInfinite(F64 x, F64 then, F64 otherwise) {
    const __m512d infinity = _mm512_set1_pd(__builtin_inf());
    return {
        _mm512_mask_blend_pd(_mm512_cmp_pd_mask(x.v, infinity, _CMP_EQ_OQ), otherwise.v, then.v)};
  }
  static void Store(F64 x, double* to) { _mm512_storeu_pd(to, x.v); }
};

}  // namespace

AddVectorsFunction Avx512KernelFor(DType dtype) {
  switch (dtype) {
    case DType::kF16:
      return VectorKernel<Avx512Lanes, F16Format>::Add;
    case DType::kBF16:
      return VectorKernel<Avx512Lanes, BF16Format>::Add;
    case DType::kF32:
      return VectorKernel<Avx512Lanes, F32Format>::Add;
    case DType::kF64:
      return VectorKernel<Avx512Lanes, F64Format>::Add;
    default:
      return nullptr;
  }
}

}  // namespace rharness
