// The error of a computed value against a reference of higher precision, in units in the last
// place.
//
// Role: for the probes of mathematical functions, on the CPU and on devices.
#ifndef RHARNESS_PROBES_ULP_ERROR_H_
#define RHARNESS_PROBES_ULP_ERROR_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace rharness {

// The type of the reference: the next that is more precise.
template <class T>
using Wider = std::conditional_t<std::is_same_v<T, float>, double, long double>;

// In units in the last place of the value nearest to the reference; infinite where one is a NaN or
// an infinity and the other is not.
template <class T>
double UlpError(T value, Wider<T> reference) {
  const T nearest = static_cast<T>(reference);
  if (std::isnan(value) && std::isnan(nearest)) return 0.0;
  if (value == nearest && std::isinf(nearest)) return 0.0;
  if (!std::isfinite(value) || !std::isfinite(nearest)) {
    return std::numeric_limits<double>::infinity();
  }
  const T size = std::fabs(nearest);
  const T unit = std::max(std::numeric_limits<T>::denorm_min(),
                          std::nextafter(size, std::numeric_limits<T>::infinity()) - size);
  return static_cast<double>(std::fabs(static_cast<Wider<T>>(value) - reference) /
                             static_cast<Wider<T>>(unit));
}

// Counts are whole: thousandths of a unit, at most 2^53 of them.
inline std::uint64_t MilliUlp(double error) {
  return static_cast<std::uint64_t>(std::fmin(std::ceil(error * 1000.0), 0x1p53));
}

}  // namespace rharness

#endif  // RHARNESS_PROBES_ULP_ERROR_H_
