// Local standard deviations of runs, and the factor that leaving each out gives.
#include "compare/curves/replicate_band.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "compare/stats/distributions.h"
#include "compare/stats/moments.h"

namespace rharness {
namespace {

constexpr std::size_t kNeighbours = 2;  // values to each side
// Of the rate, because the scores of real runs have heavier tails than the two models have.
constexpr double kCautious = 0.25;
constexpr double kTails = 4.0;  // degrees of freedom: of real runs no more count than that

// Sums over runs, from which a mean and a variance without any one of them follow. Values are taken
// from the first run's, so that a large level costs no digits.
class Sums {
 public:
  explicit Sums(const std::vector<std::vector<double>>& runs) : runs_(runs) {
    sum_.assign(runs.front().size(), 0.0);
    square_.assign(runs.front().size(), 0.0);
    for (const auto& run : runs) {
      for (std::size_t i = 0; i < run.size(); ++i) {
        const double value = run[i] - runs.front()[i];
        sum_[i] += value;
        square_[i] += value * value;
      }
    }
  }

  static constexpr std::size_t kNobody = static_cast<std::size_t>(-1);

  double CountWithout(std::size_t who) const {
    return static_cast<double>(runs_.size() - (who == kNobody ? 0 : 1));
  }
  double MeanWithout(std::size_t who, std::size_t i) const {
    return runs_.front()[i] + (sum_[i] - Own(who, i)) / CountWithout(who);
  }
  double VarianceWithout(std::size_t who, std::size_t i) const {
    const double n = CountWithout(who);
    const double own = Own(who, i);
    const double sum = sum_[i] - own;
    return std::max(0.0, (square_[i] - own * own - sum * sum / n) / (n - 1.0));
  }
  // Pooled over neighbours.
  std::vector<double> DeviationsWithout(std::size_t who, double floor) const {
    const std::size_t values = sum_.size();
    std::vector<double> running(values + 1, 0.0);
    for (std::size_t i = 0; i < values; ++i) running[i + 1] = running[i] + VarianceWithout(who, i);
    std::vector<double> deviations(values);
    for (std::size_t i = 0; i < values; ++i) {
      const std::size_t first = i < kNeighbours ? 0 : i - kNeighbours;
      const std::size_t last = std::min(values, i + kNeighbours + 1);
      // Not below the value's own share, which a difference of long sums may lose.
      const double mean = std::max((running[last] - running[first]), VarianceWithout(who, i)) /
                          static_cast<double>(last - first);
      deviations[i] = std::sqrt(std::max(mean, floor * floor));
    }
    return deviations;
  }
  const std::vector<double>& Run(std::size_t who) const { return runs_[who]; }

 private:
  double Own(std::size_t who, std::size_t i) const {
    return who == kNobody ? 0.0 : runs_[who][i] - runs_.front()[i];
  }
  const std::vector<std::vector<double>>& runs_;
  std::vector<double> sum_, square_;
};

double Room(double runs) { return std::sqrt(1.0 + 1.0 / runs); }

double ScoreWithout(const Sums& sums, std::size_t who, double floor) {
  const std::vector<double> deviations = sums.DeviationsWithout(who, floor);
  double score = 0.0;
  for (std::size_t i = 0; i < deviations.size(); ++i) {
    const double apart = std::fabs(sums.Run(who)[i] - sums.MeanWithout(who, i));
    score = std::max(score, apart / deviations[i]);
  }
  return score / Room(sums.CountWithout(who));
}

// `values`: of a curve; no more than so many of them are independent.
double FactorOf(std::vector<double> scores, std::size_t values, double rate) {
  const double n = static_cast<double>(scores.size());
  // By Bonferroni's inequality over all values, for normal runs: never too small, and a limit on
  // the effect of the logarithms of a few small scores.
  const double all = stats::StudentTQuantile(1.0 - rate / (2.0 * static_cast<double>(values)),
                                             std::min(n - 1.0, kTails));
  if (n < 3.0) return all;
  const double largest = *std::max_element(scores.begin(), scores.end());
  for (double& score : scores) score = std::log(std::max(score, 1e-300));
  const stats::Moments moments = stats::ComputeMoments(scores);
  const double limit = moments.mean + stats::StudentTQuantile(1.0 - rate, n - 1.0) *
                                          std::sqrt(moments.Variance() * (1.0 + 1.0 / n));
  return std::max(largest, std::min(std::exp(limit), all));
}

// The late means as a metric.
void SetLate(const std::vector<std::vector<double>>& runs, double floor, double rate,
             ReplicateBand* band) {
  const std::size_t values = runs.front().size();
  const std::size_t late = std::max<std::size_t>(1, values / 4);
  band->late_first = values - late;
  std::vector<double> means;
  for (const auto& run : runs) {
    means.push_back(std::accumulate(run.end() - static_cast<std::ptrdiff_t>(late), run.end(), 0.0) /
                    static_cast<double>(late));
  }
  const double lowest = floor / std::sqrt(static_cast<double>(late));
  const auto deviation = [&](const std::vector<double>& of) {
    return std::max(std::sqrt(stats::ComputeMoments(of).Variance()), lowest);
  };
  double needed = 0.0;
  for (std::size_t i = 0; means.size() > 2 && i < means.size(); ++i) {
    std::vector<double> others = means;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
    const double n = static_cast<double>(others.size());
    needed = std::max(needed, std::fabs(means[i] - stats::ComputeMoments(others).mean) /
                                  (deviation(others) * Room(n)));
  }
  const double n = static_cast<double>(means.size());
  band->late_middle = stats::ComputeMoments(means).mean;
  band->late_limit = deviation(means) * Room(n) *
                     std::max(needed, stats::StudentTQuantile(1.0 - rate / 2.0, n - 1.0));
}

}  // namespace

ReplicateBand BandOfRuns(const std::vector<std::vector<double>>& runs, double floor,
                         double false_alarm) {
  const Sums sums(runs);
  ReplicateBand band;
  std::vector<double> scores(runs.size(), 0.0);
  for (std::size_t i = 0; runs.size() > 2 && i < runs.size(); ++i) {
    scores[i] = ScoreWithout(sums, i, floor);
  }
  band.factor =
      FactorOf(std::move(scores), runs.front().size(), kCautious * kBandShare * false_alarm);
  const std::vector<double> deviations = sums.DeviationsWithout(Sums::kNobody, floor);
  const double room = Room(static_cast<double>(runs.size()));
  for (std::size_t i = 0; i < deviations.size(); ++i) {
    band.middle.push_back(sums.MeanWithout(Sums::kNobody, i));
    band.limit.push_back(band.factor * room * deviations[i]);
  }
  SetLate(runs, floor, kCautious * (1.0 - kBandShare) * false_alarm, &band);
  if (runs.size() > kFewestReplicates) band.false_alarm = false_alarm;
  return band;
}

}  // namespace rharness
