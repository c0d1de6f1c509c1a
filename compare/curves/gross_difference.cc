// Shares of |a|, and of the spread of a curve that crosses 0.
#include "compare/curves/gross_difference.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>
#include <vector>

#include "compare/curves/curve_message.h"
#include "compare/curves/difference_shape.h"
#include "compare/curves/usable_replicates.h"

namespace rharness {
namespace {

constexpr double kGross = 10.0;            // margins; times another's spread
constexpr double kSpreads = 2.0;           // that a mean may be off
constexpr std::size_t kFewestOfMeans = 5;  // values
constexpr std::size_t kFewestOfSpreads = 20;

struct GrossDifference {
  bool is = false;
  std::size_t first = 0;  // index of the first value that is off
  double statistic = 0.0;
  std::string why;
};

GrossDifference OfSize(const std::vector<double>& a, const std::vector<double>& b, double share) {
  GrossDifference gross;
  double largest = 0.0, furthest = 0.0;
  std::size_t off = 0, sized = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i] == 0.0) continue;  // of nothing there is no share
    ++sized;
    const double apart = std::fabs(b[i] - a[i]);
    largest = std::max(largest, std::fabs(a[i]));
    furthest = std::max(furthest, apart);
    if (apart <= share * std::fabs(a[i])) continue;
    if (off++ == 0) gross.first = i;
  }
  gross.is = off > 0 && 2 * off >= a.size() && furthest > share * largest;
  gross.statistic = largest > 0.0 ? furthest / (share * largest) : 1.0;
  gross.why =
      fmt::format("it is off by more than {} of A on {} of {} values, which no rounding does",
                  PercentText(share), off, sized);
  return gross;
}

// The wider of the spreads inside and outside of the window, so that a shift of the window does not
// hide itself.
double SpreadAround(const std::vector<double>& values, const WindowMeans& window) {
  const auto begin = values.begin() + static_cast<std::ptrdiff_t>(window.first);
  const auto end = begin + static_cast<std::ptrdiff_t>(window.length);
  std::vector<double> outside(values.begin(), begin);
  outside.insert(outside.end(), end, values.end());
  return std::max({SpreadOfValues({begin, end}), SpreadOfValues(std::move(outside)),
                   std::numeric_limits<double>::min()});
}

// The wider of both, because few values, or noise with a memory, show less than there is.
GrossDifference OfSpread(const std::vector<double>& a, const std::vector<double>& b,
                         double spread) {
  GrossDifference gross;
  if (a.size() < kFewestOfMeans) return gross;
  const double of_a = SpreadOfValues(a), of_b = SpreadOfValues(b);
  const bool dead = of_a > 0.0 && of_b == 0.0;
  const bool other =
      a.size() >= kFewestOfSpreads && of_a > 0.0 && (of_b > kGross * of_a || kGross * of_b < of_a);
  if (dead || other) {
    gross.is = true;
    gross.statistic = of_b > of_a ? of_b / of_a / kGross : of_a / std::max(of_b, of_a / kGross);
    while (gross.first + 1 < a.size() && a[gross.first] == b[gross.first]) ++gross.first;
    gross.why = dead ? "it hardly ever changes in B, and does in A"
                     : fmt::format("its values lie {:.3g} apart in B and {:.3g} in A", of_b, of_a);
    return gross;
  }
  DifferenceShape shape;
  for (std::size_t i = 0; i < a.size(); ++i) shape.difference.push_back(b[i] - a[i]);
  shape.size = shape.slope = shape.scatter = std::vector<double>(a.size(), spread);
  for (const WindowMeans& window : WindowsOf(shape)) {
    double share = std::fabs(window.difference) / (kSpreads * spread);
    if (share <= gross.statistic) continue;
    share = std::min(share, std::fabs(window.difference) / (kSpreads * SpreadAround(b, window)));
    if (share <= gross.statistic) continue;
    gross.statistic = share;
    gross.first = window.first;
    gross.why = fmt::format(
        "its mean over {} values is off by {:.3g}, and the values of A lie {:.3g} apart",
        window.length, std::fabs(window.difference), spread);
  }
  gross.is = gross.statistic > 1.0;
  return gross;
}

GrossDifference GrossOf(const Judged& judged, const std::vector<double>& a,
                        const std::vector<double>& b, double share) {
  return judged.spread > 0.0 ? OfSpread(a, b, judged.spread) : OfSize(a, b, share);
}

bool AnyApart(const std::vector<CurveSeries>& group, const Judged& judged, double share) {
  std::vector<std::vector<double>> runs;
  for (const CurveSeries& series : group) {
    std::vector<double> values = ValuesAt(series, judged.steps);
    if (values.empty()) continue;
    for (const std::vector<double>& other : runs) {
      if (GrossOf(judged, other, values, share).is) return true;
    }
    runs.push_back(std::move(values));
  }
  return false;
}

// If runs of one configuration are as far apart themselves, their band decides.
bool AreApartThemselves(const FurtherCurves& further, const Judged& judged, double share) {
  for (const CurveSeries& replicate : further.replicates) {
    const std::vector<double> values = ValuesAt(replicate, judged.steps);
    if (values.empty() || values == judged.b) continue;
    if (GrossOf(judged, judged.a, values, share).is) return true;
  }
  return std::ranges::any_of(further.rounding, [&](const std::vector<CurveSeries>& group) {
    return AnyApart(group, judged, share);
  });
}

}  // namespace

std::string GrosslyApart(const Judged& judged, const FurtherCurves& further,
                         const CurveRules& rules, CurveComparison* out) {
  if (out->kind != CurveKind::kLoss) return {};
  const double share = kGross * rules.margin;
  const GrossDifference gross = GrossOf(judged, judged.a, judged.b, share);
  if (!gross.is || AreApartThemselves(further, judged, share)) return {};
  out->state = CurveState::kBeyond;
  out->basis = "margin";
  out->nature = DifferenceNature::kShifted;
  out->first_beyond = judged.steps[gross.first];
  out->rule = judged.spread > 0.0
                  ? fmt::format(
                        "of a curve that crosses 0: the mean over a quarter or more is off "
                        "by two spreads of the values at most (in a {:.3g}), and b's "
                        "spread is not ten times a's or a tenth of it",
                        judged.spread)
                  : fmt::format("not off by {} of |a|, ten margins, on half of the values",
                                PercentText(share));
  std::vector<double> band;
  for (const double value : judged.a) {
    band.push_back(judged.spread > 0.0 ? kSpreads * judged.spread : share * std::fabs(value));
  }
  out->band = OnAlignedSteps(judged, band, out->steps.size());
  out->statistic = gross.statistic;
  return gross.why;
}

}  // namespace rharness
