// Tests on pairs of scores.
#include "compare/items/decide_items.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>

#include "compare/stats/distributions.h"
#include "compare/stats/mcnemar.h"
#include "compare/stats/sign_flips.h"
#include "compare/stats/skewness.h"

namespace rharness {
namespace {

constexpr double kTestPower = 0.8;
constexpr double kNoSpread = 1e-12;
constexpr std::size_t kFewUnits = 50;

bool IsBinary(const std::vector<double>& values) {
  return std::ranges::all_of(values, [](double value) { return value == 0.0 || value == 1.0; });
}

double MeanOf(const std::vector<double>& values) {
  double sum = 0.0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

void DecideBinary(const ItemDecision& items, double n, MetricDecision* decision) {
  const auto b = static_cast<double>(items.lower.size());
  const auto c = static_cast<double>(items.higher.size());
  decision->standard_error = std::sqrt(b + c - (c - b) * (c - b) / n) / n;
  decision->p_difference = stats::McNemar(b, c).p_exact;
  const stats::Interval interval =
      stats::TangoInterval(b, c, n, 1.0 - 2.0 * decision->alpha_equivalence);
  decision->ci_low = interval.low;
  decision->ci_high = interval.high;
  decision->t = stats::TangoScore(b, c, n, 0.0);
  decision->df = n - 1.0;
  if (decision->margin <= 0.0 || decision->margin >= 1.0) return;
  // The chances of both one-sided tests: at or below -margin, at or above it.
  const double low = stats::NormalCdf(-stats::TangoScore(b, c, n, -decision->margin));
  const double high = stats::NormalCdf(stats::TangoScore(b, c, n, decision->margin));
  if (std::max(low, high) <= decision->alpha_equivalence) {
    decision->verdict = MetricVerdict::kWithin;
  }
}

// The sum of the differences of each cluster, or of each item, and the number of its items.
struct Unit {
  double sum = 0.0;
  double items = 0.0;
};

std::vector<Unit> UnitsOf(const ItemScores& scores) {
  std::vector<Unit> units;
  std::map<std::string_view, std::size_t> places;
  for (std::size_t i = 0; i < scores.a.size(); ++i) {
    const auto place = scores.clusters.empty()
                           ? units.size()
                           : places.try_emplace(scores.clusters[i], units.size()).first->second;
    if (place == units.size()) units.emplace_back();
    units[place].sum += scores.b[i] - scores.a[i];
    units[place].items += 1.0;
  }
  return units;
}

// The standard error of the mean difference, its degrees of freedom, and the skewness of the units.
double MeasureUnits(const std::vector<Unit>& units, double items, MetricDecision* decision) {
  const auto n = static_cast<double>(units.size());
  double squares = 0.0;
  double cubes = 0.0;
  for (const Unit& unit : units) {
    const double deviation = unit.sum - unit.items * decision->difference;
    squares += deviation * deviation;
    cubes += deviation * deviation * deviation;
  }
  decision->df = n - 1.0;
  if (n < 2.0) return 0.0;
  decision->standard_error = std::sqrt(squares * n / (n - 1.0)) / items;
  return squares > 0.0 ? cubes / n / std::pow(squares / n, 1.5) : 0.0;
}

// The interval that holds that by t and the one that is corrected for skewness.
void SetInterval(double skewness, MetricDecision* decision) {
  const double quantile = stats::StudentTQuantile(1.0 - decision->alpha_equivalence, decision->df);
  const double n = decision->df + 1.0;
  const double above = std::max(quantile, -stats::SkewedReach(-quantile, skewness, n));
  const double below = std::max(quantile, stats::SkewedReach(quantile, skewness, n));
  decision->ci_low = decision->difference - below * decision->standard_error;
  decision->ci_high = decision->difference + above * decision->standard_error;
}

void DecideGraded(const ItemScores& scores, MetricDecision* decision) {
  const std::vector<Unit> units = UnitsOf(scores);
  if (units.size() < kFewUnits) decision->alpha_equivalence /= 2.0;
  const double skewness = MeasureUnits(units, static_cast<double>(scores.a.size()), decision);
  std::vector<double> sums;
  sums.reserve(units.size());
  for (const Unit& unit : units) sums.push_back(unit.sum);
  decision->p_difference = stats::TestSignFlips(sums).p;
  // Differences that are all the same have no spread but that of rounding.
  if (!(decision->standard_error > kNoSpread * std::fabs(decision->difference))) {
    decision->standard_error = 0.0;
    decision->reason = "no_variance_basis";
    if (std::isnan(decision->p_difference)) decision->p_difference = 1.0;
    return;
  }
  decision->t = decision->difference / decision->standard_error;
  if (std::isnan(decision->p_difference)) {  // so many differ that t is as good
    decision->p_difference = stats::StudentTTwoSided(decision->t, decision->df);
  }
  SetInterval(skewness, decision);
  if (decision->margin > 0.0 && decision->ci_low > -decision->margin &&
      decision->ci_high < decision->margin) {
    decision->verdict = MetricVerdict::kWithin;
  }
}

// The shift that these pairs show with 80 % probability, in units of the standard error.
double Detectable(const MetricDecision& decision) {
  return decision.standard_error * (stats::NormalQuantile(1.0 - decision.alpha_drift / 2.0) +
                                    stats::NormalQuantile(kTestPower));
}

}  // namespace

ItemDecision DecideItems(const ItemScores& scores) {
  ItemDecision items;
  MetricDecision& decision = items.decision;
  decision.name = scores.name;
  decision.alpha_drift = scores.alpha_drift;
  decision.alpha_equivalence = scores.alpha_equivalence;
  decision.margin = scores.margin.value_or(0.0);
  decision.variance_basis = kItemsBasis;
  if (scores.a.empty()) {
    decision.reason = "unscored_items";
    return items;
  }
  for (std::size_t i = 0; i < scores.a.size(); ++i) {
    if (scores.b[i] > scores.a[i]) items.higher.push_back(i);
    if (scores.b[i] < scores.a[i]) items.lower.push_back(i);
  }
  decision.history = {MeanOf(scores.a)};
  decision.reruns = {MeanOf(scores.b)};
  decision.mean_history = decision.history.front();
  decision.difference = decision.reruns.front() - decision.mean_history;
  if (items.higher.empty() && items.lower.empty()) {
    decision.verdict = MetricVerdict::kWithin;
    decision.reason = "equal";
    return items;
  }
  const bool binary = IsBinary(scores.a) && IsBinary(scores.b) && scores.clusters.empty();
  if (binary) {
    DecideBinary(items, static_cast<double>(scores.a.size()), &decision);
  } else {
    DecideGraded(scores, &decision);
  }
  const double units = binary ? static_cast<double>(scores.a.size()) : decision.df + 1.0;
  if (decision.verdict == MetricVerdict::kWithin && units < static_cast<double>(kLeastUnits)) {
    decision.verdict = MetricVerdict::kInconclusive;
    decision.reason = "too_few_items";
  }
  decision.minimum_detectable = Detectable(decision);
  // A difference that is the same for all items has no spread, and may be too small to matter.
  const bool counts =
      decision.standard_error > 0.0 || std::fabs(decision.difference) >= decision.margin;
  const bool shown = counts && decision.p_difference <= scores.alpha_drift;
  if (decision.verdict != MetricVerdict::kWithin && shown) {
    decision.verdict = MetricVerdict::kDrifted;
  }
  if (decision.verdict == MetricVerdict::kInconclusive && decision.reason.empty() &&
      !scores.margin) {
    decision.reason = "no_margin";
  }
  return items;
}

}  // namespace rharness
