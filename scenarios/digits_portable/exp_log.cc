// exp and log from exactly specified operations; see the header for the method and its accuracy.
#include "scenarios/digits_portable/exp_log.h"

#include <array>
#include <bit>
#include <cfloat>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace rharness::scenarios {
namespace {

static_assert(FLT_EVAL_METHOD == 0, "intermediate results must have the precision of their type");
static_assert(std::numeric_limits<double>::is_iec559);

// ln(2) in two parts. The first has 32 bits, so that its product with an exponent is exact.
constexpr double kLn2High = 0x1.62e42feep-1;
constexpr double kLn2Low = 0x1.a39ef35793c76p-33;
constexpr double kInverseLn2 = 0x1.71547652b82fep+0;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// 1/2!, 1/3!, ..., 1/14!; the factorials are exact.
constexpr std::array<double, 13> kInverseFactorials = {
    1.0 / 2,         1.0 / 6,          1.0 / 24,         1.0 / 120,     1.0 / 720,
    1.0 / 5040,      1.0 / 40320,      1.0 / 362880,     1.0 / 3628800, 1.0 / 39916800,
    1.0 / 479001600, 1.0 / 6227020800, 1.0 / 87178291200};

// 1/3, 1/5, ..., 1/23. The first term left out is below 2^-60 of the sum.
constexpr std::array<double, 11> kInverseOdds = {1.0 / 3,  1.0 / 5,  1.0 / 7,  1.0 / 9,
                                                 1.0 / 11, 1.0 / 13, 1.0 / 15, 1.0 / 17,
                                                 1.0 / 19, 1.0 / 21, 1.0 / 23};

template <std::size_t N>
double Horner(const std::array<double, N>& coefficients, double x) {
  double sum = coefficients[N - 1];
  for (std::size_t i = N - 1; i-- > 0;) sum = sum * x + coefficients[i];
  return sum;
}

// 2^k for a normal result, -1022 <= k <= 1023.
double PowerOfTwo(int k) {
  return std::bit_cast<double>(static_cast<std::uint64_t>(k + 1023) << 52);
}

}  // namespace

double PortableExp(double x) {
  if (x != x) return x;
  if (x > 709.79) return kInfinity;
  if (x < -745.14) return 0;
  const int k = static_cast<int>(x * kInverseLn2 + (x < 0 ? -0.5 : 0.5));
  const double r = (x - k * kLn2High) - k * kLn2Low;
  const double value = 1 + (r + r * r * Horner(kInverseFactorials, r));
  // Two factors, because 2^k alone may be no normal number; only the second product can round.
  return value * PowerOfTwo(k / 2) * PowerOfTwo(k - k / 2);
}

double PortableLog(double x) {
  if (x != x || x == kInfinity) return x;
  if (x == 0) return -kInfinity;
  if (x < 0) return std::numeric_limits<double>::quiet_NaN();
  int k = 0;
  if (x < std::numeric_limits<double>::min()) {
    x *= 0x1p54;
    k = -54;
  }
  const auto bits = std::bit_cast<std::uint64_t>(x);
  k += static_cast<int>(bits >> 52) - 1023;
  double m = std::bit_cast<double>((bits & 0x000FFFFFFFFFFFFFULL) | 0x3FF0000000000000ULL);
  if (m > 0x1.6a09e667f3bcdp+0) {
    m *= 0.5;
    ++k;
  }
  const double f = m - 1;
  const double s = f / (2 + f);
  const double z = s * s;
  const double r = 2 * z * Horner(kInverseOdds, z);
  return k * kLn2High - ((s * (f - r) - k * kLn2Low) - f);
}

}  // namespace rharness::scenarios
