// The running range of replicates and the leave-one-out factor.
#include "compare/curves/replicate_band.h"

#include <algorithm>
#include <cmath>

#include "compare/stats/intervals.h"
#include "compare/stats/moments.h"

namespace rharness {
namespace {

// The two largest and the two smallest of the curves' values at one step, and whose the extremes
// are: what the range is without any one of them. Curve 0 is a, curve i + 1 replicate i.
struct Extremes {
  double high = 0.0;
  double second_high = 0.0;
  double low = 0.0;
  double second_low = 0.0;
  std::size_t who_high = 0;
  std::size_t who_low = 0;

  double Range() const { return high - low; }
  double RangeWithout(std::size_t curve) const {
    return (curve == who_high ? second_high : high) - (curve == who_low ? second_low : low);
  }
};

Extremes ExtremesAt(const std::vector<double>& a,
                    const std::vector<std::vector<double>>& replicates, std::size_t step) {
  Extremes e;
  e.high = e.low = a[step];
  e.second_high = -HUGE_VAL;
  e.second_low = HUGE_VAL;
  for (std::size_t i = 0; i < replicates.size(); ++i) {
    const double value = replicates[i][step];
    if (value > e.high) {
      e.second_high = e.high;
      e.high = value;
      e.who_high = i + 1;
    } else if (value > e.second_high) {
      e.second_high = value;
    }
    if (value < e.low) {
      e.second_low = e.low;
      e.low = value;
      e.who_low = i + 1;
    } else if (value < e.second_low) {
      e.second_low = value;
    }
  }
  return e;
}

double FactorOfScores(std::vector<double> scores, double false_alarm, double* stated) {
  std::sort(scores.begin(), scores.end());
  const double n = static_cast<double>(scores.size());
  const double rank = std::ceil((1.0 - false_alarm) * (n + 1.0));
  if (rank <= n) {
    *stated = (n + 1.0 - rank) / (n + 1.0);
    return scores[static_cast<std::size_t>(std::max(rank, 1.0)) - 1];
  }
  *stated = 1.0 / (n + 1.0);
  for (double& score : scores) score = std::log(score);
  const stats::Moments moments = stats::ComputeMoments(scores);
  // One-sided, so twice the level of the two-sided factor.
  const double factor = stats::PredictionFactorAll(n, 1.0, 2.0 * false_alarm, n - 1.0);
  return std::exp(std::max(scores.back(), moments.mean + factor * std::sqrt(moments.Variance())));
}

}  // namespace

ReplicateBand BandOfReplicates(const std::vector<double>& a,
                               const std::vector<std::vector<double>>& replicates, double floor,
                               double false_alarm, const GrowthRecord& record) {
  const bool conformal = replicates.size() >= kConformalReplicates;
  std::vector<double> without(conformal ? replicates.size() : 0, floor);
  std::vector<double> scores(without.size(), 0.0);
  ReplicateBand band;
  band.limit.reserve(a.size());
  double range = floor;
  for (std::size_t step = 0; step < a.size(); ++step) {
    const Extremes extremes = ExtremesAt(a, replicates, step);
    range = std::max(range, extremes.Range());
    band.limit.push_back(range);
    for (std::size_t i = 0; i < without.size(); ++i) {
      without[i] = std::max(without[i], extremes.RangeWithout(i + 1));
      scores[i] = std::max(scores[i], std::fabs(replicates[i][step] - a[step]) / without[i]);
    }
  }
  band.factor = conformal
                    ? FactorOfScores(std::move(scores), false_alarm, &band.false_alarm)
                    : ReplicateFactor(record, static_cast<double>(replicates.size()), false_alarm);
  band.factor = std::max(1.0, band.factor);
  for (double& limit : band.limit) limit *= band.factor;
  return band;
}

}  // namespace rharness
