// How often trials were detected, with an interval, and how many more would make it narrow. Pure.
//
// Source: Clopper-Pearson (compare/stats/proportions.h), whose coverage is never below the stated
// one, also at 0 and at 1.
#ifndef RHARNESS_HARNESS_EXPERIMENTS_GAMEDAY_RATES_H_
#define RHARNESS_HARNESS_EXPERIMENTS_GAMEDAY_RATES_H_

#include "harness/verdict/verdict.h"
#include "reports/sensitivity.h"

namespace rharness {

// The result of a trial: called (drifted, not comparable, failed), undecided (inconclusive), passed
// (identical, equivalent), or not made (infrastructure).
enum class PlantedAnswer { kCalled, kUndecided, kPassed, kNotMade };
PlantedAnswer AnswerOf(Verdict verdict);

// For several runs judged as one drill: called if any is, else undecided if any is, else passed;
// not made if any was not.
PlantedAnswer Together(PlantedAnswer a, PlantedAnswer b);

void Count(PlantedAnswer answer, SensitivityRate* rate);

// Fills the interval of a rate with counted trials, whether it is no wider than `width` (0 to 1),
// and how many more trials would make it so at the same share, times `runs_a_trial`; 0 if more than
// kMostMore would be needed. Without trials: the number for a share of 0 or 1.
inline constexpr int kMostMore = 10000;
void Settle(double confidence, double width, int runs_a_trial, SensitivityRate* rate);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXPERIMENTS_GAMEDAY_RATES_H_
