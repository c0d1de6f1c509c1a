// The power of a test, and the number of runs for a wanted power.
#include "compare/stats/power.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>

#include "compare/stats/distributions.h"
#include "compare/stats/quadrature.h"

namespace rharness::stats {
namespace {

constexpr double kFarthestShift = 1e9;  // standard errors
constexpr double kManyDf = 1e7;         // beyond this the estimated deviation is the true one

// E[f(U); U < limit], U = sqrt(chi2_df / df), for a smooth f whose one transition is at u = `at`
// with the width `width`. Below two df the density is singular or kinked at 0; the substitution
// u = w^(2/df) removes that.
template <class F>
double ExpectOverScale(const F& f, double df, double limit, double at, double width) {
  if (df > kManyDf) return limit > 1.0 ? f(1.0) : 0.0;
  const double exponent = df < 2.0 ? 2.0 / df : 1.0;
  const double log_constant =
      std::log(2.0 * exponent) + 0.5 * df * std::log(0.5 * df) - LogGamma(0.5 * df);
  const double w_power = exponent * df - 1.0;
  const auto integrand = [&](double w) {
    const double log_w = std::log(w);
    const double u = std::exp(exponent * log_w);
    return std::exp(log_constant + w_power * log_w - 0.5 * df * u * u) * f(u);
  };
  const double spread = 9.0 / std::sqrt(2.0 * df);
  const double low = std::max(0.0, 1.0 - spread);
  const double high = std::min(limit, 1.0 + spread + 2.0 / df);
  if (!(high > low)) return 0.0;
  std::array<double, 5> cut = {low, at - 7.0 * width, at, at + 7.0 * width, high};
  for (double& c : cut) c = std::pow(std::clamp(c, low, high), 1.0 / exponent);
  double sum = 0.0;
  for (std::size_t i = 0; i + 1 < cut.size(); ++i) sum += Integrate(integrand, cut[i], cut[i + 1]);
  return std::clamp(sum, 0.0, 1.0);
}

// P(|t| > critical) at a true difference of `shift` >= 0 standard errors.
double RejectionProbability(double shift, double df, double critical) {
  const auto reject = [&](double u) {
    return NormalCdf(shift - critical * u) + NormalCdf(-shift - critical * u);
  };
  return ExpectOverScale(reject, df, std::numeric_limits<double>::infinity(), shift / critical,
                         1.0 / critical);
}

}  // namespace

double TostPower(double delta, double theta, double se, double df, double alpha) {
  const double critical = StudentTQuantile(1.0 - alpha, df);
  if (!(delta > 0.0) || !(se > 0.0) || !(critical > 0.0) || !std::isfinite(theta)) return 0.0;
  const double reach = delta / se;
  const double shift = theta / se;
  const auto accept = [&](double u) {
    return NormalCdf(reach - shift - critical * u) - NormalCdf(critical * u - reach - shift);
  };
  return ExpectOverScale(accept, df, reach / critical, (reach - std::fabs(shift)) / critical,
                         1.0 / critical);
}

double TwoSidedPower(double noncentrality, double df, double alpha) {
  const double critical = StudentTQuantile(1.0 - alpha / 2.0, df);
  if (!(critical > 0.0) || !std::isfinite(noncentrality)) return 0.0;
  return RejectionProbability(std::fabs(noncentrality), df, critical);
}

double DetectableNoncentrality(double df, double alpha, double power) {
  if (!(df > 0.0) || !(alpha > 0.0) || !(power > alpha) || !(power < 1.0)) return std::nan("");
  const double critical = StudentTQuantile(1.0 - alpha / 2.0, df);
  const auto gap = [&](double x) { return RejectionProbability(x, df, critical) - power; };
  double low = 0.0;
  double high = critical + NormalQuantile(power) + 0.5;
  if (!(high > 0.0) || !(high < kFarthestShift)) return std::nan("");
  while (gap(high) < 0.0) {
    low = high;
    high *= 1.5;
    if (!(high < kFarthestShift)) return std::nan("");
  }
  return FindRoot(gap, low, high);
}

std::optional<SampleSize> TostSampleSize(int n, double prior_df, double delta, double alpha,
                                         double power, int max_k) {
  for (int k = 1; n >= 1 && k <= max_k; ++k) {
    const double df = prior_df + n + k - 2;
    const double reached = TostPower(delta, 0.0, std::sqrt(1.0 / n + 1.0 / k), df, alpha);
    if (reached >= power) return SampleSize{k, reached};
  }
  return std::nullopt;
}

std::optional<SampleSize> TostSampleSizeBalanced(double delta, double alpha, double power,
                                                 int max_k) {
  for (int k = 2; k <= max_k; ++k) {
    const double reached = TostPower(delta, 0.0, std::sqrt(2.0 / k), 2.0 * k - 2.0, alpha);
    if (reached >= power) return SampleSize{k, reached};
  }
  return std::nullopt;
}

double TwoSampleSize(double d, double alpha, double power) {
  if (!(d > 0.0)) return std::nan("");
  const auto gap = [&](double n) {
    return TwoSidedPower(d * std::sqrt(n / 2.0), 2.0 * n - 2.0, alpha) - power;
  };
  constexpr double kFewest = 2.0;
  if (gap(kFewest) >= 0.0) return kFewest;
  double high = 4.0;
  while (gap(high) < 0.0 && high < 1e9) high *= 2.0;
  return FindRoot(gap, kFewest, high);
}

}  // namespace rharness::stats
