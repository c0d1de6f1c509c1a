// Two one-sided tests: is a difference inside a margin?
#include "compare/stats/equivalence.h"

#include <cmath>
#include <limits>

#include "compare/stats/distributions.h"

namespace rharness::stats {

TostResult Tost(const MeanTest& test, double low, double high) {
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  if (!(test.standard_error > 0.0) || !(test.df > 0.0)) return {kNaN, kNaN, kNaN, kNaN, kNaN};
  TostResult result;
  result.t_lower = (test.difference - low) / test.standard_error;
  result.t_upper = (test.difference - high) / test.standard_error;
  result.p_lower = StudentTUpper(result.t_lower, test.df);
  result.p_upper = StudentTUpper(-result.t_upper, test.df);
  result.p = result.p_lower > result.p_upper ? result.p_lower : result.p_upper;
  return result;
}

bool IsInside(const Interval& interval, double low, double high) {
  return interval.low > low && interval.high < high;
}

bool IsOutside(const Interval& interval, double low, double high) {
  return interval.high <= low || interval.low >= high;
}

}  // namespace rharness::stats
