// The fence around Boost.Math: every call goes through a policy that returns NaN and never throws.
#include "compare/stats/distributions.h"

#include <boost/math/distributions/beta.hpp>
#include <boost/math/distributions/binomial.hpp>
#include <boost/math/distributions/chi_squared.hpp>
#include <boost/math/distributions/fisher_f.hpp>
#include <boost/math/distributions/non_central_t.hpp>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <boost/math/special_functions/digamma.hpp>
#include <boost/math/special_functions/gamma.hpp>
#include <boost/math/special_functions/polygamma.hpp>
#include <boost/math/special_functions/trigamma.hpp>
#include <cmath>
#include <limits>

namespace rharness::stats {
namespace {

namespace bm = boost::math;
namespace bp = boost::math::policies;

using Quiet =
    bp::policy<bp::domain_error<bp::ignore_error>, bp::pole_error<bp::ignore_error>,
               bp::overflow_error<bp::ignore_error>, bp::underflow_error<bp::ignore_error>,
               bp::denorm_error<bp::ignore_error>, bp::rounding_error<bp::ignore_error>,
               bp::evaluation_error<bp::ignore_error>,
               bp::indeterminate_result_error<bp::ignore_error>, bp::promote_double<false>>;
using Normal = bm::normal_distribution<double, Quiet>;
using StudentT = bm::students_t_distribution<double, Quiet>;
using NoncentralT = bm::non_central_t_distribution<double, Quiet>;
using ChiSquared = bm::chi_squared_distribution<double, Quiet>;
using FisherF = bm::fisher_f_distribution<double, Quiet>;
using Beta = bm::beta_distribution<double, Quiet>;
using Binomial = bm::binomial_distribution<double, Quiet>;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

bool IsOpenProbability(double p) { return p > 0.0 && p < 1.0; }

}  // namespace

double NormalCdf(double z) { return 0.5 * std::erfc(-z / std::sqrt(2.0)); }

double NormalQuantile(double p) { return IsOpenProbability(p) ? bm::quantile(Normal(), p) : kNaN; }

double StudentTUpper(double t, double df) {
  if (std::isnan(t) || !(df > 0.0)) return kNaN;
  if (std::isinf(t)) return t > 0.0 ? 0.0 : 1.0;
  return bm::cdf(bm::complement(StudentT(df), t));
}

double StudentTTwoSided(double t, double df) { return 2.0 * StudentTUpper(std::fabs(t), df); }

double StudentTQuantile(double p, double df) {
  if (!IsOpenProbability(p) || !(df > 0.0)) return kNaN;
  const double quantile = bm::quantile(StudentT(df), p);
  // Far below one df the true value is beyond a double, and the result may have any sign.
  if (p > 0.5 && !(quantile > 0.0)) return std::numeric_limits<double>::infinity();
  if (p < 0.5 && !(quantile < 0.0)) return -std::numeric_limits<double>::infinity();
  return quantile;
}

double NoncentralTQuantile(double p, double df, double noncentrality) {
  if (!IsOpenProbability(p) || !(df > 0.0) || !std::isfinite(noncentrality)) return kNaN;
  return bm::quantile(NoncentralT(df, noncentrality), p);
}

double ChiSquaredUpper(double x, double df) {
  if (std::isnan(x) || !(df > 0.0)) return kNaN;
  if (x <= 0.0) return 1.0;
  return std::isinf(x) ? 0.0 : bm::cdf(bm::complement(ChiSquared(df), x));
}

double ChiSquaredQuantile(double p, double df) {
  return IsOpenProbability(p) && df > 0.0 ? bm::quantile(ChiSquared(df), p) : kNaN;
}

double FisherFUpper(double f, double df_numerator, double df_denominator) {
  if (!(f >= 0.0) || !(df_numerator > 0.0) || !(df_denominator > 0.0)) return kNaN;
  if (std::isinf(f)) return 0.0;
  return bm::cdf(bm::complement(FisherF(df_numerator, df_denominator), f));
}

double BetaQuantile(double p, double a, double b) {
  if (!IsOpenProbability(p) || !(a > 0.0) || !(b > 0.0)) return kNaN;
  return bm::quantile(Beta(a, b), p);
}

double BinomialCdf(double successes, double trials, double p) {
  if (!(successes >= 0.0) || !(trials >= successes) || !(p >= 0.0 && p <= 1.0)) return kNaN;
  return bm::cdf(Binomial(trials, p), successes);
}

double Digamma(double x) { return x > 0.0 ? bm::digamma(x, Quiet()) : kNaN; }

double Trigamma(double x) { return x > 0.0 ? bm::trigamma(x, Quiet()) : kNaN; }

double TrigammaInverse(double x) {
  if (!(x > 0.0) || std::isinf(x)) return kNaN;
  if (x > 1e7) return 1.0 / std::sqrt(x);  // the leading terms at both ends, where Newton crawls
  if (x < 1e-6) return 1.0 / x;
  double y = 0.5 + 1.0 / x;
  for (int iteration = 0; iteration < 50; ++iteration) {
    const double trigamma = Trigamma(y);
    const double step = trigamma * (1.0 - trigamma / x) / bm::polygamma(2, y, Quiet());
    y += step;
    if (-step / y < 1e-12) break;
  }
  return y;
}

double LogGamma(double x) { return x > 0.0 ? bm::lgamma(x, Quiet()) : kNaN; }

}  // namespace rharness::stats
