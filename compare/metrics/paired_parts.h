// Pairs, units and spreads that the files of paired judgement share; private to them.
#ifndef RHARNESS_COMPARE_METRICS_PAIRED_PARTS_H_
#define RHARNESS_COMPARE_METRICS_PAIRED_PARTS_H_

#include <string_view>
#include <vector>

#include "compare/metrics/decision_parts.h"
#include "compare/metrics/paired.h"
#include "compare/stats/student_t.h"

namespace rharness::paired {

inline constexpr std::size_t kFewestUnits = 3;

// One seed: the mean over its runs.
struct Unit {
  double recorded = 0.0;
  double rerun = 0.0;
  double difference = 0.0;
  bool equal = true;  // every rerun has the bits of its record
  bool apart = false;
  double p_apart = 1.0;  // over the family, of an apart one
};

// What all runs of an input are held to.
struct Family {
  std::vector<Unit> units;
  std::vector<int> unit_of;  // by run; -1: its values do not allow a difference
  double margin = 0.0;       // 0: none
  bool default_margin = false;
  double floor = 0.0;  // least standard deviation of a difference, metric units
  double mean = 0.0;   // of the differences of units that are not apart
  double sum_of_squares = 0.0;
  double count = 0.0;
};

double MarginOf(const std::optional<double>& declared, const SeedSpread& seeds);

// Units, margin and floor; no run is apart yet.
Family Gather(const PairedInput& input);
// Marks the units that moved apart, and takes the moments of the others.
void SetApart(const PairedInput& input, Family* family);
// The family's shift from the values that are present and finite.
MetricDecision DecideShift(const PairedInput& input, const Family& family);
// A rerun that is no longer finite, or did not report the metric, decides for the family.
void TellWhatIsNotThere(const PairedInput& input, MetricDecision* shift);
MetricDecision DecideRun(const PairedInput& input, const Family& family,
                         const MetricDecision& shift, std::size_t run);
// The smallest number of further units with 80 % power of a decision, given `count` units whose
// differences scatter by `deviation`; 0: none up to 500.
int MoreRuns(double difference, double deviation, double count, double margin,
             const PairedInput& input);

}  // namespace rharness::paired

#endif  // RHARNESS_COMPARE_METRICS_PAIRED_PARTS_H_
