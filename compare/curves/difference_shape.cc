// Robust numbers of a difference: scatter, own noise, slopes, progress.
#include "compare/curves/difference_shape.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <utility>

namespace rharness {
namespace {

constexpr double kNormal = 1.4826;           // of a standard deviation over the median of |values|
constexpr double kSmallestShare = 0.01;      // of the largest |a|: smaller values count as this
constexpr std::size_t kBlocks = 8;           // of curves that are long enough
constexpr std::size_t kFewestOfBlocks = 64;  // values
constexpr std::size_t kFewestOfHalf = 5;     // values
constexpr std::size_t kWidestKernel = 64;    // values to each side

double Median(std::vector<double> values) {
  if (values.empty()) return 0.0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return 0.5 * (*middle + *std::max_element(values.begin(), middle));
}

std::vector<double> Differences(std::vector<double> values, int times) {
  for (int i = 0; i < times; ++i) {
    std::adjacent_difference(values.begin(), values.end(), values.begin());
    values.erase(values.begin());
  }
  return values;
}

// Of the values [first, last).
double ScatterOf(const std::vector<double>& values, std::size_t first, std::size_t last) {
  std::vector<double> part(values.begin() + static_cast<std::ptrdiff_t>(first),
                           values.begin() + static_cast<std::ptrdiff_t>(last));
  if (part.size() < 2) return 0.0;
  return RobustSize(Differences(std::move(part), 1)) / std::sqrt(2.0);
}

void SetScatter(double quantum, DifferenceShape* shape) {
  const std::vector<double>& d = shape->difference;
  const std::size_t n = d.size();
  const std::size_t half = n / 2;
  shape->typical_scatter = std::max(ScatterOf(d, 0, n), quantum / std::sqrt(6.0));
  shape->largest_scatter = shape->typical_scatter;
  // The first part includes the first value of the second.
  if (half + 1 >= kFewestOfHalf) {
    shape->largest_scatter = std::max(shape->largest_scatter, ScatterOf(d, 0, half + 1));
  }
  if (n - half >= kFewestOfHalf) {
    shape->largest_scatter = std::max(shape->largest_scatter, ScatterOf(d, half, n));
  }
  shape->scatter.assign(n, shape->typical_scatter);
  if (n < kFewestOfBlocks) return;
  for (std::size_t block = 0; block < kBlocks; ++block) {
    const std::size_t first = block * n / kBlocks, last = (block + 1) * n / kBlocks;
    const double scatter = std::max(ScatterOf(d, first, last), shape->typical_scatter);
    std::fill(shape->scatter.begin() + static_cast<std::ptrdiff_t>(first),
              shape->scatter.begin() + static_cast<std::ptrdiff_t>(last), scatter);
  }
}

double OwnNoise(const std::vector<double>& a) {
  // Binomial sums of squares: 1 + 4 + 1 and 1 + 16 + 36 + 16 + 1.
  if (a.size() < 9) return RobustSize(Differences(a, 2)) / std::sqrt(6.0);
  return RobustSize(Differences(a, 4)) / std::sqrt(70.0);
}

std::vector<double> SlopesOf(const std::vector<double>& a) {
  std::vector<double> slopes(a.size(), 0.0);
  for (std::size_t i = 0; i < a.size(); ++i) {
    const std::size_t before = i == 0 ? 0 : i - 1, after = std::min(i + 1, a.size() - 1);
    slopes[i] = std::fabs(a[after] - a[before]) / static_cast<double>(after - before);
  }
  return slopes;
}

// The slope per step of the trend of `a` at step i.
double TrendSlope(const Judged& judged, std::size_t i, double width) {
  const auto step = [&](std::size_t j) { return static_cast<double>(judged.steps[j]); };
  double w0 = 0.0, w1 = 0.0, w2 = 0.0, y0 = 0.0, y1 = 0.0;
  const auto add = [&](std::size_t j) {
    const double x = (step(j) - step(i)) / width;
    if (std::fabs(x) > 4.0) return false;
    const double weight = std::exp(-0.5 * x * x);
    // The value at i as the origin: a large level would cancel the digits of a small slope.
    const double y = judged.a[j] - judged.a[i];
    w0 += weight;
    w1 += weight * x;
    w2 += weight * x * x;
    y0 += weight * y;
    y1 += weight * x * y;
    return true;
  };
  for (std::size_t j = i; j < std::min(judged.a.size(), i + kWidestKernel) && add(j); ++j) {
  }
  for (std::size_t j = i; j-- > (i > kWidestKernel ? i - kWidestKernel : 0) && add(j);) {
  }
  const double determinant = w0 * w2 - w1 * w1;
  return determinant > 0.0 ? (w0 * y1 - w1 * y0) / determinant / width : 0.0;
}

void SetProgress(const Judged& judged, DifferenceShape* shape) {
  std::vector<double> intervals;
  for (std::size_t i = 1; i < judged.steps.size(); ++i) {
    intervals.push_back(static_cast<double>(judged.steps[i] - judged.steps[i - 1]));
  }
  const double width = 2.0 * Median(std::move(intervals));
  std::vector<double> ahead(judged.steps.size());
  double square = 0.0, product = 0.0;
  for (std::size_t i = 0; i < ahead.size(); ++i) {
    ahead[i] =
        static_cast<double>(judged.steps[i] - judged.steps.front()) * TrendSlope(judged, i, width);
    square += ahead[i] * ahead[i];
    product += ahead[i] * shape->difference[i];
  }
  if (!(square > 0.0) || !std::isfinite(square)) return;
  shape->progress = product / square;
  std::vector<double> residual(ahead.size());
  for (std::size_t i = 0; i < ahead.size(); ++i) {
    residual[i] = shape->difference[i] - shape->progress * ahead[i];
  }
  const double middle = Median(residual);
  for (double& value : residual) value -= middle;
  shape->progress_error =
      std::max(RobustSize(std::move(residual)), shape->typical_scatter) / std::sqrt(square);
}

}  // namespace

double RobustSize(std::vector<double> values) {
  for (double& value : values) value = std::fabs(value);
  return kNormal * Median(std::move(values));
}

DifferenceShape ShapeOf(const Judged& judged) {
  DifferenceShape shape;
  double largest = 0.0;
  for (const double value : judged.a) largest = std::max(largest, std::fabs(value));
  for (std::size_t i = 0; i < judged.a.size(); ++i) {
    shape.difference.push_back(judged.b[i] - judged.a[i]);
    shape.size.push_back(judged.spread > 0.0
                             ? judged.spread
                             : std::max(std::fabs(judged.a[i]), kSmallestShare * largest));
  }
  shape.slope = SlopesOf(judged.a);
  shape.typical_size = Median(shape.size);
  shape.own_noise = OwnNoise(judged.a);
  SetScatter(judged.quantum, &shape);
  SetProgress(judged, &shape);
  return shape;
}

std::vector<WindowMeans> WindowsOf(const DifferenceShape& shape) {
  const std::size_t n = shape.difference.size();
  std::vector<std::size_t> lengths = {std::max<std::size_t>(3, n / 4),
                                      std::max<std::size_t>(3, n / 2), n};
  lengths.erase(std::unique(lengths.begin(), lengths.end()), lengths.end());
  std::vector<WindowMeans> windows;
  for (const std::size_t length : lengths) {
    WindowMeans sum{.length = length};
    for (std::size_t i = 0; i < n; ++i) {
      const auto add = [&](std::size_t at, double sign) {
        sum.difference += sign * shape.difference[at];
        sum.size += sign * shape.size[at];
        sum.slope += sign * shape.slope[at];
        sum.scatter += sign * shape.scatter[at];
      };
      add(i, 1.0);
      if (i >= length) add(i - length, -1.0);
      if (i + 1 < length) continue;
      const double count = static_cast<double>(length);
      windows.push_back({i + 1 - length, length, sum.difference / count, sum.size / count,
                         sum.slope / count, sum.scatter / count});
    }
  }
  return windows;
}

}  // namespace rharness
