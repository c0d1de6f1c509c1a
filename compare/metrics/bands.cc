// Bands for a single rerun, from the history alone.
#include "compare/metrics/bands.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compare/stats/intervals.h"
#include "compare/stats/moments.h"

namespace rharness {
namespace {

constexpr double kMaxPriorDf = 30.0;
constexpr int kMostValues = 1000000;

bool IsOpenProbability(double p) { return p > 0.0 && p < 1.0; }

Status CheckValues(const std::vector<double>& values) {
  if (values.empty()) return InvalidInput("a history without values; expected one or more");
  for (const double value : values) {
    if (!std::isfinite(value)) {
      return InvalidInput(fmt::format("a historical value is {}; expected finite ones", value));
    }
  }
  return {};
}

Status CheckCoverage(double coverage, double confidence) {
  if (IsOpenProbability(coverage) && IsOpenProbability(confidence)) return {};
  return InvalidInput(fmt::format("coverage {} and confidence {}; expected both between 0 and 1",
                                  coverage, confidence));
}

// Mean, s~ and df; low, high and factor are left to the caller.
Result<Band> Describe(const BandHistory& history) {
  RETURN_IF_ERROR(CheckValues(history.values));
  const stats::Moments moments = stats::ComputeMoments(history.values);
  const bool has_prior = history.prior.df > 0.0 && history.prior.s0_squared > 0.0 &&
                         std::isfinite(history.prior.s0_squared);
  const double prior_df = has_prior ? std::min(history.prior.df, kMaxPriorDf) : 0.0;
  Band band;
  band.mean = moments.mean;
  band.df = prior_df + moments.count - 1.0;
  if (!(band.df > 0.0)) {
    return InvalidInput("one run and no family variance: how much runs differ is not known");
  }
  const double prior_sum = has_prior ? prior_df * history.prior.s0_squared : 0.0;
  const double floor = history.quantum > 0.0 && std::isfinite(history.quantum)
                           ? history.quantum * history.quantum / 12.0
                           : 0.0;
  band.standard_deviation =
      std::sqrt(std::max(floor, (prior_sum + moments.sum_of_squares) / band.df));
  if (!(band.standard_deviation > 0.0) || !std::isfinite(band.standard_deviation)) {
    return InvalidInput(
        "all historical values are equal and no quantum is stated, or they are too "
        "large to square: a band of no width would be no band");
  }
  return band;
}

Result<Band> Spread(Band band, double factor) {
  band.factor = factor;
  band.low = band.mean - factor * band.standard_deviation;
  band.high = band.mean + factor * band.standard_deviation;
  if (std::isfinite(band.low) && std::isfinite(band.high)) return band;
  return InvalidInput("the band has no finite ends for these values");
}

}  // namespace

Result<Band> SmokeBand(const BandHistory& history, int m, double alpha) {
  if (m < 1 || m > kMostValues || !IsOpenProbability(alpha)) {
    return InvalidInput(
        fmt::format("m = {} and alpha = {}; expected 1 to {} reruns and an alpha between 0 and 1",
                    m, alpha, kMostValues));
  }
  ASSIGN_OR_RETURN(Band band, Describe(history));
  band.method = "prediction";
  band.confidence = 1.0 - alpha;
  const double factor =
      stats::PredictionFactorAll(static_cast<double>(history.values.size()), m, alpha, band.df);
  return Spread(std::move(band), factor);
}

Result<Band> FrozenBand(const BandHistory& history, double coverage, double confidence) {
  RETURN_IF_ERROR(CheckCoverage(coverage, confidence));
  ASSIGN_OR_RETURN(Band band, Describe(history));
  band.method = "tolerance_howe";
  band.confidence = confidence;
  const double factor = stats::ToleranceFactorHowe(static_cast<double>(history.values.size()),
                                                   band.df, coverage, confidence);
  return Spread(std::move(band), factor);
}

Result<Band> DistributionFreeBand(const BandHistory& history, double coverage, double confidence) {
  RETURN_IF_ERROR(CheckCoverage(coverage, confidence));
  RETURN_IF_ERROR(CheckValues(history.values));
  const auto needed = stats::WilksSampleSizeTwoSided(coverage, confidence);
  const auto n = static_cast<double>(history.values.size());
  if (!needed.has_value() || n < *needed) {
    return InvalidInput(
        fmt::format("{} historical runs; the smallest and the largest of them "
                    "hold {} of all runs with confidence {} only from {} runs on",
                    n, coverage, confidence, needed.value_or(kMostValues)));
  }
  const auto [low, high] = std::minmax_element(history.values.begin(), history.values.end());
  Band band;
  band.low = *low;
  band.high = *high;
  band.mean = stats::ComputeMoments(history.values).mean;
  band.confidence = stats::WilksConfidenceTwoSided(n, coverage);
  band.method = "smallest_to_largest";
  return band;
}

}  // namespace rharness
