// Ratio estimates by sequence, and their limits.
#include "compare/tokens/decide_kl.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "compare/stats/distributions.h"
#include "compare/stats/skewness.h"

namespace rharness {
namespace {

constexpr double kSeries = 1e-3;     // below, the difference of exp and its argument loses digits
constexpr double kNoSpread = 1e-12;  // the spread of rounding
constexpr double kTestPower = 0.8;
constexpr double kLeastShare = 0.03;  // of the estimate, see LognormalLimit
constexpr double kFewSequences = 50.0;
constexpr double kMostMore = 1e6;
constexpr double kNotKnown = std::numeric_limits<double>::quiet_NaN();

// A ratio of sums with its standard error, and the skewness of what deviates from it.
struct Ratio {
  double value = 0.0;
  double standard_error = 0.0;
  double skewness = 0.0;
  double n = 0.0;
};

Ratio RatioOf(const std::vector<KlUnit>& units, double KlUnit::*sum) {
  Ratio ratio{.n = static_cast<double>(units.size())};
  double tokens = 0.0;
  double total = 0.0;
  for (const KlUnit& unit : units) {
    total += unit.*sum;
    tokens += unit.tokens;
  }
  ratio.value = total / tokens;
  double squares = 0.0;
  double cubes = 0.0;
  for (const KlUnit& unit : units) {
    const double deviation = unit.*sum - unit.tokens * ratio.value;
    squares += deviation * deviation;
    cubes += deviation * deviation * deviation;
  }
  if (units.size() < 2) return ratio;
  ratio.standard_error = std::sqrt(squares * ratio.n / (ratio.n - 1.0)) / tokens;
  if (squares > 0.0) ratio.skewness = cubes / ratio.n / std::pow(squares / ratio.n, 1.5);
  return ratio;
}

// Cox's limit of a lognormal mean: the logarithms of the sequences' divergences, weighted by their
// tokens, so that a divergence which goes with the length does not bias it. Of those above zero,
// times their share. Small ones are raised, which can only raise the limit: how far they lie below
// says nothing of the tail above.
double LognormalLimit(const std::vector<KlUnit>& units, double estimate, double alpha) {
  double all = 0.0;
  double tokens = 0.0;
  double squared = 0.0;
  for (const KlUnit& unit : units) {
    all += unit.tokens;
    if (!(unit.k3 > 0.0)) continue;
    tokens += unit.tokens;
    squared += unit.tokens * unit.tokens;
  }
  const double n = tokens * tokens / squared;  // sequences of equal length that weigh as much
  if (!(n > 1.0)) return std::numeric_limits<double>::infinity();
  const double least = kLeastShare * estimate * all / tokens;
  const auto log_of = [&](const KlUnit& unit) {
    return std::log(std::max(unit.k3 / unit.tokens, least));
  };
  double mean = 0.0;
  for (const KlUnit& unit : units) {
    if (unit.k3 > 0.0) mean += unit.tokens / tokens * log_of(unit);
  }
  double spread = 0.0;
  for (const KlUnit& unit : units) {
    if (!(unit.k3 > 0.0)) continue;
    spread += unit.tokens / tokens * (log_of(unit) - mean) * (log_of(unit) - mean);
  }
  const double variance = spread * n / (n - 1.0);
  const double df = std::max(n - 1.0, 1.0);
  const double reach = stats::StudentTQuantile(1.0 - alpha, df) *
                       std::sqrt(variance / n + variance * variance / (2.0 * df));
  return std::exp(mean + variance / 2.0 + reach) * tokens / all;
}

double UpperLimit(const Ratio& ratio, double alpha) {
  const double quantile = stats::StudentTQuantile(1.0 - alpha, ratio.n - 1.0);
  const double corrected = -stats::SkewedReach(-quantile, ratio.skewness, ratio.n);
  return ratio.value + std::max(quantile, corrected) * ratio.standard_error;
}

double LowerLimit(const Ratio& ratio, double alpha) {
  if (ratio.n < kFewSequences) alpha /= 2.0;
  const double quantile = stats::StudentTQuantile(1.0 - alpha, ratio.n - 1.0);
  return ratio.value - quantile * ratio.standard_error;
}

// Sequences beyond these that would decide with 80 % probability, were the estimates right.
int MoreSequences(const Ratio& ratio, const MetricDecision& decision) {
  const double gap = std::fabs(decision.margin - ratio.value);
  const bool within = ratio.value < decision.margin;
  const double rate = within ? decision.alpha_equivalence / 2.0 : decision.alpha_drift;
  const double reach = stats::NormalQuantile(1.0 - rate) + stats::NormalQuantile(kTestPower);
  const double needed = ratio.n * std::pow(reach * ratio.standard_error / gap, 2.0);
  const double least = static_cast<double>(kLeastSequences);
  const double more = std::ceil(std::max(needed, within ? least : 2.0) - ratio.n);
  return more < kMostMore ? static_cast<int>(std::max(more, 1.0)) : 0;  // NaN: none
}

void Decide(const Ratio& ratio, double high, MetricDecision* decision) {
  decision->df = ratio.n - 1.0;
  decision->standard_error = ratio.standard_error;
  decision->ci_low = std::max(0.0, LowerLimit(ratio, decision->alpha_equivalence));
  decision->ci_high = high;
  if (decision->margin <= 0.0) {
    decision->reason = "no_margin";
    return;
  }
  decision->t = (ratio.value - decision->margin) / ratio.standard_error;
  const double times = ratio.n < kFewSequences ? 2.0 : 1.0;
  decision->p_difference = std::min(1.0, times * stats::StudentTUpper(decision->t, decision->df));
  if (decision->p_difference < decision->alpha_drift) {
    decision->verdict = MetricVerdict::kDrifted;
  } else if (high < decision->margin && ratio.n >= static_cast<double>(kLeastSequences)) {
    decision->verdict = MetricVerdict::kWithin;
  } else {
    if (high < decision->margin) decision->reason = "too_few_sequences";
    decision->more_runs = MoreSequences(ratio, *decision);
  }
}

}  // namespace

double K3Of(double log_ratio) {
  const double x = log_ratio;
  if (std::fabs(x) < kSeries) return x * x * (0.5 + x * (1.0 / 6.0 + x * (1.0 / 24.0 + x / 120.0)));
  return std::expm1(x) - x;
}

KlDecision DecideKl(const std::vector<KlUnit>& units, std::optional<double> margin, bool equal) {
  KlDecision kl;
  kl.k1.interval = kl.k3.interval = {kNotKnown, kNotKnown};
  MetricDecision& decision = kl.decision;
  decision.unit = "nats a token";
  decision.variance_basis = kSequencesBasis;
  decision.margin = margin.value_or(0.0);
  decision.history = {0.0};
  const Ratio k1 = RatioOf(units, &KlUnit::k1);
  const Ratio k3 = RatioOf(units, &KlUnit::k3);
  kl.k1.value = k1.value;
  kl.k3.value = decision.difference = k3.value;
  decision.reruns = {k3.value};
  if (equal) {
    decision.verdict = MetricVerdict::kWithin;
    decision.reason = "equal";
    return kl;
  }
  const double high = std::max(UpperLimit(k3, decision.alpha_equivalence / 2.0),
                               LognormalLimit(units, k3.value, decision.alpha_equivalence));
  if (!(k3.standard_error > kNoSpread * k3.value) || !std::isfinite(k3.standard_error) ||
      !std::isfinite(high)) {
    decision.reason = margin ? "no_variance_basis" : "no_margin";
    return kl;
  }
  Decide(k3, high, &decision);
  kl.k3.interval = {decision.ci_low, decision.ci_high};
  const double reach = stats::StudentTQuantile(1.0 - decision.alpha_equivalence, k1.n - 1.0);
  kl.k1.interval = {k1.value - reach * k1.standard_error, k1.value + reach * k1.standard_error};
  return kl;
}

std::string KlMessage(const MetricDecision& decision) {
  const bool tested = decision.standard_error > 0.0;
  const std::string estimate =
      tested ? fmt::format("{} is estimated at {:.3g} nats a token [{:.3g}, {:.3g}]", decision.name,
                           decision.difference, decision.ci_low, decision.ci_high)
             : fmt::format("{} is estimated at {:.3g} nats a token", decision.name,
                           decision.difference);
  switch (decision.verdict) {
    case MetricVerdict::kWithin:
      return decision.reason == "equal"
                 ? fmt::format("{} is 0: all tokens are bit-equal", decision.name)
                 : fmt::format("{}, shown to be below the margin of {:.3g}", estimate,
                               decision.margin);
    case MetricVerdict::kDrifted:
    case MetricVerdict::kNeedsConfirmation:
      return fmt::format("{}, beyond the margin of {:.3g} (p = {:.2g})", estimate, decision.margin,
                         decision.p_difference);
    case MetricVerdict::kInconclusive:
      break;
  }
  std::string words = estimate;
  if (decision.margin > 0.0) {
    words +=
        fmt::format("; neither below nor beyond the margin of {:.3g} is shown", decision.margin);
  }
  if (!decision.reason.empty()) words += fmt::format(" ({})", DescribeReason(decision.reason));
  if (decision.more_runs > 0) {
    words += fmt::format("; about {} more sequences would decide", decision.more_runs);
  }
  return words;
}

}  // namespace rharness
