// Judges one pair of loss curves without further runs: would an accepted upgrade make this
// difference?
//
// Role: private to this folder but for the record. Two bases, by the kind of curve:
//   upgrades  a training loss. Runs of one seed see the same batches, so the noise of the batches
//             cancels in the difference; the rest is rounding, or the stream of random numbers that
//             an upgrade changed (dropout). Neither keeps a direction. Four questions, each scored
//             as a share of its limit: a single value (spike), the mean over a quarter, a half or
//             all (shift), the jumps from value to value beside the curve's own (batches), and
//             being ahead or behind (progress).
//   margin    any other loss: on evaluation data, or without the noise of batches. The declared
//             margin decides, by equivalence.
#ifndef RHARNESS_COMPARE_CURVES_SINGLE_PAIR_H_
#define RHARNESS_COMPARE_CURVES_SINGLE_PAIR_H_

#include <cstddef>
#include <string_view>
#include <vector>

#include "compare/curves/difference_shape.h"
#include "compare/curves/upgrade_record.h"

namespace rharness {

struct PairScores {
  double spike = 0.0;
  double shift = 0.0;
  double batches = 0.0;
  double progress = 0.0;
  std::size_t spike_at = 0;  // index of the judged step
  WindowMeans shift_window;  // where the shift is largest
  double Largest() const;
};
PairScores ScoresOf(const DifferenceShape& shape, const PairLimits& limits);

// How far the mean of a window may be off for a score of 1.
double ShiftLimit(const WindowMeans& window, const PairLimits& limits);

// How far a single value may be off at each judged step, if `score` is the limit of all scores.
std::vector<double> SpikeBand(const DifferenceShape& shape, const PairLimits& limits, double score);

// Whether the curve has noise of batches as a yardstick for a difference: a training loss by its
// name, whose own noise is more than a smooth curve's (3e-4 of it).
bool HasBatchNoise(std::string_view name, const DifferenceShape& shape);

// `from_the_start`: the first judged value is the first of the log, so the start of a stream is
// seen.
DifferenceNature NatureOf(const DifferenceShape& shape, const PairScores& scores, double limit,
                          bool from_the_start);

// By equivalence: the margin is a share of the loss. A window's mean is known to six of its
// standard errors (scatter / sqrt(length)), which covers scatter that is not independent.
enum class MarginResult { kWithin, kBeyond, kOpen };
struct MarginDecision {
  MarginResult result = MarginResult::kOpen;
  WindowMeans window;    // the one that decides
  double largest = 0.0;  // |mean| over size, and its uncertainty, of that window
  double uncertainty = 0.0;
};
MarginDecision DecideByMargin(const DifferenceShape& shape, double margin);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_CURVES_SINGLE_PAIR_H_
