// Scores of a pair, the nature of the difference, and the decision by a margin.
#include "compare/curves/single_pair.h"

#include <algorithm>
#include <cmath>

#include "compare/curves/series.h"
#include "harness/base/result.h"

namespace rharness {
namespace {

constexpr double kSmoothCurve = 3e-4;    // own noise of |a| below which there are no batches to see
constexpr double kMarginErrors = 6.0;    // standard errors of a window's mean
constexpr double kMarginSpike = 3.0;     // margins that a single value may be off
constexpr double kRoundingSpike = 2e-4;  // of |a|, largest value
constexpr double kStreamFirst = 3e-5;    // of |a|, first value: rounding starts with the last digit

// Of more values the largest is larger: a quarter more for each tenfold above 100.
double SpikeScatter(const DifferenceShape& shape, const PairLimits& limits) {
  const double values = static_cast<double>(shape.difference.size());
  return limits.spike_scatter * (1.0 + 0.25 * std::log10(std::max(1.0, values / 100.0)));
}

double SpikeLimit(const DifferenceShape& shape, const PairLimits& limits, std::size_t i,
                  double times) {
  return limits.spike_floor * shape.size[i] + times * shape.scatter[i] +
         limits.slope * shape.slope[i];
}

double LargestRelative(const DifferenceShape& shape) {
  double largest = 0.0;
  for (std::size_t i = 0; i < shape.difference.size(); ++i) {
    if (shape.difference[i] == 0.0) continue;
    largest = std::max(largest, std::fabs(shape.difference[i]) / shape.size[i]);
  }
  return largest;
}

}  // namespace

double ScoreLimit(const std::vector<UpgradeScore>& record) {
  double largest = 0.0;
  for (const UpgradeScore& upgrade : record) largest = std::max(largest, upgrade.largest);
  return record.empty() ? 1.0 : kRoomAboveRecord * largest;
}

double PairScores::Largest() const { return std::max({spike, shift, batches, progress}); }

PairScores ScoresOf(const DifferenceShape& shape, const PairLimits& limits) {
  PairScores scores;
  const double times = SpikeScatter(shape, limits);
  for (std::size_t i = 0; i < shape.difference.size(); ++i) {
    const double score = std::fabs(shape.difference[i]) / SpikeLimit(shape, limits, i, times);
    if (score <= scores.spike) continue;
    scores.spike = score;
    scores.spike_at = i;
  }
  for (const WindowMeans& window : WindowsOf(shape)) {
    const double score = std::fabs(window.difference) / ShiftLimit(window, limits);
    if (score <= scores.shift) continue;
    scores.shift = score;
    scores.shift_window = window;
  }
  scores.batches = shape.largest_scatter /
                   (limits.batches * shape.own_noise + limits.batches_floor * shape.typical_size);
  if (shape.progress_error > 0.0) {
    scores.progress = std::fabs(shape.progress) /
                      (limits.progress + limits.progress_errors * shape.progress_error);
  }
  return scores;
}

double ShiftLimit(const WindowMeans& window, const PairLimits& limits) {
  return limits.shift_floor * window.size + limits.shift_scatter * window.scatter +
         limits.slope * window.slope;
}

std::vector<double> SpikeBand(const DifferenceShape& shape, const PairLimits& limits,
                              double score) {
  std::vector<double> band(shape.difference.size());
  const double times = SpikeScatter(shape, limits);
  for (std::size_t i = 0; i < band.size(); ++i) {
    band[i] = score * SpikeLimit(shape, limits, i, times);
  }
  return band;
}

bool HasBatchNoise(std::string_view name, const DifferenceShape& shape) {
  return !IsEvaluationName(name) && shape.own_noise > kSmoothCurve * shape.typical_size;
}

std::string_view DifferenceNatureName(DifferenceNature nature) {
  switch (nature) {
    case DifferenceNature::kNone:
      return "";
    case DifferenceNature::kRounding:
      return "rounding";
    case DifferenceNature::kNewStream:
      return "new_stream";
    case DifferenceNature::kOtherBatches:
      return "other_batches";
    case DifferenceNature::kShifted:
      return "shifted";
    case DifferenceNature::kProgress:
      return "progress";
    case DifferenceNature::kSpike:
      return "spike";
  }
  Abort("unknown DifferenceNature");
}

DifferenceNature NatureOf(const DifferenceShape& shape, const PairScores& scores, double limit,
                          bool from_the_start) {
  if (scores.Largest() > limit) {
    // Being ahead explains a shift, and a shift does not explain jumps; of a single value and a
    // mean that it moved, the one that is further off.
    if (scores.batches > limit) return DifferenceNature::kOtherBatches;
    if (scores.progress > limit && scores.spike < scores.progress) {
      return DifferenceNature::kProgress;
    }
    return scores.shift > scores.spike ? DifferenceNature::kShifted : DifferenceNature::kSpike;
  }
  const double first = std::fabs(shape.difference.front()) / shape.size.front();
  if (from_the_start && first > kStreamFirst) return DifferenceNature::kNewStream;
  return LargestRelative(shape) <= kRoundingSpike ? DifferenceNature::kRounding
                                                  : DifferenceNature::kNone;
}

MarginDecision DecideByMargin(const DifferenceShape& shape, double margin) {
  MarginDecision decision;
  bool within = true, beyond = false;
  double worst = -1.0;
  for (const WindowMeans& window : WindowsOf(shape)) {
    const double shift = std::fabs(window.difference) / window.size;
    const double error = kMarginErrors * window.scatter /
                         std::sqrt(static_cast<double>(window.length)) / window.size;
    const double steep = PairLimits{}.slope * window.slope / window.size;
    within = within && shift + error <= margin;
    beyond = beyond || shift - error - steep > margin;
    if (shift <= worst) continue;
    worst = shift;
    decision.window = window;
    decision.largest = shift;
    decision.uncertainty = error;
  }
  for (std::size_t i = 0; i < shape.difference.size(); ++i) {
    const double off = std::fabs(shape.difference[i]);
    beyond = beyond || off > kMarginSpike * margin * shape.size[i] +
                                 PairLimits{}.spike_scatter * shape.scatter[i] +
                                 PairLimits{}.slope * shape.slope[i];
    within = within && off <= kMarginSpike * margin * shape.size[i];
  }
  decision.result = beyond   ? MarginResult::kBeyond
                    : within ? MarginResult::kWithin
                             : MarginResult::kOpen;
  return decision;
}

}  // namespace rharness
