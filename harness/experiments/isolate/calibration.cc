// Both ends of a search, weighed.
#include "harness/experiments/isolate/calibration.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compare/stats/distributions.h"

namespace rharness {
namespace {

constexpr double kMostWrong = 0.35;  // beyond that a search would need hundreds of reruns
// Of reruns that should fail; a search must see a failure more often than not.
constexpr double kMostMissed = 0.45;

std::vector<double> ValuesOf(const std::string& metric, const SearchEndReruns& end) {
  std::vector<double> values;
  for (const Signature& one : end.each) {
    const auto found = one.differences.find(metric);
    if (found != one.differences.end()) values.push_back(found->second);
  }
  return values;
}

double Mean(const std::vector<double>& values) {
  double mean = 0.0;
  for (const double value : values) mean += value / static_cast<double>(values.size());
  return mean;
}

double SquaresAround(const std::vector<double>& values, double mean) {
  double sum = 0.0;
  for (const double value : values) sum += (value - mean) * (value - mean);
  return sum;
}

// Cuts one metric between the ends; a chance of 1/2 if that is impossible.
struct Cut {
  double middle = 0.0;
  double wrong = 0.5;
};
Cut CutBetween(const std::vector<double>& all, const std::vector<double>& none) {
  Cut cut;
  const double df = static_cast<double>(all.size() + none.size()) - 2.0;
  if (all.size() < 2 || none.size() < 2) return cut;
  const double high = Mean(all);
  const double low = Mean(none);
  const double spread = std::sqrt((SquaresAround(all, high) + SquaresAround(none, low)) / df);
  cut.middle = (high + low) / 2.0;
  if (high == low) return cut;
  // A further rerun, against a middle that is itself estimated from all of these.
  const double scale = spread * std::sqrt(1.0 + 1.0 / (df + 2.0));
  cut.wrong = scale > 0.0 ? stats::StudentTUpper(std::abs(high - low) / (2.0 * scale), df) : 0.0;
  // No rerun of n was on the wrong side; of that alone the mean of Jeffreys' posterior is this.
  cut.wrong =
      std::max(cut.wrong, 0.5 / (static_cast<double>(std::min(all.size(), none.size())) + 1));
  return cut;
}

Calibration Stop(Calibration calibration, SearchEnd end, std::string why) {
  calibration.end = end;
  calibration.why_not = std::move(why);
  return calibration;
}

// The most discriminating one of the metrics that moved.
Calibration ByMetric(Calibration calibration, const SearchEndReruns& all,
                     const SearchEndReruns& none) {
  double wrong = 0.5;
  for (const auto& [metric, amount] : calibration.target.moved) {
    const Cut cut = CutBetween(ValuesOf(metric, all), ValuesOf(metric, none));
    if (cut.wrong >= wrong) continue;
    calibration.metric = metric;
    calibration.middle = cut.middle;
    wrong = cut.wrong;
  }
  calibration.false_reproduces = calibration.miss = wrong;
  if (calibration.metric.empty()) {
    return Stop(std::move(calibration), SearchEnd::kEndNotJudged,
                "reruns of one setting differ among themselves, and no metric separates them");
  }
  if (wrong > kMostWrong) {
    const std::string why = fmt::format(
        "a rerun of one side looks like one of the other in {:.0f} % of cases (metric {}): too "
        "often for a search",
        100.0 * wrong, calibration.metric);
    return Stop(std::move(calibration), SearchEnd::kBudget, why);
  }
  return calibration;
}

// How many reruns of an end show the failure that is looked for.
int FailuresOf(const Signature& target, const SearchEndReruns& end) {
  return static_cast<int>(std::ranges::count_if(end.each, [&](const Signature& one) {
    return Relate(target, one) == TrialAnswer::kReproduces;
  }));
}

// For a failure: both rates, from how often each end shows it. If all of one end and none of the
// other do, one rerun is enough.
Calibration ByFailure(Calibration calibration, const SearchEndReruns& all,
                      const SearchEndReruns& none) {
  const int failed = FailuresOf(calibration.target, all);
  const auto reruns = static_cast<int>(all.each.size());
  calibration.exact = failed == reruns;
  if (calibration.exact) return calibration;
  calibration.miss = (reruns - failed + 0.5) / (reruns + 1.0);
  calibration.false_reproduces = 0.5 / (static_cast<double>(none.each.size()) + 1.0);
  if (calibration.miss > kMostMissed || calibration.false_reproduces > kMostWrong) {
    const std::string why = fmt::format(
        "{} of {} reruns with everything changed show the failure: too few for a search, or too "
        "few reruns of the ends (--end-reruns)",
        failed, reruns);
    return Stop(std::move(calibration), SearchEnd::kBudget, why);
  }
  return calibration;
}

}  // namespace

Calibration Calibrate(const SearchEndReruns& all, const SearchEndReruns& none,
                      const Signature* expected) {
  Calibration calibration;
  calibration.exact =
      DifferAmongReruns(all.outputs).empty() && DifferAmongReruns(none.outputs).empty();
  calibration.target = expected != nullptr ? *expected : all.together;
  for (const auto* end : {&all, &none}) {
    if (end->together.not_judged.empty()) continue;
    return Stop(std::move(calibration), SearchEnd::kEndNotJudged, end->together.not_judged);
  }
  if (calibration.target.Empty() ||
      Relate(calibration.target, all.together) != TrialAnswer::kReproduces) {
    return Stop(std::move(calibration), SearchEnd::kNotReproduced,
                DescribeInLine(all.together) + " with everything changed");
  }
  if (Relate(calibration.target, none.together) == TrialAnswer::kReproduces) {
    return Stop(std::move(calibration), SearchEnd::kNotAmongThese,
                DescribeInLine(none.together) + " with nothing changed");
  }
  if (!calibration.target.failure.empty()) return ByFailure(std::move(calibration), all, none);
  if (calibration.exact) return calibration;
  return ByMetric(std::move(calibration), all, none);
}

TrialAnswer RelateNoisy(const Calibration& calibration, const Signature& seen) {
  if (!seen.not_judged.empty()) return TrialAnswer::kSkipped;
  if (!calibration.target.failure.empty()) return Relate(calibration.target, seen);
  if (!seen.failure.empty()) return TrialAnswer::kOther;
  for (const std::string& one : seen.changed) {
    if (one.ends_with(": not finite") && !calibration.target.changed.contains(one)) {
      return TrialAnswer::kOther;
    }
  }
  const auto found = seen.differences.find(calibration.metric);
  if (found == seen.differences.end()) return TrialAnswer::kSkipped;
  const double amount = calibration.target.moved.at(calibration.metric);
  const bool beyond =
      amount > 0.0 ? found->second > calibration.middle : found->second < calibration.middle;
  return beyond ? TrialAnswer::kReproduces : TrialAnswer::kDoesNot;
}

}  // namespace rharness
