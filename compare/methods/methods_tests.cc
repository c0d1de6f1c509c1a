// Methods: differences and equivalence of two groups.
#include "compare/methods/families.h"
#include "compare/stats/equivalence.h"
#include "compare/stats/mcnemar.h"
#include "compare/stats/ranks.h"
#include "compare/stats/student_t.h"

namespace rharness {
namespace {

using stats::Interval;
using stats::MeanTest;
using stats::Moments;

Json OfTest(const MeanTest& test) {
  const Interval ci95 = stats::ConfidenceInterval(test, 0.05);
  const Interval ci90 = stats::ConfidenceInterval(test, 0.10);
  return Object({{"t", test.t},
                 {"df", test.df},
                 {"p_two_sided", test.p_two_sided},
                 {"ci95_low", ci95.low},
                 {"ci95_high", ci95.high},
                 {"ci90_low", ci90.low},
                 {"ci90_high", ci90.high}});
}

Result<Json> OfTost(const Inputs& in, const MeanTest& test) {
  const double low = in.Number("low");
  const double high = in.Number("high");
  if (!(low < high)) return InvalidInput("low must lie below high", "$.low");
  const stats::TostResult tost = stats::Tost(test, low, high);
  const Interval ci90 = stats::ConfidenceInterval(test, 0.10);
  return Object({{"p_tost", tost.p},
                 {"t_lower", tost.t_lower},
                 {"p_lower", tost.p_lower},
                 {"t_upper", tost.t_upper},
                 {"p_upper", tost.p_upper},
                 {"df", test.df},
                 {"ci90_low", ci90.low},
                 {"ci90_high", ci90.high},
                 {"equivalent_at_0.05", stats::IsInside(ci90, low, high)}});
}

Moments Group(const Inputs& in, const std::string& which) {
  const double n = in.Number("n" + which);
  const double sd = in.Number("sd" + which);
  return {n, in.Number("m" + which), sd * sd * (n - 1.0)};
}

MeanTest OfGroups(const Inputs& in, bool welch) {
  return welch ? stats::WelchTest(Group(in, "1"), Group(in, "2"))
               : stats::PooledTest(Group(in, "1"), Group(in, "2"));
}

MeanTest OfLists(const Inputs& in, bool welch) {
  const Moments x = stats::ComputeMoments(in.List("x"));
  const Moments y = stats::ComputeMoments(in.List("y"));
  return welch ? stats::WelchTest(x, y) : stats::PooledTest(x, y);
}

Result<Json> Paired(const Inputs& in) {
  if (in.List("x").size() != in.List("y").size()) {
    return InvalidInput("pairs need as many values in y as in x", "$.y");
  }
  return OfTost(in, stats::PairedTest(in.List("x"), in.List("y")));
}

Result<Json> ModeratedT(const Inputs& in) {
  const Moments old_runs{in.Number("n"), in.Number("mean_hist"),
                         in.Number("s_sq") * in.Number("df")};
  const Moments new_runs{in.Number("k"), in.Number("mean_new"), 0.0};
  if (in.Number("df") != old_runs.count + new_runs.count - 2.0) {
    return InvalidInput("the pooled variance of both groups has n + k - 2 degrees of freedom",
                        "$.df");
  }
  const stats::ScaledInverseChiSquared prior{in.Number("s0_sq"), in.Number("d0")};
  const MeanTest test = stats::ModeratedTest(new_runs, old_runs, prior, 0.0);
  Json out = OfTest(test);
  out.Set("s_post_sq", test.standard_error * test.standard_error /
                           (1.0 / old_runs.count + 1.0 / new_runs.count));
  return out;
}

Result<Json> VarianceRatio(const Inputs& in) {
  const double ratio = in.Number("var_new") / in.Number("var_hist");
  return Object(
      {{"f", ratio},
       {"p_two_sided", stats::VarianceRatioP(in.Number("var_new"), in.Number("df_new"),
                                             in.Number("var_hist"), in.Number("df_hist"))}});
}

Result<Json> OfMcNemar(const Inputs& in) {
  const auto result = stats::McNemar(in.Number("b"), in.Number("c"));
  Json out = Object({{"p_exact", result.p_exact},
                     {"chi2_nocorr", result.chi_squared},
                     {"p_chi2_nocorr", result.p_chi_squared}});
  if (!in.Has("examples")) return out;
  if (in.Number("b") + in.Number("c") > in.Number("examples")) {
    return InvalidInput("fewer examples than b + c", "$.examples");
  }
  return out.Set("se_within", stats::DiscordantStandardError(in.Number("b"), in.Number("c"),
                                                             in.Number("examples")));
}

Result<Json> MannWhitney(const Inputs& in) {
  const auto result = stats::MannWhitneyExact(in.List("x"), in.List("y"));
  return Object({{"U_x", result.u}, {"p_two_sided", result.p_two_sided}});
}

std::vector<InputSpec> GroupInputs() {
  std::vector<InputSpec> inputs;
  for (const std::string which : {"1", "2"}) {
    inputs.push_back(
        NumberInput("m" + which, "mean of group " + which + ", metric units", kAnyNumber));
    inputs.push_back(
        NumberInput("sd" + which, "its standard deviation (n - 1), metric units", kNotNegative));
    inputs.push_back(CountInput("n" + which, "its values", 2, kMostTrials));
  }
  return inputs;
}

std::vector<InputSpec> ListInputs() {
  return {NumbersInput("x", "values of one group, metric units", kAnyNumber, 2),
          NumbersInput("y", "values of the other, metric units", kAnyNumber, 2)};
}

std::vector<InputSpec> WithMargins(std::vector<InputSpec> inputs) {
  inputs.push_back(NumberInput("low", "lower margin of the difference, metric units", kAnyNumber));
  inputs.push_back(NumberInput("high", "upper margin, metric units", kAnyNumber));
  return inputs;
}

std::vector<InputSpec> With(std::vector<InputSpec> inputs, InputSpec more) {
  inputs.push_back(std::move(more));
  return inputs;
}

}  // namespace

std::vector<Method> TestMethods() {
  return {
      {"student_t_from_stats", "Student's two-sample t test with equal variances, from summaries",
       GroupInputs(), [](const Inputs& in) { return OfTest(OfGroups(in, false)); }},
      {"welch_t_from_stats", "Welch's two-sample t test, from summaries", GroupInputs(),
       [](const Inputs& in) { return OfTest(OfGroups(in, true)); }},
      {"welch_t", "Welch's two-sample t test, from values", ListInputs(),
       [](const Inputs& in) { return OfTest(OfLists(in, true)); }},
      {"tost_ind", "two one-sided tests of x - y against a margin, from values",
       With(WithMargins(ListInputs()),
            TextInput("usevar", "equal or unequal variances", {"pooled", "unequal"})),
       [](const Inputs& in) { return OfTost(in, OfLists(in, in.Text("usevar") == "unequal")); }},
      {"tost_ind_from_stats", "two one-sided tests of m1 - m2 against a margin, from summaries",
       With(WithMargins(GroupInputs()), FlagInput("equal_var", "whether variances are equal")),
       [](const Inputs& in) { return OfTost(in, OfGroups(in, !in.Flag("equal_var"))); }},
      {"tost_paired", "two one-sided tests of the mean of x - y, value by value",
       WithMargins(ListInputs()), Paired},
      {"moderated_t",
       "t test of new against history with a variance shrunk towards the family's",
       {CountInput("n", "historical runs", 1, kMostTrials),
        CountInput("k", "reruns", 1, kMostTrials),
        NumberInput("mean_hist", "mean of the history, metric units", kAnyNumber),
        NumberInput("mean_new", "mean of the reruns, metric units", kAnyNumber),
        NumberInput("s_sq", "pooled variance within both, metric units squared", kNotNegative),
        NumberInput("df", "its degrees of freedom", kNotNegative),
        NumberInput("s0_sq", "family variance, metric units squared", kNotNegative),
        NumberInput("d0", "its degrees of freedom", kNotNegative)},
       ModeratedT},
      {"variance_ratio",
       "F test of two variances, two-sided",
       {NumberInput("var_new", "variance of the reruns, metric units squared", kNotNegative),
        NumberInput("df_new", "its degrees of freedom", {1.0, kMostTrials}),
        NumberInput("var_hist", "variance of the history, metric units squared", kPositive),
        NumberInput("df_hist", "its degrees of freedom", {1.0, kMostTrials})},
       VarianceRatio},
      {"mcnemar",
       "McNemar's test of two runs on the same examples, exact and chi-squared",
       {CountInput("b", "examples only the first got right", 0, kMostTrials),
        CountInput("c", "examples only the second got right", 0, kMostTrials),
        CountInput("examples", "all examples; gives se_within, a floor of the standard error", 1,
                   kMostTrials)
            .Optional()},
       OfMcNemar},
      {"mann_whitney_exact",
       "exact Mann-Whitney test of two small samples without ties",
       {NumbersInput("x", "values of one group", kAnyNumber, 1, 100),
        NumbersInput("y", "values of the other", kAnyNumber, 1, 100)},
       MannWhitney},
  };
}

}  // namespace rharness
