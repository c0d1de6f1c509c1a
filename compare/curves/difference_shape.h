// Describes the difference of two curves in numbers that need no limit.
//
// Role: private to this folder, pure. Every number is in units of the curve or relative to it;
// single_pair.h decides which are large.
#ifndef RHARNESS_COMPARE_CURVES_DIFFERENCE_SHAPE_H_
#define RHARNESS_COMPARE_CURVES_DIFFERENCE_SHAPE_H_

#include <cstddef>
#include <vector>

#include "compare/curves/curve_alignment.h"

namespace rharness {

// 1.4826 times the median of |values|: the standard deviation, where most are normal about 0. 0 for
// none.
double RobustSize(std::vector<double> values);

struct DifferenceShape {
  std::vector<double> difference;  // b - a, one a judged step
  // |a|, and at least a hundredth of the largest: the base of "relative". For a curve that crosses
  // 0 its spread, throughout.
  std::vector<double> size;
  std::vector<double> slope;  // |change of a by one logged value|, mean of the two sides
  // How much the difference jumps from one value to the next: RobustSize of its first differences
  // over sqrt(2), over all values and, from 64 values on, over each eighth if that is larger. At
  // least the effect of printing, quantum / sqrt(6).
  std::vector<double> scatter;
  double typical_scatter = 0.0;  // of all values
  double largest_scatter = 0.0;  // of all, of the first half or of the second
  // The same for a itself without its trend: RobustSize of its fourth differences over sqrt(70), of
  // the second over sqrt(6) below 9 values. For a training loss this is the noise of its batches.
  double own_noise = 0.0;
  double typical_size = 0.0;  // median of size
  // Treats b as a that is ahead or behind by a share of its steps: the least-squares share of
  // (step - first step) * trend slope in the difference, negative where b is behind, and its
  // standard error from the residual's RobustSize. Error 0: the curve has no trend.
  double progress = 0.0;
  double progress_error = 0.0;
};

// At least 5 judged steps. The trend's slope is that of a local linear regression with a Gaussian
// kernel of two median intervals (Cleveland and Loader 1996). O(n).
DifferenceShape ShapeOf(const Judged& judged);

// Calls `visit` for the windows of some lengths: first index, length, mean of the difference, of
// size, of slope and of scatter.
struct WindowMeans {
  std::size_t first = 0;
  std::size_t length = 0;
  double difference = 0.0;
  double size = 0.0;
  double slope = 0.0;
  double scatter = 0.0;
};
// Every window of a quarter of the values (3 at least), of a half, and all of them. O(n).
std::vector<WindowMeans> WindowsOf(const DifferenceShape& shape);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_CURVES_DIFFERENCE_SHAPE_H_
