// The lanes of AVX2 (with F16C and LZCNT), and the vector kernels on them. Compiled for AVX2 alone.
#include <immintrin.h>

#include "compare/weights/element_formats.h"
#include "compare/weights/vector_kernel.h"

namespace rharness {
namespace {

struct I32 {
  __m256i v;
};
// Eight lanes of 64 bits are two registers.
struct I64 {
  __m256i low, high;
};
struct F64 {
  __m256d low, high;
};

struct Avx2Lanes {
  static __m256i At(const void* at) { return _mm256_loadu_si256(static_cast<const __m256i*>(at)); }
  static void Put(__m256i x, void* to) { _mm256_storeu_si256(static_cast<__m256i*>(to), x); }
  static __m128i Halves(const std::byte* at) {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
  }
  static I32 Load(F32Format, const std::byte* at) { return {At(at)}; }
  static I32 Load(BF16Format, const std::byte* at) { return {_mm256_cvtepi16_epi32(Halves(at))}; }
  static I32 Load(F16Format, const std::byte* at) { return {_mm256_cvtepi16_epi32(Halves(at))}; }
  static I64 Load(F64Format, const std::byte* at) { return {At(at), At(at + 32)}; }

  static F64 Widen(__m256 x) {
    return {_mm256_cvtps_pd(_mm256_castps256_ps128(x)),
            _mm256_cvtps_pd(_mm256_extractf128_ps(x, 1))};
  }
  static F64 Values(F32Format, I32 x) { return Widen(_mm256_castsi256_ps(x.v)); }
  static F64 Values(BF16Format, I32 x) { return Values(F32Format{}, {_mm256_slli_epi32(x.v, 16)}); }
  static F64 Values(F16Format, I32 x) {
    const __m128i packed =
        _mm_packs_epi32(_mm256_castsi256_si128(x.v), _mm256_extracti128_si256(x.v, 1));
    return Widen(_mm256_cvtph_ps(packed));
  }
  static F64 Values(F64Format, I64 x) {
    return {_mm256_castsi256_pd(x.low), _mm256_castsi256_pd(x.high)};
  }

  static I32 Spread(std::int32_t x) { return {_mm256_set1_epi32(x)}; }
  static I32 And(I32 x, I32 y) { return {_mm256_and_si256(x.v, y.v)}; }
  static I32 Or(I32 x, I32 y) { return {_mm256_or_si256(x.v, y.v)}; }
  static I32 Xor(I32 x, I32 y) { return {_mm256_xor_si256(x.v, y.v)}; }
  static I32 Minus(I32 x, I32 y) { return {_mm256_sub_epi32(x.v, y.v)}; }
  static I32 Lesser(I32 x, I32 y) { return {_mm256_min_epi32(x.v, y.v)}; }
  static I32 Greater(I32 x, I32 y) { return {_mm256_max_epi32(x.v, y.v)}; }
  static I32 GreaterUnsigned(I32 x, I32 y) { return {_mm256_max_epu32(x.v, y.v)}; }
  static I32 Negative(I32 x) { return {_mm256_srai_epi32(x.v, 31)}; }
  static unsigned Mask(__m256i x) {
    return static_cast<unsigned>(_mm256_movemask_ps(_mm256_castsi256_ps(x)));
  }
  static unsigned EqualMask(I32 x, I32 y) { return Mask(_mm256_cmpeq_epi32(x.v, y.v)); }
  static unsigned GreaterMask(I32 x, I32 y) { return Mask(_mm256_cmpgt_epi32(x.v, y.v)); }
  static void LeadingZeros(I32 x, std::uint32_t* counts) {
    std::uint32_t lanes[8];
    Put(x.v, lanes);
    for (int lane = 0; lane < 8; ++lane) counts[lane] = _lzcnt_u32(lanes[lane]);
  }
  static void Store(I32 x, std::int32_t* to) { Put(x.v, to); }
  static I32 Restore(const std::int32_t* from) { return {At(from)}; }

  static I64 Spread(std::int64_t x) { return {_mm256_set1_epi64x(x), _mm256_set1_epi64x(x)}; }
  static I64 And(I64 x, I64 y) {
    return {_mm256_and_si256(x.low, y.low), _mm256_and_si256(x.high, y.high)};
  }
  static I64 Or(I64 x, I64 y) {
    return {_mm256_or_si256(x.low, y.low), _mm256_or_si256(x.high, y.high)};
  }
  static I64 Xor(I64 x, I64 y) {
    return {_mm256_xor_si256(x.low, y.low), _mm256_xor_si256(x.high, y.high)};
  }
  static I64 Minus(I64 x, I64 y) {
    return {_mm256_sub_epi64(x.low, y.low), _mm256_sub_epi64(x.high, y.high)};
  }
  static I64 IsGreater(I64 x, I64 y) {
    return {_mm256_cmpgt_epi64(x.low, y.low), _mm256_cmpgt_epi64(x.high, y.high)};
  }
  static I64 Where(I64 condition, I64 then, I64 otherwise) {
    return {_mm256_blendv_epi8(otherwise.low, then.low, condition.low),
            _mm256_blendv_epi8(otherwise.high, then.high, condition.high)};
  }
  static I64 Lesser(I64 x, I64 y) { return Where(IsGreater(x, y), y, x); }
  static I64 Greater(I64 x, I64 y) { return Where(IsGreater(x, y), x, y); }
  static I64 GreaterUnsigned(I64 x, I64 y) {
    const I64 sign = Spread(std::int64_t{1} << 63);
    return Where(IsGreater(Xor(x, sign), Xor(y, sign)), x, y);
  }
  static I64 Negative(I64 x) { return IsGreater(Spread(std::int64_t{0}), x); }
  static unsigned Mask(I64 x) {
    return static_cast<unsigned>(_mm256_movemask_pd(_mm256_castsi256_pd(x.low)) |
                                 _mm256_movemask_pd(_mm256_castsi256_pd(x.high)) << 4);
  }
  static unsigned EqualMask(I64 x, I64 y) {
    return Mask(I64{_mm256_cmpeq_epi64(x.low, y.low), _mm256_cmpeq_epi64(x.high, y.high)});
  }
  static unsigned GreaterMask(I64 x, I64 y) { return Mask(IsGreater(x, y)); }
  static void LeadingZeros(I64 x, std::uint32_t* counts) {
    std::int64_t lanes[8];
    Store(x, lanes);
    for (int lane = 0; lane < 8; ++lane) {
      counts[lane] =
          static_cast<std::uint32_t>(_lzcnt_u64(static_cast<unsigned long long>(lanes[lane])));
    }
  }
  static void Store(I64 x, std::int64_t* to) {
    Put(x.low, to);
    Put(x.high, to + 4);
  }
  static I64 Restore(const std::int64_t* from) { return {At(from), At(from + 4)}; }

  static F64 Zeros() { return Spread(0.0); }
  static F64 Spread(double x) { return {_mm256_set1_pd(x), _mm256_set1_pd(x)}; }
  static F64 Plus(F64 x, F64 y) {
    return {_mm256_add_pd(x.low, y.low), _mm256_add_pd(x.high, y.high)};
  }
  static F64 Minus(F64 x, F64 y) {
    return {_mm256_sub_pd(x.low, y.low), _mm256_sub_pd(x.high, y.high)};
  }
  static F64 Times(F64 x, F64 y) {
    return {_mm256_mul_pd(x.low, y.low), _mm256_mul_pd(x.high, y.high)};
  }
  static F64 Over(F64 x, F64 y) {
    return {_mm256_div_pd(x.low, y.low), _mm256_div_pd(x.high, y.high)};
  }
  static F64 Magnitude(F64 x) {
    const __m256d sign = _mm256_set1_pd(-0.0);
    return {_mm256_andnot_pd(sign, x.low), _mm256_andnot_pd(sign, x.high)};
  }
  static F64 Larger(F64 x, F64 y) {
    return {_mm256_max_pd(x.low, y.low), _mm256_max_pd(x.high, y.high)};
  }
  static F64 WhereInfinite(F64 x, F64 then, F64 otherwise) {
    const __m256d infinity = _mm256_set1_pd(__builtin_inf());
    return {
        _mm256_blendv_pd(otherwise.low, then.low, _mm256_cmp_pd(x.low, infinity, _CMP_EQ_OQ)),
        _mm256_blendv_pd(otherwise.high, then.high, _mm256_cmp_pd(x.high, infinity, _CMP_EQ_OQ))};
  }
  static void Store(F64 x, double* to) {
    _mm256_storeu_pd(to, x.low);
    _mm256_storeu_pd(to + 4, x.high);
  }
};

}  // namespace

AddVectorsFunction Avx2KernelFor(DType dtype) {
  switch (dtype) {
    case DType::kF16:
      return VectorKernel<Avx2Lanes, F16Format>::Add;
    case DType::kBF16:
      return VectorKernel<Avx2Lanes, BF16Format>::Add;
    case DType::kF32:
      return VectorKernel<Avx2Lanes, F32Format>::Add;
    case DType::kF64:
      return VectorKernel<Avx2Lanes, F64Format>::Add;
    default:
      return nullptr;
  }
}

}  // namespace rharness
