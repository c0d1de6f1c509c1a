// The addition of a tensor core in whole numbers.
#include "tests/gpu/emulator/tensor_core.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <vector>

#include "tests/gpu/emulator/short_floats.h"

namespace rharness {
namespace {

// value = significand * 2^(exponent - 52); the exponent may be higher than the value's own, since
// products are not normalised.
struct Aligned {
  std::int64_t significand = 0;
  int exponent = 0;
};

int LowestExponent(PtxType type) {
  switch (type) {
    case PtxType::kF16:
    case PtxType::kE5m2:
      return -14;
    case PtxType::kE4m3:
      return -6;
    default:
      return -126;
  }
}

Aligned AlignedAt(double value, int exponent) {
  return {static_cast<std::int64_t>(std::ldexp(value, 52 - exponent)), exponent};
}

Aligned ProductOf(double a, double b, int lowest) {
  // Both have at most 24 bits: the product of the whole numbers is exact.
  const int x = std::max(std::ilogb(a), lowest), y = std::max(std::ilogb(b), lowest);
  return AlignedAt(a * b, x + y);
}

// What is below the last place is dropped, of negative numbers too.
std::int64_t Cut(std::int64_t value, int places) {
  if (places <= 0) return value;
  const std::int64_t kept = places >= 63 ? 0 : std::llabs(value) >> places;
  return value < 0 ? -kept : kept;
}

float Rounded(std::int64_t sum, int last_place, int places) {
  if (sum == 0) return 0;
  const auto magnitude = static_cast<std::uint64_t>(std::llabs(sum));
  const int leading = 63 - std::countl_zero(magnitude) + last_place;
  const int lowest_kept = std::max(leading, -126) - places;
  const std::int64_t kept = Cut(sum, lowest_kept - last_place);
  const int place = std::max(lowest_kept, last_place);
  return static_cast<float>(std::ldexp(static_cast<double>(kept), place));
}

float AddGroup(const TensorAddition& addition, const std::vector<Aligned>& terms) {
  int top = addition.lowest;
  for (const Aligned& term : terms) {
    if (term.significand != 0) top = std::max(top, term.exponent);
  }
  std::int64_t sum = 0;
  for (const Aligned& term : terms) {
    sum += Cut(term.significand, 52 - addition.places + (top - term.exponent));
  }
  return Rounded(sum, top - addition.places, addition.result_places);
}

}  // namespace

TensorAddition TensorAdditionOf(PtxType type, int k, bool warpgroup, int compute) {
  const bool hopper = compute >= 90;
  if (type == PtxType::kE4m3 || type == PtxType::kE5m2) {
    if (hopper && !warpgroup) return {16, 25, 23, -133};
    return hopper ? TensorAddition{32, 13, 13, -133} : TensorAddition{16, 13, 13, -132};
  }
  if (hopper) return {k, 25, 23, -133};
  return {type == PtxType::kTf32 ? 4 : 8, 24, 23, -132};
}

double TensorElement(PtxType type, std::uint32_t bits) {
  if (type == PtxType::kTf32) {
    return static_cast<double>(std::bit_cast<float>(bits & ~0x1fffU));
  }
  return DecodeShort(ShortFormatOf(type), bits);
}

float AddInTensorCore(const TensorAddition& addition, PtxType type, std::span<const double> a,
                      std::span<const double> b, float c) {
  const int lowest = LowestExponent(type);
  float sum = c;
  for (std::size_t begin = 0; begin < a.size(); begin += static_cast<std::size_t>(addition.group)) {
    const std::size_t end = std::min(a.size(), begin + static_cast<std::size_t>(addition.group));
    std::vector<Aligned> terms;
    double plain = static_cast<double>(sum);
    if (sum != 0 && std::isfinite(sum)) {
      terms.push_back(AlignedAt(plain, std::max(std::ilogb(sum), -126)));
    }
    for (std::size_t k = begin; k < end; ++k) {
      const double product = a[k] * b[k];
      plain += product;
      if (product != 0 && std::isfinite(product)) {
        terms.push_back(ProductOf(a[k], b[k], lowest));
      }
    }
    sum = std::isfinite(plain) ? AddGroup(addition, terms) : static_cast<float>(plain);
  }
  return sum;
}

}  // namespace rharness
