// A preregistered series of looks: how much information each has, and the error it may spend.
#include "compare/stats/looks.h"

#include <fmt/format.h>

#include <cstddef>

#include "compare/stats/sequential.h"

namespace rharness::stats {
namespace {

Status CheckLooks(const std::vector<int>& looks) {
  if (looks.empty()) return InvalidInput("no looks; expected one or more");
  int previous = 0;
  for (const int k : looks) {
    if (k <= previous || k > kMaxReruns) {
      return InvalidInput(fmt::format(
          "a look at {} reruns after one at {}; expected looks that increase from 1 to at most {}",
          k, previous, kMaxReruns));
    }
    previous = k;
  }
  return {};
}

bool IsRate(double alpha) { return alpha > 0.0 && alpha < 0.5; }

std::vector<double> Spent(const std::vector<double>& fraction, double alpha) {
  std::vector<double> spent;
  for (const double t : fraction) spent.push_back(LanDeMetsSpent(t, alpha));
  return spent;
}

std::vector<double> Increments(const std::vector<double>& spent) {
  std::vector<double> increments = spent;
  for (std::size_t i = 1; i < spent.size(); ++i) increments[i] = spent[i] - spent[i - 1];
  return increments;
}

}  // namespace

Result<LookSchedule> ScheduleLooks(int n, const std::vector<int>& looks, double alpha_drift,
                                   double alpha_equivalence) {
  if (n < 1) return InvalidInput(fmt::format("{} historical runs; expected one or more", n));
  if (!IsRate(alpha_drift) || !IsRate(alpha_equivalence)) {
    return InvalidInput(fmt::format("error rates {} and {}; expected rates between 0 and 0.5",
                                    alpha_drift, alpha_equivalence));
  }
  RETURN_IF_ERROR(CheckLooks(looks));
  LookSchedule schedule;
  schedule.looks = looks;
  for (const int k : looks) schedule.information.push_back(1.0 / (1.0 / n + 1.0 / k));
  for (const double information : schedule.information) {
    schedule.fraction.push_back(information / schedule.information.back());
  }
  schedule.spent_drift = Spent(schedule.fraction, alpha_drift);
  // One-sided tests: each spends its half of a two-sided rate.
  schedule.spent_equivalence = Spent(schedule.fraction, 2.0 * alpha_equivalence);
  for (double& spent : schedule.spent_equivalence) spent /= 2.0;
  schedule.alpha_drift = Increments(schedule.spent_drift);
  schedule.alpha_equivalence = Increments(schedule.spent_equivalence);
  return schedule;
}

}  // namespace rharness::stats
