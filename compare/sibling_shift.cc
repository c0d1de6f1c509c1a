// Outliers, then the mean of the others and its intervals.
#include "compare/sibling_shift.h"

#include <algorithm>
#include <cmath>

#include "compare/stats/distributions.h"
#include "compare/stats/moments.h"
#include "compare/stats/outliers.h"

namespace rharness {
namespace {

// For 1 % over all siblings: the limits of generalized ESD are too narrow in samples of a dozen,
// where 1 % would be 1.4.
constexpr double kApartAlpha = 0.005;
constexpr double kEquivalenceAlpha = 0.05;  // one side
constexpr double kDriftAlpha = 0.01;        // both sides
constexpr double kMostMargins = 3.0;        // whatever the others do

bool MoreThanAQuarter(std::ptrdiff_t count, std::size_t all) {
  return 4 * static_cast<std::size_t>(count) > all;
}

// Flags of some values, put among all of them.
std::vector<bool> FindApart(const std::vector<double>& shifts, const std::vector<bool>& beyond,
                            double margin) {
  std::vector<double> asked;
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < shifts.size(); ++i) {
    if (beyond[i]) continue;
    asked.push_back(shifts[i]);
    places.push_back(i);
  }
  std::vector<bool> apart = beyond;
  const std::vector<bool> outliers = stats::FindOutliers(asked, kApartAlpha);
  for (std::size_t i = 0; i < asked.size(); ++i) {
    if (outliers[i] && std::fabs(asked[i]) > margin) apart[places[i]] = true;
  }
  return apart;
}

}  // namespace

SiblingShift ShareShifts(const std::vector<double>& shifts, const std::vector<bool>& beyond,
                         double margin, std::size_t fewest) {
  SiblingShift together;
  together.broken = MoreThanAQuarter(std::ranges::count(beyond, true), shifts.size());
  together.apart =
      FindApart(shifts, together.broken ? std::vector<bool>(shifts.size(), false) : beyond, margin);
  std::vector<double> kept;
  for (std::size_t i = 0; i < shifts.size(); ++i) {
    if (!together.apart[i]) kept.push_back(shifts[i]);
  }
  if (kept.size() < std::max<std::size_t>(fewest, 3)) return together;
  if (MoreThanAQuarter(std::ranges::count(together.apart, true), shifts.size())) return together;
  const stats::Moments moments = stats::ComputeMoments(kept);
  together.curves = kept.size();
  together.mean = moments.mean;
  together.deviation = std::sqrt(moments.Variance());
  const double error = together.deviation / std::sqrt(moments.count);
  const double df = moments.count - 1.0;
  const double half = stats::StudentTQuantile(1.0 - kEquivalenceAlpha, df) * error;
  const double surely = stats::StudentTQuantile(1.0 - kDriftAlpha / 2.0, df) * error;
  together.low = together.mean - half;
  together.high = together.mean + half;
  together.surely_low = together.mean - surely;
  together.surely_high = together.mean + surely;
  return together;
}

SiblingStanding StandingAmongSiblings(std::size_t curve, const std::vector<double>& shifts,
                                      const SiblingShift& together, double margin) {
  if (together.curves == 0) return SiblingStanding::kOpen;
  if (together.apart[curve]) return SiblingStanding::kApart;
  const double shift = shifts[curve];
  if (together.surely_low > margin || together.surely_high < -margin) {
    return shift * together.mean > 0.0 ? SiblingStanding::kWith : SiblingStanding::kOpen;
  }
  if (together.broken) return SiblingStanding::kOpen;
  if (!(together.low > -margin && together.high < margin)) return SiblingStanding::kOpen;
  const double count = static_cast<double>(together.curves);
  const double allowed = stats::StudentTQuantile(1.0 - kApartAlpha / (2.0 * count), count - 1.0) *
                         together.deviation * std::sqrt(1.0 + 1.0 / count);
  const bool as_theirs = std::fabs(shift - together.mean) <= allowed;
  const bool near =
      std::fabs(shift) < margin || (as_theirs && std::fabs(shift) < kMostMargins * margin);
  return near ? SiblingStanding::kAmong : SiblingStanding::kOpen;
}

}  // namespace rharness
