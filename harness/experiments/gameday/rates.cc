// Counting trials.
#include "harness/experiments/gameday/rates.h"

#include <cmath>

#include "compare/stats/proportions.h"

namespace rharness {

PlantedAnswer AnswerOf(Verdict verdict) {
  switch (verdict) {
    case Verdict::kIdentical:
    case Verdict::kEquivalent:
      return PlantedAnswer::kPassed;
    case Verdict::kInconclusive:
      return PlantedAnswer::kUndecided;
    case Verdict::kInfra:
      return PlantedAnswer::kNotMade;
    case Verdict::kDrifted:
    case Verdict::kNotComparable:
    case Verdict::kFailed:
      break;
  }
  return PlantedAnswer::kCalled;
}

PlantedAnswer Together(PlantedAnswer a, PlantedAnswer b) {
  for (const PlantedAnswer first :
       {PlantedAnswer::kNotMade, PlantedAnswer::kCalled, PlantedAnswer::kUndecided}) {
    if (a == first || b == first) return first;
  }
  return PlantedAnswer::kPassed;
}

void Count(PlantedAnswer answer, SensitivityRate* rate) {
  if (answer == PlantedAnswer::kNotMade) {
    ++rate->not_made;
    return;
  }
  ++rate->trials;
  if (answer == PlantedAnswer::kCalled) ++rate->found;
  if (answer == PlantedAnswer::kUndecided) ++rate->undecided;
}

void Settle(double confidence, double width, int runs_a_trial, SensitivityRate* rate) {
  const double alpha = 1.0 - confidence;
  const auto interval = [&](double found, double trials) {
    return stats::ClopperPearson(found, trials, alpha);
  };
  const auto is_narrow = [&](const stats::Interval& one) { return one.high - one.low <= width; };
  const double share = rate->trials == 0 ? 1.0 : static_cast<double>(rate->found) / rate->trials;
  if (rate->trials > 0) {
    const stats::Interval now = interval(rate->found, rate->trials);
    rate->low = now.low;
    rate->high = now.high;
    rate->enough = is_narrow(now);
  }
  rate->more = 0;
  for (int more = 1; !rate->enough && more <= kMostMore; ++more) {
    const double trials = rate->trials + more;
    if (!is_narrow(interval(std::round(share * trials), trials))) continue;
    rate->more = more * runs_a_trial;
    return;
  }
}

}  // namespace rharness
