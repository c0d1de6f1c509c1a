// Splits of a series of counts; see rate_changes.h.
#include "compare/stats/rate_changes.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "compare/stats/distributions.h"

namespace rharness::stats {
namespace {

constexpr double kLikelihoodRange = 1.9207;  // half the 95 % quantile of chi-squared(1)

double LogChoose(double n, double k) {
  return LogGamma(n + 1.0) - LogGamma(k + 1.0) - LogGamma(n - k + 1.0);
}

// P(X >= x) of hypergeometric X: of `all` trials with `successes` in them, `drawn` are drawn. From
// x on terms fall once they are above the mean.
double UpperTail(double x, double drawn, double successes, double all) {
  double term = std::exp(LogChoose(successes, x) + LogChoose(all - successes, drawn - x) -
                         LogChoose(all, drawn));
  double sum = 0.0;
  for (const double most = std::min(drawn, successes); x <= most; x += 1.0) {
    sum += term;
    if (term < sum * 1e-17) break;
    term *= (successes - x) * (drawn - x) / ((x + 1.0) * (all - successes - drawn + x + 1.0));
  }
  return std::min(1.0, sum);
}

double LogLikelihood(double successes, double trials) {
  const auto part = [&](double count) {
    return count > 0.0 ? count * std::log(count / trials) : 0.0;
  };
  return part(successes) + part(trials - successes);
}

double RateIn(const CountOfTrials& one) {
  return static_cast<double>(one.successes) / static_cast<double>(one.trials);
}

CountOfTrials Sum(const std::vector<CountOfTrials>& series, std::size_t from, std::size_t to) {
  CountOfTrials sum;
  for (std::size_t i = from; i < to; ++i) {
    sum.successes += series[i].successes;
    sum.trials += series[i].trials;
  }
  return sum;
}

CountOfTrials Less(const CountOfTrials& all, const CountOfTrials& part) {
  return {all.successes - part.successes, all.trials - part.trials};
}

// Every split of [from, to) that has trials on both sides and begins at a place with some.
class Splits {
 public:
  Splits(const std::vector<CountOfTrials>& series, std::size_t from, std::size_t to)
      : from_(from), to_(to), all_(Sum(series, from, to)) {
    CountOfTrials left;
    for (std::size_t at = from; at < to; ++at) {
      if (series[at].trials > 0 && left.trials > 0) {
        places_.push_back(at);
        lefts_.push_back(left);
      }
      left.successes += series[at].successes;
      left.trials += series[at].trials;
    }
  }

  // The best one, even if it shows nothing; needs at least one.
  RateChange Best() const {
    std::vector<double> gains;
    for (const CountOfTrials& left : lefts_) {
      const CountOfTrials right = Less(all_, left);
      gains.push_back(
          LogLikelihood(static_cast<double>(left.successes), static_cast<double>(left.trials)) +
          LogLikelihood(static_cast<double>(right.successes), static_cast<double>(right.trials)));
    }
    double smallest = 1.0;
    for (const CountOfTrials& left : lefts_) {
      smallest = std::min(smallest, SameRateP(left, Less(all_, left)));
    }
    const std::size_t best =
        static_cast<std::size_t>(std::ranges::max_element(gains) - gains.begin());
    const auto likely = [&](double gain) { return gain >= gains[best] - kLikelihoodRange; };
    std::size_t first = best;
    std::size_t last = best;
    while (first > 0 && likely(gains[first - 1])) --first;
    while (last + 1 < gains.size() && likely(gains[last + 1])) ++last;
    return {.at = places_[best],
            .earliest = places_[first],
            .latest = places_[last],
            .from = from_,
            .to = to_,
            .before = RateIn(lefts_[best]),
            .after = RateIn(Less(all_, lefts_[best])),
            .p = std::min(1.0, smallest * static_cast<double>(places_.size()))};
  }
  bool empty() const { return places_.empty(); }

 private:
  std::size_t from_, to_;
  CountOfTrials all_;
  std::vector<std::size_t> places_;
  std::vector<CountOfTrials> lefts_;
};

void Split(const std::vector<CountOfTrials>& series, std::size_t from, std::size_t to, double alpha,
           std::vector<RateChange>* changes) {
  const Splits splits(series, from, to);
  if (splits.empty()) return;
  const RateChange best = splits.Best();
  if (!(best.p <= alpha)) return;
  Split(series, from, best.at, alpha, changes);
  changes->push_back(best);
  Split(series, best.at, to, alpha, changes);
}

}  // namespace

double SameRateP(const CountOfTrials& left, const CountOfTrials& right) {
  const double all = static_cast<double>(left.trials + right.trials);
  const double successes = static_cast<double>(left.successes + right.successes);
  const auto drawn = static_cast<double>(left.trials);
  const auto x = static_cast<double>(left.successes);
  // Counted from the side on which there are more than expected, so that its tail is the smaller.
  const bool above = x * all >= drawn * successes;
  const double tail =
      above ? UpperTail(x, drawn, successes, all)
            : UpperTail(successes - x, static_cast<double>(right.trials), successes, all);
  return std::min(1.0, 2.0 * tail);
}

std::vector<RateChange> FindRateChanges(const std::vector<CountOfTrials>& series, double alpha) {
  std::vector<RateChange> changes;
  Split(series, 0, series.size(), alpha, &changes);
  return changes;
}

}  // namespace rharness::stats
