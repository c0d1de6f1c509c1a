// Faults of a training run, planted into a published loss curve.
//
// A fault of progress (learning rate, lost step, lost warm-up) moves the trend along a warped time
// and leaves the noise of the batches where it is, because the batches are the same:
// v'(t) = v(t) + f(warp(t)) - f(t), with f a smooth fit of the curve. The result is rounded to the
// digits of the log.
#ifndef RHARNESS_TESTS_COMPARE_CURVES_PLANTED_FAULTS_H_
#define RHARNESS_TESTS_COMPARE_CURVES_PLANTED_FAULTS_H_

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "compare/curves/series.h"

namespace rharness {

// Local linear regression with a Gaussian kernel of 10 steps; linear beyond the ends.
class SmoothTrend {
 public:
  explicit SmoothTrend(const CurveSeries& series) : series_(series) {}

  double At(double step) const {
    double w0 = 0.0, w1 = 0.0, w2 = 0.0, y0 = 0.0, y1 = 0.0;
    for (std::size_t i = 0; i < series_.steps.size(); ++i) {
      const double x = static_cast<double>(series_.steps[i]) - step;
      const double weight = std::exp(-0.5 * x * x / 100.0);
      w0 += weight;
      w1 += weight * x;
      w2 += weight * x * x;
      y0 += weight * series_.values[i];
      y1 += weight * x * series_.values[i];
    }
    return (w2 * y0 - w1 * y1) / (w0 * w2 - w1 * w1);
  }

 private:
  const CurveSeries& series_;
};

inline double Printed(double value, double quantum) {
  return quantum > 0.0 ? std::round(value / quantum) * quantum : value;
}

// From step `from` on the loss is off by `relative`.
inline CurveSeries PlantOffset(CurveSeries series, std::int64_t from, double relative) {
  for (std::size_t i = 0; i < series.steps.size(); ++i) {
    if (series.steps[i] < from) continue;
    series.values[i] = Printed(series.values[i] * (1.0 + relative), series.quantum);
  }
  return series;
}

// The offset grows from none at the first value to all of it at the last.
inline CurveSeries PlantGrowing(CurveSeries series, double relative) {
  const double last = static_cast<double>(series.values.size()) - 1.0;
  for (std::size_t i = 0; i < series.values.size(); ++i) {
    const double share = static_cast<double>(i) / last;
    series.values[i] = Printed(series.values[i] * (1.0 + share * relative), series.quantum);
  }
  return series;
}

// One value is off, in the middle.
inline CurveSeries PlantSpike(CurveSeries series, double relative) {
  double& value = series.values[series.values.size() / 2];
  value = Printed(value * (1.0 + relative), series.quantum);
  return series;
}

template <class Warp>
CurveSeries PlantWarp(const CurveSeries& series, const Warp& warp) {
  const SmoothTrend trend(series);
  CurveSeries out = series;
  for (std::size_t i = 0; i < series.steps.size(); ++i) {
    const double step = static_cast<double>(series.steps[i]);
    const double moved = trend.At(warp(step)) - trend.At(step);
    out.values[i] = Printed(series.values[i] + moved, series.quantum);
  }
  return out;
}

// From step `from` on the learning rate is lower by `share`, so progress is slower by as much.
inline CurveSeries PlantSlip(const CurveSeries& series, std::int64_t from, double share) {
  const double start = static_cast<double>(from);
  return PlantWarp(series, [=](double t) { return t <= start ? t : t - share * (t - start); });
}

// The update of step `from` is lost: every later step is one behind.
inline CurveSeries PlantStuckStep(const CurveSeries& series, std::int64_t from) {
  const double start = static_cast<double>(from);
  return PlantWarp(series, [=](double t) { return t <= start ? t : t - 1.0; });
}

// A linear warm-up over `length` steps is lost. With it progress at step t is t^2 / (2 length) up
// to `length` and t - length / 2 after; without it t.
inline CurveSeries PlantLostWarmup(const CurveSeries& series, double length) {
  return PlantWarp(series, [=](double t) {
    return t < 0.5 * length ? std::sqrt(2.0 * length * t) : t + 0.5 * length;
  });
}

}  // namespace rharness

#endif  // RHARNESS_TESTS_COMPARE_CURVES_PLANTED_FAULTS_H_
