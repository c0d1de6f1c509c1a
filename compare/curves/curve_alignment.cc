// Alignment by step, differences without a limit, vacuity.
#include "compare/curves/curve_alignment.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "compare/curves/curve_message.h"
#include "compare/metrics/decision.h"

namespace rharness {
namespace {

bool SameBits(double x, double y) {
  return std::bit_cast<std::uint64_t>(x) == std::bit_cast<std::uint64_t>(y) ||
         (std::isnan(x) && std::isnan(y));
}

// A stand-in for an infinity is one.
double Stored(double value) {
  if (IsMeasured(value) || !std::isfinite(value)) return value;
  return std::copysign(std::numeric_limits<double>::infinity(), value);
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
      out->a.push_back(Stored(a.values[i++]));
      out->b.push_back(Stored(b.values[j++]));
    }
  }
  out->only_a += a.steps.size() - i;
  out->only_b += b.steps.size() - j;
  if (out->steps.empty() || out->only_a + out->only_b == 0) return;
  out->subsampled = CoverAlike(out->steps, std::min(a.steps.front(), b.steps.front()),
                               std::max(a.steps.back(), b.steps.back()));
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

// Zeros do not show the size of a curve that touches or crosses 0; only if all values are 0 is the
// result 0.
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

std::optional<CurveSeries> WithoutUnlogged(const CurveSeries& series) {
  constexpr std::size_t kFewestLogged = 5;
  CurveSeries logged{series.name, {}, {}, series.quantum};
  std::size_t stride = 0, last = 0, first_gap = 0;
  for (std::size_t i = 0; i < series.values.size(); ++i) {
    if (std::isnan(series.values[i])) continue;
    if (std::isinf(series.values[i])) return std::nullopt;
    // The first step is often logged beside the regular ones.
    if (logged.steps.size() >= 3 && i - last != stride) return std::nullopt;
    if (!logged.steps.empty()) stride = i - last;
    if (logged.steps.size() == 1) first_gap = stride;
    last = i;
    logged.steps.push_back(series.steps[i]);
    logged.values.push_back(series.values[i]);
  }
  if (stride < 2 || logged.steps.size() < kFewestLogged) return std::nullopt;
  const bool whole = first_gap <= stride && last + stride >= series.values.size() &&
                     logged.steps.front() <= series.steps[stride - 1];
  return whole ? std::optional(std::move(logged)) : std::nullopt;
}

bool CoverAlike(const std::vector<std::int64_t>& common, std::int64_t first, std::int64_t last) {
  if (common.size() < 3) return false;
  // As doubles: the distance of steps has no limit.
  const auto apart = [](std::int64_t from, std::int64_t to) {
    return static_cast<double>(to) - static_cast<double>(from);
  };
  const auto gap = [&](std::size_t i) { return apart(common[i], common[i + 1]); };
  constexpr double kAlike = 1.5;
  if (gap(0) >= kAlike * gap(1)) return false;
  double longest = gap(0);
  for (std::size_t i = 1; i + 1 < common.size(); ++i) {
    if (gap(i) >= kAlike * longest) return false;
    longest = std::max(longest, gap(i));
  }
  return apart(first, common.front()) <= longest && apart(common.back(), last) < longest;
}

bool CrossesZero(const std::vector<double>& values) {
  constexpr double kCounts = 0.01;  // of the typical size
  double above = 0.0, below = 0.0;
  for (const double value : values) {
    above = std::max(above, value);
    below = std::max(below, -value);
  }
  return std::min(above, below) > kCounts * TypicalSize(values);
}

double SpreadOfValues(std::vector<double> values) {
  if (values.empty()) return 0.0;
  std::ranges::sort(values);
  const std::size_t cut = values.size() / 20;
  return values[values.size() - 1 - cut] - values[cut];
}

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
  judged.from_first = !judged.at.empty() && judged.at.front() == 0 &&
                      a.steps.front() == b.steps.front() && !aligned.MissesSteps();
  if (!CrossesZero(judged.a) && !CrossesZero(judged.b)) return judged;
  judged.spread = SpreadOfValues(judged.a);
  if (judged.spread == 0.0) judged.spread = SpreadOfValues(judged.b);
  if (judged.spread > 0.0) judged.size = judged.spread;
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
  if (IsConstant(judged.a) && judged.a[0] == 0.0 && !IsConstant(judged.b)) {
    return {"constant", "it is 0 throughout in A, which is nothing to measure B by"};
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
