// Tests on pairs of scores.
#include "compare/items/decide_items.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "compare/stats/distributions.h"
#include "compare/stats/mcnemar.h"

namespace rharness {
namespace {

constexpr double kTestPower = 0.8;
constexpr double kNoSpread = 1e-12;

bool IsBinary(const std::vector<double>& values) {
  return std::ranges::all_of(values, [](double value) { return value == 0.0 || value == 1.0; });
}

double MeanOf(const std::vector<double>& values) {
  double sum = 0.0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

// The chances of both one-sided tests: "the difference is at or below -margin", "at or above it".
void Equivalence(double p_low, double p_high, MetricDecision* decision) {
  if (std::max(p_low, p_high) <= decision->alpha_equivalence) {
    decision->verdict = MetricVerdict::kWithin;
  }
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
  Equivalence(stats::NormalCdf(-stats::TangoScore(b, c, n, -decision->margin)),
              stats::NormalCdf(stats::TangoScore(b, c, n, decision->margin)), decision);
}

// The standard error of the mean difference, and its degrees of freedom.
void MeasureGraded(const ItemScores& scores, MetricDecision* decision) {
  const auto n = static_cast<double>(scores.a.size());
  std::map<std::string, double> sums;  // of deviations, by cluster
  for (std::size_t i = 0; i < scores.a.size(); ++i) {
    const std::string cluster = scores.clusters.empty() ? std::to_string(i) : scores.clusters[i];
    sums[cluster] += scores.b[i] - scores.a[i] - decision->difference;
  }
  const auto clusters = static_cast<double>(sums.size());
  double squares = 0.0;
  for (const auto& [cluster, sum] : sums) squares += sum * sum;
  decision->df = clusters - 1.0;
  if (clusters < 2.0) return;
  decision->standard_error = std::sqrt(squares * clusters / (clusters - 1.0)) / n;
}

void DecideGraded(const ItemScores& scores, MetricDecision* decision) {
  MeasureGraded(scores, decision);
  const double error = decision->standard_error;
  // Differences that are all the same have no spread but that of rounding.
  if (!(error > kNoSpread * std::fabs(decision->difference))) {
    decision->standard_error = 0.0;
    decision->reason = "no_variance_basis";
    return;
  }
  const auto upper = [&](double shift) {
    return stats::StudentTUpper((decision->difference + shift) / error, decision->df);
  };
  decision->t = decision->difference / error;
  decision->p_difference = stats::StudentTTwoSided(decision->t, decision->df);
  const double reach =
      error * stats::StudentTQuantile(1.0 - decision->alpha_equivalence, decision->df);
  decision->ci_low = decision->difference - reach;
  decision->ci_high = decision->difference + reach;
  if (decision->margin <= 0.0) return;
  Equivalence(upper(decision->margin), 1.0 - upper(-decision->margin), decision);
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
  decision.variance_basis = "items";
  if (scores.a.empty()) {
    decision.reason = "missing";
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
  decision.minimum_detectable = Detectable(decision);
  const bool shown = decision.standard_error > 0.0 && decision.p_difference <= scores.alpha_drift;
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
