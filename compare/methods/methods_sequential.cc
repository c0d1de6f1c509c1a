// Methods: looking more than once, and when a series changed.
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

#include "compare/methods/families.h"
#include "compare/stats/change_points.h"
#include "compare/stats/sequential.h"

namespace rharness {
namespace {

constexpr std::size_t kMostForSplits = 1000;
constexpr double kMostPermutedDistances = 2e8;  // about a second

Result<Json> Cusum(const Inputs& in) {
  const stats::Cusum cusum =
      stats::TabularCusum(in.List("x"), in.Number("mu"), in.Number("k"), in.Number("h"));
  return Object({{"s_hi", Numbers(cusum.high)},
                 {"s_lo", Numbers(cusum.low)},
                 {"first_alarm_1based", cusum.first_alarm ? *cusum.first_alarm + 1 : 0}});
}

Result<Json> EnergySplit(const Inputs& in) {
  const auto segment = static_cast<std::size_t>(in.Count("min_segment"));
  if (in.List("x").size() < 2 * segment) {
    return InvalidInput("a split needs 2 * min_segment values", "$.x");
  }
  const double exponent = in.Number("alpha_exponent");
  const stats::EnergySplit split = stats::BestEnergySplit(in.List("x"), exponent, segment);
  Json out = Object({{"best_split", split.best},
                     {"q", *std::max_element(split.q.begin(), split.q.end())},
                     {"q_all_from_2", Numbers(split.q)}});
  if (in.Has("permutations")) {
    const auto size = static_cast<double>(in.List("x").size());
    if (size * size * in.Number("permutations") > kMostPermutedDistances) {
      return InvalidInput(fmt::format("more than {} distances in all, values squared times "
                                      "permutations; expected fewer of either",
                                      kMostPermutedDistances),
                          "$.permutations");
    }
    const auto seed = static_cast<std::uint64_t>(in.NumberOr("seed", 1.0));
    out.Set("p", stats::EnergySplitPermutationP(in.List("x"), exponent, segment,
                                                in.Count("permutations"), seed));
  }
  return out;
}

Result<Json> GroupSequential(const Inputs& in) {
  const auto shape = in.Text("kind") == "obf" ? stats::BoundaryShape::kObrienFleming
                                              : stats::BoundaryShape::kPocock;
  return Object(
      {{"c", stats::GroupSequentialConstant(in.Count("K"), shape, in.Number("alpha_two_sided"))}});
}

Result<Json> Spent(const Inputs& in) {
  return Object(
      {{"cumulative_alpha", stats::LanDeMetsSpent(in.Number("t"), in.Number("alpha_two_sided"))}});
}

Result<Json> Mixture(const Inputs& in) {
  const auto test = stats::NormalMixtureTest(in.Number("xbar"), in.Number("n"), in.Number("sigma"),
                                             in.Number("tau"), in.Number("alpha"));
  return Object({{"e_value", test.e_value},
                 {"always_valid_p_at_n", test.p},
                 {"ci_halfwidth", test.interval_half_width}});
}

Result<Json> MixtureProcess(const Inputs& in) {
  const auto process = stats::NormalMixtureProcess(
      in.List("x"), in.Number("mean0"), in.Number("sigma"), in.Number("tau"), in.Number("alpha"));
  return Object({{"e_values", Numbers(process.e_values)},
                 {"p", process.p},
                 {"first_alarm_1based", process.first_alarm ? *process.first_alarm + 1 : 0}});
}

Status CheckWald(const Inputs& in) {
  if (in.Number("alpha") + in.Number("beta") < 1.0) return {};
  return InvalidInput("alpha + beta must be below 1", "$.beta");
}

Result<Json> BernoulliLines(const Inputs& in) {
  RETURN_IF_ERROR(CheckWald(in));
  if (!(in.Number("p1") < in.Number("p2"))) return InvalidInput("p1 must lie below p2", "$.p1");
  const auto lines = stats::BernoulliSprtLines(in.Number("p1"), in.Number("p2"), in.Number("alpha"),
                                               in.Number("beta"));
  return Object({{"h1", lines.h1}, {"h2", lines.h2}, {"s", lines.s}});
}

Result<Json> LogLikelihoodRatio(const Inputs& in) {
  return Object(
      {{"llr", stats::NormalLogLikelihoodRatio(in.List("x"), in.Number("theta0"),
                                               in.Number("theta1"), in.Number("sigma"))}});
}

Result<Json> Thresholds(const Inputs& in) {
  RETURN_IF_ERROR(CheckWald(in));
  const auto thresholds = stats::WaldThresholds(in.Number("alpha"), in.Number("beta"));
  return Object({{"log_A", thresholds.log_a}, {"log_B", thresholds.log_b}});
}

std::vector<Method> ChangePointMethods() {
  return {
      {"cusum_tabular",
       "CUSUM over a fleet's history, and its first alarm",
       {NumbersInput("x", "values in order of time", kAnyNumber, 1),
        NumberInput("mu", "level in control, units of x", kAnyNumber),
        NumberInput("k", "slack, units of x", kNotNegative),
        NumberInput("h", "limit, units of x", kPositive)},
       Cusum},
      {"edivisive_single_split",
       "the split of a series into two with the largest energy distance",
       {NumbersInput("x", "values in order of time", kAnyNumber, 4, kMostForSplits),
        NumberInput("alpha_exponent", "of the distances", {0.0, 2.0, true, true}),
        CountInput("min_segment", "values on each side at least", 2, kMostForSplits),
        CountInput("permutations", "for a p-value", 1, 999).Optional(),
        CountInput("seed", "of the permutations (1)", 0, 9007199254740992.0).Optional()},
       EnergySplit},
  };
}

std::vector<Method> WaldMethods() {
  const InputSpec alpha = NumberInput("alpha", "error rate of a false H1", kBetween0And1);
  const InputSpec beta = NumberInput("beta", "error rate of a false H0", kBetween0And1);
  return {
      {"sprt_thresholds", "Wald's limits on the log likelihood ratio", {alpha, beta}, Thresholds},
      {"sprt_bernoulli_lines",
       "Wald's acceptance and rejection lines for failures among outcomes",
       {NumberInput("p1", "failure rate under H0", kBetween0And1),
        NumberInput("p2", "failure rate under H1", kBetween0And1), alpha, beta},
       BernoulliLines},
      {"sprt_normal_llr",
       "log likelihood ratio of theta1 over theta0 for normal values",
       {NumbersInput("x", "values", kAnyNumber, 1),
        NumberInput("theta0", "mean under H0, units of x", kAnyNumber),
        NumberInput("theta1", "mean under H1, units of x", kAnyNumber),
        NumberInput("sigma", "standard deviation, units of x", kPositive)},
       LogLikelihoodRatio},
  };
}

}  // namespace

std::vector<Method> SequentialMethods() {
  const InputSpec sigma = NumberInput("sigma", "known standard deviation, units of x", kPositive);
  const InputSpec tau = NumberInput("tau", "of the mixture over shifts, units of x", kPositive);
  const InputSpec alpha = NumberInput("alpha", "error rate at all times together", kBetween0And1);
  std::vector<Method> methods = {
      {"group_sequential_constant",
       "constant of a Pocock or O'Brien-Fleming design",
       {CountInput("K", "equally spaced looks", 1, 100),
        TextInput("kind", "the shape", {"pocock", "obf"}),
        NumberInput("alpha_two_sided", "error rate of all looks", {1e-6, 0.5})},
       GroupSequential},
      {"lan_demets_obf_spend",
       "error spent by an information time, O'Brien-Fleming shape",
       {NumberInput("t", "share of the information", {0.0, 1.0, true, false}),
        NumberInput("alpha_two_sided", "error rate of all looks", kBetween0And1)},
       Spent},
      {"msprt_normal",
       "mixture test of mean 0, valid at every n at once",
       {NumberInput("xbar", "mean so far", kAnyNumber),
        CountInput("n", "values so far", 1, kMostTrials), sigma, tau, alpha},
       Mixture},
      {"msprt_normal_process",
       "the same value by value, with its first alarm at e >= 1 / alpha",
       {NumbersInput("x", "values in order of time", kAnyNumber, 1),
        NumberInput("mean0", "mean when nothing is wrong", kAnyNumber), sigma, tau, alpha},
       MixtureProcess},
  };
  for (auto* more : {ChangePointMethods, WaldMethods}) {
    std::vector<Method> some = more();
    std::move(some.begin(), some.end(), std::back_inserter(methods));
  }
  return methods;
}

}  // namespace rharness
