// The arithmetic of the official RCP checker.
#include "compare/results/rcp_statistics.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "compare/stats/distributions.h"
#include "compare/stats/moments.h"

namespace rharness {
namespace {

constexpr double kAlpha = 0.05;
constexpr double kTolerance = 1e-4;

// The mean at which a one-sided pooled t test at kAlpha begins to call a submission faster. The
// checker bisects on p; p > alpha exactly above the closed form, so the same steps on the closed
// form end at the same number, its last half step included.
double SmallestAcceptableMean(double mean, double deviation, double n_reference,
                              double n_submission) {
  if (deviation == 0.0) return mean;
  const double t = stats::StudentTQuantile(1.0 - kAlpha, n_reference + n_submission - 2.0);
  const double exact = mean - t * deviation * std::sqrt(1.0 / n_reference + 1.0 / n_submission);
  double low = 0.0;
  double high = mean;
  while (high - low > kTolerance) {
    const double middle = (low + high) / 2.0;
    (middle > exact ? high : low) = middle;
  }
  return (low + high) / 2.0;
}

void SetLimits(const MlperfBenchmark& rules, double n_reference, RcpRecord* record) {
  // Two runs are taken off whatever the benchmark rejects, as the checker does.
  const double n_submission = rules.submission_runs - 2.0;
  record->min_mean =
      SmallestAcceptableMean(record->mean, record->standard_deviation, n_reference, n_submission);
  record->max_speedup = record->mean / record->min_mean;
}

double Interpolate(double x, double x0, double x1, double y0, double y1) {
  return (y1 - y0) / (x1 - x0) * (x - x0) + y0;
}

}  // namespace

void ComputeRcpStatistics(const MlperfBenchmark& rules, RcpRecord* record) {
  std::sort(record->counts.begin(), record->counts.end());
  const stats::Moments all = stats::ComputeMoments(record->counts);
  record->mean = stats::OlympicMean(record->counts, rules.rejected_each_side);
  record->standard_deviation = std::sqrt(all.sum_of_squares / all.count);
  SetLimits(rules, all.count - 2.0 * rules.rejected_each_side, record);
}

RcpRecord InterpolateRcp(const MlperfBenchmark& rules, std::int64_t batch_size,
                         const RcpRecord& low, const RcpRecord& high) {
  const auto x = static_cast<double>(batch_size);
  const auto x0 = static_cast<double>(low.batch_size);
  const auto x1 = static_cast<double>(high.batch_size);
  RcpRecord record;
  record.name = fmt::format("{}_interp_{}", rules.name, batch_size);
  record.batch_size = batch_size;
  record.mean = Interpolate(x, x0, x1, low.mean, high.mean);
  record.standard_deviation =
      Interpolate(x, x0, x1, low.standard_deviation, high.standard_deviation);
  SetLimits(rules, 2.0 * rules.submission_runs, &record);
  return record;
}

void PruneRcps(const MlperfBenchmark& rules, std::vector<RcpRecord>* records) {
  const auto fastest =
      std::min_element(records->begin(), records->end(),
                       [](const RcpRecord& a, const RcpRecord& b) { return a.mean < b.mean; });
  std::vector<RcpRecord*> kept;
  for (RcpRecord& record : *records) {
    record.pruned = record.batch_size < fastest->batch_size;
    if (!record.pruned) kept.push_back(&record);
  }
  // After a removal the same index is looked at again, never an earlier one, so the result is not
  // always a lower convex envelope; nor is the checker's.
  for (std::size_t i = 1; i + 1 < kept.size();) {
    const RcpRecord line = InterpolateRcp(rules, kept[i]->batch_size, *kept[i - 1], *kept[i + 1]);
    kept[i]->pruned = kept[i]->mean > line.mean;
    if (kept[i]->pruned) {
      kept.erase(kept.begin() + static_cast<std::ptrdiff_t>(i));
    } else {
      ++i;
    }
  }
}

}  // namespace rharness
