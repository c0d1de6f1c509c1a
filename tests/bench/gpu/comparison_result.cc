// From results to differences, and differences held against each other.
#include "tests/bench/gpu/comparison_result.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace rharness::bench {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kSumTolerance = 1e-10;

bool Same(double found, double expected) {
  return found == expected || (std::isnan(found) && std::isnan(expected));
}

bool Close(double found, double expected, double scale) {
  return Same(found, expected) || std::abs(found - expected) <= kSumTolerance * scale;
}

}  // namespace

TensorDifference Describe(const PairResult& result, DType dtype, std::uint64_t elements) {
  const PairStatistics& found = result.statistics;
  TensorDifference difference;
  difference.dtype = dtype;
  difference.elements = elements;
  difference.differing = found.differing;
  difference.first_index = found.differing > 0 ? found.first_index : 0;
  difference.max_ulp = found.max_ulp;
  const bool measured = found.differing == 0 || found.max_ulp > 0;
  difference.max_abs = measured ? found.max_abs : kNan;
  difference.max_rel = measured ? found.max_rel : kNan;
  std::copy_n(result.histogram, kUlpBins, difference.ulp_histogram.begin());
  difference.non_finite_changes = found.non_finite_changes;
  difference.nan_changes = found.nan_changes;
  difference.zero_sign_changes = found.zero_sign_changes;
  difference.norm_a = std::sqrt(found.a_squared);
  difference.norm_b = std::sqrt(found.b_squared);
  difference.norm_difference = std::sqrt(found.difference_squared);
  const double cosine = found.product / difference.norm_a / difference.norm_b;
  difference.cosine = std::isnan(cosine) ? kNan : std::clamp(cosine, -1.0, 1.0);
  return difference;
}

std::string Disagreement(const TensorDifference& found, const TensorDifference& expected) {
  const auto says = [](const char* name, auto of_device, auto of_host) {
    return fmt::format("{} is {} on the device and {} on the host", name, of_device, of_host);
  };
  const auto exact = [&](const char* name, auto member) {
    const auto one = found.*member, other = expected.*member;
    return Same(static_cast<double>(one), static_cast<double>(other)) ? "" : says(name, one, other);
  };
  const auto close = [&](const char* name, auto member, double scale) {
    const double one = found.*member, other = expected.*member;
    return Close(one, other, scale) ? "" : says(name, one, other);
  };
  using D = TensorDifference;
  for (const std::string& one :
       {exact("differing", &D::differing), exact("first_index", &D::first_index),
        exact("max_abs", &D::max_abs), exact("max_rel", &D::max_rel), exact("max_ulp", &D::max_ulp),
        exact("non_finite_changes", &D::non_finite_changes), exact("nan_changes", &D::nan_changes),
        exact("zero_sign_changes", &D::zero_sign_changes),
        close("norm_a", &D::norm_a, expected.norm_a), close("norm_b", &D::norm_b, expected.norm_b),
        close("norm_difference", &D::norm_difference, expected.norm_difference),
        close("cosine", &D::cosine, 1.0)}) {
    if (!one.empty()) return one;
  }
  for (std::size_t bin = 0; bin < expected.ulp_histogram.size(); ++bin) {
    if (found.ulp_histogram[bin] == expected.ulp_histogram[bin]) continue;
    return says(fmt::format("ulp_histogram[{}]", bin).c_str(), found.ulp_histogram[bin],
                expected.ulp_histogram[bin]);
  }
  return {};
}

std::string Disagreement(const BitStatistics& found, const TensorDifference& expected) {
  const std::uint64_t first = found.differing > 0 ? found.first_index : 0;
  if (found.differing == expected.differing && first == expected.first_index) return {};
  return fmt::format("{} differ from {} on by the device, {} from {} on by the host",
                     found.differing, first, expected.differing, expected.first_index);
}

}  // namespace rharness::bench
