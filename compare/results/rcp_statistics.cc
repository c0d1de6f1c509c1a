// The arithmetic of the official RCP checker.
#include "compare/results/rcp_statistics.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include "compare/stats/distributions.h"

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
  // Two runs are removed whatever the benchmark rejects, as in the checker.
  const double n_submission = rules.submission_runs - 2.0;
  record->min_mean =
      SmallestAcceptableMean(record->mean, record->standard_deviation, n_reference, n_submission);
  record->max_speedup = record->mean / record->min_mean;
}

// Population formula over all values.
double DeviationAsChecked(const std::vector<double>& values) {
  const auto n = static_cast<double>(values.size());
  const double mean = NumpySum(values) / n;
  std::vector<double> squares = values;
  for (double& value : squares) value = (value - mean) * (value - mean);
  return std::sqrt(NumpySum(squares) / n);
}

double Interpolate(double x, double x0, double x1, double y0, double y1) {
  return (y1 - y0) / (x1 - x0) * (x - x0) + y0;
}

}  // namespace

double NumpySum(std::span<const double> values) {
  constexpr std::size_t kLanes = 8;
  constexpr std::size_t kBlock = 128;
  const std::size_t n = values.size();
  if (n > kBlock) {
    const std::size_t half = n / 2 - n / 2 % kLanes;
    return NumpySum(values.first(half)) + NumpySum(values.subspan(half));
  }
  double sum = 0.0;
  std::size_t at = 0;
  if (n >= kLanes) {
    std::array<double, kLanes> lanes{};
    for (; at + kLanes <= n; at += kLanes) {
      for (std::size_t i = 0; i < kLanes; ++i) lanes[i] += values[at + i];
    }
    sum = ((lanes[0] + lanes[1]) + (lanes[2] + lanes[3])) +
          ((lanes[4] + lanes[5]) + (lanes[6] + lanes[7]));
  }
  for (; at < n; ++at) sum += values[at];
  return sum;
}

double OlympicMeanAsChecked(std::vector<double> values, int rejected) {
  std::sort(values.begin(), values.end());
  const auto each = static_cast<std::size_t>(rejected);
  const std::span<const double> rest =
      std::span<const double>(values).subspan(each, values.size() - 2 * each);
  return NumpySum(rest) / static_cast<double>(rest.size());
}

void ComputeRcpStatistics(const MlperfBenchmark& rules, RcpRecord* record) {
  std::sort(record->counts.begin(), record->counts.end());
  record->mean = OlympicMeanAsChecked(record->counts, rules.rejected_each_side);
  record->standard_deviation = DeviationAsChecked(record->counts);
  const auto n = static_cast<double>(record->counts.size());
  SetLimits(rules, n - 2.0 * rules.rejected_each_side, record);
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
