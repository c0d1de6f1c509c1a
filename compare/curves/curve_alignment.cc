// Alignment by step, differences without a limit, vacuity.
#include "compare/curves/curve_alignment.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "compare/curves/curve_message.h"

namespace rharness {
namespace {

bool SameBits(double x, double y) {
  return std::bit_cast<std::uint64_t>(x) == std::bit_cast<std::uint64_t>(y) ||
         (std::isnan(x) && std::isnan(y));
}

void Align(const CurveSeries& a, const CurveSeries& b, CurveComparison* out) {
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < a.steps.size() && j < b.steps.size()) {
    if (a.steps[i] < b.steps[j]) {
      ++out->only_a;
      ++i;
    } else if (b.steps[j] < a.steps[i]) {
      ++out->only_b;
      ++j;
    } else {
      out->steps.push_back(a.steps[i]);
      out->a.push_back(a.values[i++]);
      out->b.push_back(b.values[j++]);
    }
  }
  out->only_a += a.steps.size() - i;
  out->only_b += b.steps.size() - j;
}

void Measure(CurveComparison* out) {
  bool seen = false;
  for (std::size_t i = 0; i < out->steps.size(); ++i) {
    const double a = out->a[i];
    const double b = out->b[i];
    if (SameBits(a, b)) continue;
    ++out->differing;
    if (!out->first_difference) out->first_difference = out->steps[i];
    if (!std::isfinite(a)) continue;
    if (!std::isfinite(b)) {
      if (!out->first_non_finite) out->first_non_finite = out->steps[i];
      continue;
    }
    const double difference = std::fabs(b - a);
    const double relative = difference == 0.0 ? 0.0 : difference / std::fabs(a);
    out->max_abs = std::max(out->max_abs, difference);
    if (!seen || relative > out->max_rel) {
      out->max_rel = relative;
      out->max_step = out->steps[i];
      seen = true;
    }
  }
}

// Zeros say nothing of the size of a curve that touches or crosses 0; only if all values are 0 is
// the result 0.
double TypicalSize(const std::vector<double>& values) {
  std::vector<double> sizes;
  sizes.reserve(values.size());
  for (const double value : values) {
    if (value != 0.0) sizes.push_back(std::fabs(value));
  }
  if (sizes.empty()) return 0.0;
  const auto middle = sizes.begin() + static_cast<std::ptrdiff_t>(sizes.size() / 2);
  std::nth_element(sizes.begin(), middle, sizes.end());
  return *middle;
}

bool IsConstant(const std::vector<double>& values) {
  return std::all_of(values.begin(), values.end(), [&](double v) { return v == values[0]; });
}

}  // namespace

void AlignAndMeasure(const CurveSeries& a, const CurveSeries& b, CurveComparison* out) {
  Align(a, b, out);
  Measure(out);
}

Judged JudgedSteps(const CurveSeries& a, const CurveSeries& b, const CurveComparison& aligned) {
  Judged judged;
  for (std::size_t i = 0; i < aligned.steps.size(); ++i) {
    if (!std::isfinite(aligned.a[i]) || !std::isfinite(aligned.b[i])) continue;
    judged.at.push_back(i);
    judged.steps.push_back(aligned.steps[i]);
    judged.a.push_back(aligned.a[i]);
    judged.b.push_back(aligned.b[i]);
  }
  judged.quantum = std::max(a.quantum, b.quantum);
  judged.size = TypicalSize(judged.a);
  if (judged.size == 0.0) judged.size = TypicalSize(judged.b);
  return judged;
}

std::pair<std::string, std::string> VacuityOf(const CurveComparison& aligned, const Judged& judged,
                                              const CurveRules& rules) {
  if (!aligned.steps.empty() && judged.steps.empty()) {
    return {"not_finite", fmt::format("on none of {} aligned steps is it finite on both sides",
                                      aligned.steps.size())};
  }
  if (std::cmp_less(judged.steps.size(), std::max(rules.min_steps, 1))) {
    return {"too_short", fmt::format("{} aligned steps with finite values; {} are needed",
                                     judged.steps.size(), std::max(rules.min_steps, 1))};
  }
  if (IsConstant(judged.a) && IsConstant(judged.b)) {
    return {"constant",
            judged.a[0] == judged.b[0]
                ? fmt::format("it is {} throughout", judged.a[0])
                : fmt::format("it is {} throughout in A and {} in B", judged.a[0], judged.b[0])};
  }
  const double smallest = rules.smallest_fault * judged.size;
  if (judged.quantum > smallest) {
    return {"too_coarse",
            fmt::format("its last printed place is {:g}, and a fault of {} is a difference of "
                        "{:.2g}",
                        judged.quantum, PercentText(rules.smallest_fault), smallest)};
  }
  return {};
}

}  // namespace rharness
