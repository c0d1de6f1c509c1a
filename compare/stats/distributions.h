// The distributions and special functions of this folder.
//
// Role: the fence around Boost.Math; its .cc is the only file that sees those headers. Nothing here
// throws: an argument outside a function's domain gives NaN, which fails every comparison.
#ifndef RHARNESS_COMPARE_STATS_DISTRIBUTIONS_H_
#define RHARNESS_COMPARE_STATS_DISTRIBUTIONS_H_

namespace rharness::stats {

double NormalCdf(double z);
double NormalQuantile(double p);

// Student's t with real df > 0; df may be infinite.
double StudentTUpper(double t, double df);     // P(T > t)
double StudentTTwoSided(double t, double df);  // P(|T| > |t|)
double StudentTQuantile(double p, double df);
double NoncentralTQuantile(double p, double df, double noncentrality);

double ChiSquaredUpper(double x, double df);  // P(X > x); 1 below zero
double ChiSquaredQuantile(double p, double df);
double FisherFUpper(double f, double df_numerator, double df_denominator);
double BetaQuantile(double p, double a, double b);
double BinomialCdf(double successes, double trials, double p);

double Digamma(double x);
double Trigamma(double x);
// The y > 0 with Trigamma(y) = x, for x > 0 (Smyth 2004, appendix: Newton's method on 1/trigamma).
double TrigammaInverse(double x);
double LogGamma(double x);

}  // namespace rharness::stats

#endif  // RHARNESS_COMPARE_STATS_DISTRIBUTIONS_H_
