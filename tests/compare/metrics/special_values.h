// Values that are no measurements.
#ifndef RHARNESS_TESTS_COMPARE_METRICS_SPECIAL_VALUES_H_
#define RHARNESS_TESTS_COMPARE_METRICS_SPECIAL_VALUES_H_

#include <limits>

namespace rharness {

inline constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace rharness

#endif  // RHARNESS_TESTS_COMPARE_METRICS_SPECIAL_VALUES_H_
