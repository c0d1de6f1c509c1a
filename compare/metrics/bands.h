// Bands for a single rerun, from the history alone.
//
// Role: for means that cannot be compared yet. The smoke band asks whether these m reruns are
// surprising now. The frozen band is stored in a manifest and used for years: it holds a stated
// share of all runs, with stated confidence. Both use the variance shrunk towards the family, whose
// degrees of freedom make them usable at two or three runs. Neither is a verdict.
// Source: stats/intervals.h.
#ifndef RHARNESS_COMPARE_METRICS_BANDS_H_
#define RHARNESS_COMPARE_METRICS_BANDS_H_

#include <string>
#include <vector>

#include "compare/metrics/decision.h"
#include "harness/base/result.h"

namespace rharness {

struct BandHistory {
  std::vector<double> values;  // one a run, finite, at least one
  VariancePrior prior;
  double quantum = 0.0;  // metric units; the variance is at least quantum^2 / 12
};

struct Band {
  double low = 0.0;  // metric units
  double high = 0.0;
  double mean = 0.0;
  double standard_deviation = 0.0;  // s~; 0 for a band of order statistics
  double df = 0.0;                  // likewise
  double factor = 0.0;              // likewise: half the width in standard deviations
  double confidence = 0.0;          // stated confidence of the band
  // "prediction", "tolerance_howe", "smallest_to_largest".
  std::string method;

  bool Holds(double value) const { return low <= value && value <= high; }  // false for NaN
};

// Holds all of the next m values with probability 1 - alpha. invalid_input without values or with
// values that are not finite, for impossible m and alpha, and for an unknown variance (one run
// without a family).
Result<Band> SmokeBand(const BandHistory& history, int m, double alpha);

// Holds `coverage` of all runs with this confidence (Howe, with pooled df). Errors as above.
Result<Band> FrozenBand(const BandHistory& history, double coverage, double confidence);

// The same from the smallest to the largest value, for any distribution; needs the number of values
// of Wilks' formula (93 for 0.95 and 0.95), else invalid_input.
Result<Band> DistributionFreeBand(const BandHistory& history, double coverage, double confidence);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_METRICS_BANDS_H_
