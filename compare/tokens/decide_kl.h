// The divergence of two programs' distributions over tokens: how far, and is it within a margin?
//
// Role: sums by sequence in, estimates with intervals and a decision out. Pure. The sequence is the
// unit: its tokens have one prefix, and are not independent.
// Source: k1 and k3: Schulman 2020, "Approximating KL divergence"; the ratio of sums and its
// standard error: Cochran 1977, section 6.4; the correction for skewness: Hall 1992
// (doi:10.1111/j.2517-6161.1992.tb01872.x); the mean of lognormal values: Cox's method in Zhou and
// Gao 1997 (doi:10.1002/(SICI)1097-0258(19970415)16:7<783::AID-SIM488>3.0.CO;2-2).
#ifndef RHARNESS_COMPARE_TOKENS_DECIDE_KL_H_
#define RHARNESS_COMPARE_TOKENS_DECIDE_KL_H_

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "compare/metrics/decision.h"
#include "compare/tokens/token_difference.h"

namespace rharness {

// Fewer sequences show no equivalence: the rates below are known from here on.
inline constexpr std::size_t kLeastSequences = 20;

// One sequence: sums over its tokens.
struct KlUnit {
  double k1 = 0.0;
  double k3 = 0.0;
  double tokens = 0.0;
};

// r - 1 - log r of log r: never negative, exact for small ones; infinite beyond doubles.
double K3Of(double log_ratio);

struct KlDecision {
  KlEstimate k1;  // with the two-sided 90 % interval of t; decides nothing
  KlEstimate k3;  // with the interval of `decision`
  // Of k3 in nats a token: difference, standard error and interval. history is {0}, reruns {k3};
  // variance_basis "sequences"; more_runs counts sequences.
  MetricDecision decision;
};

// Both estimates are ratios of sums: of the sequences' sums to their tokens.
//
// Upper limit: the larger of two. t with its correction for skewness at half of alpha_equivalence;
// and Cox's limit at alpha_equivalence, of sequences weighted by their tokens, which knows that a
// tail may be longer than these sequences show. Lower limit: t, at half of the rate with fewer than
// 50 sequences.
//
// Error rates. Simulated at the margin, at a stated .05 (equivalence) and .01 (drift), with lengths
// of lognormal spread (sigma 1), at 20 to 1,000 sequences: equivalence .06 or less where the
// divergences of sequences are equal but for noise, lognormal with sigma 0.5 to 1.5, fall with the
// length, or are carried by rare tokens that one sequence in three has; drift .012 or less. t alone
// claims equivalence in up to .34. No interval knows what these sequences do not have: of tokens
// that one sequence in 30 has, equivalence at the margin is .54 with 20 sequences, .26 with 50, .10
// with 100, and .05 or less from 200 on.
//
//   within        all tokens are equal ("equal"), or the upper limit is below the margin
//   drifted       the lower limit, at alpha_drift, is above the margin
//   inconclusive  else: without a margin "no_margin", with few sequences "too_few_sequences",
//                 with one, or with none that differ from each other, "no_variance_basis"
KlDecision DecideKl(const std::vector<KlUnit>& units, std::optional<double> margin, bool equal);

// The decision in one sentence.
std::string KlMessage(const MetricDecision& decision);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_TOKENS_DECIDE_KL_H_
