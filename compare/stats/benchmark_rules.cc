// Acceptance rules of other projects, so that their records can be read as intended.
#include "compare/stats/benchmark_rules.h"

#include <cmath>
#include <limits>

#include "compare/stats/distributions.h"
#include "compare/stats/moments.h"

namespace rharness::stats {

ConvergenceReference MlperfReference(const std::vector<double>& epochs, int submission_runs,
                                     int reject, double alpha) {
  const Moments all = ComputeMoments(epochs);
  const double n_reference = all.count - 2.0 * reject;
  const double n_submission = submission_runs - 2.0;
  ConvergenceReference reference;
  reference.mean = OlympicMean(epochs, reject);
  reference.standard_deviation = std::sqrt(all.sum_of_squares / all.count);
  const double t = StudentTQuantile(1.0 - alpha, n_reference + n_submission - 2.0);
  reference.min_epochs = reference.mean - t * reference.standard_deviation *
                                              std::sqrt(1.0 / n_reference + 1.0 / n_submission);
  reference.max_speedup = reference.mean / reference.min_epochs;
  return reference;
}

Interval ReframeBounds(double reference, std::optional<double> lower, std::optional<double> upper) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const double scale = reference == 0.0 ? 1.0 : std::fabs(reference);
  return {lower ? reference + scale * *lower : -kInfinity,
          upper ? reference + scale * *upper : kInfinity};
}

}  // namespace rharness::stats
