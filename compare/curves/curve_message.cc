// Sentences about two curves.
#include "compare/curves/curve_message.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace rharness {
namespace {

// Index of a step that is known to be there.
std::size_t IndexOf(const CurveComparison& c, std::int64_t step) {
  return static_cast<std::size_t>(std::lower_bound(c.steps.begin(), c.steps.end(), step) -
                                  c.steps.begin());
}

// Enough digits to show the difference, and six at least.
std::string ValuesText(double a, double b) {
  std::string one;
  std::string other;
  for (int digits = 6; digits <= 17; ++digits) {
    one = fmt::format("{:.{}g}", a, digits);
    other = fmt::format("{:.{}g}", b, digits);
    if (one != other) break;
  }
  return fmt::format("{} in A, {} in B", one, other);
}

std::string PairAt(const CurveComparison& c, std::int64_t step) {
  const std::size_t i = IndexOf(c, step);
  return ValuesText(c.a[i], c.b[i]);
}

std::string Coverage(const CurveComparison& c) {
  if (c.only_a == 0 && c.only_b == 0) return {};
  return fmt::format(" {} and {} further steps are in A or B alone.", c.only_a, c.only_b);
}

std::string FirstText(const CurveComparison& c) {
  if (!c.first_difference) return {};
  return fmt::format("first differs at step {} ({})", *c.first_difference,
                     PairAt(c, *c.first_difference));
}

std::string BeyondText(const CurveComparison& c, std::string_view reason) {
  const std::size_t i = IndexOf(c, *c.first_beyond);
  const std::string there =
      c.first_beyond == c.first_difference
          ? std::string()
          : fmt::format("; from step {} ({})", *c.first_beyond, PairAt(c, *c.first_beyond));
  return fmt::format("{} {}{}: {}.", c.name, FirstText(c), i < c.steps.size() ? there : "", reason);
}

std::string DifferText(const CurveComparison& c) {
  // At its zeros a curve that crosses 0 is off by any share.
  const bool relative = c.spread == 0.0 && std::isfinite(c.max_rel) && c.max_rel > 0.0;
  return fmt::format("{} {} and is apart by {} at most{}", c.name, FirstText(c),
                     relative ? PercentText(c.max_rel) : fmt::format("{:.3g}", c.max_abs),
                     relative ? fmt::format(" (step {})", c.max_step) : std::string());
}

}  // namespace

std::string PercentText(double relative) {
  const double percent = 100.0 * relative;
  // Two digits, but no exponent in the range where people write none.
  if (percent >= 99.5 && percent < 1e6) return fmt::format("{:.0f} %", percent);
  return fmt::format("{:.2g} %", percent);
}

std::string InvisibleWords(const CurveComparison& c) {
  if (!(c.invisible > 0.0)) return {};
  return fmt::format("; a lasting shift below {} would not show", PercentText(c.invisible));
}

std::string MessageOf(const CurveComparison& c, std::string_view reason) {
  switch (c.state) {
    case CurveState::kIdentical:
      return fmt::format("{} is equal bit for bit {} {} aligned steps{}.{}", c.name,
                         c.subsampled ? "at the" : "on all", c.steps.size(),
                         c.subsampled ? ", which cover both logs" : "", Coverage(c));
    case CurveState::kWithin:
      return fmt::format("{}: {}.{}", DifferText(c), reason, Coverage(c));
    case CurveState::kBeyond:
      if (c.first_non_finite) {
        return fmt::format("{} is finite in A and not in B at step {} ({}).{}", c.name,
                           *c.first_non_finite, PairAt(c, *c.first_non_finite), Coverage(c));
      }
      return BeyondText(c, reason) + Coverage(c);
    case CurveState::kUndecided:
      return fmt::format("{}; {}.{}", DifferText(c), reason, Coverage(c));
    case CurveState::kVacuous:
      return fmt::format("{} cannot tell: {}.{}", c.name, reason, Coverage(c));
    case CurveState::kMissing:
      return fmt::format("{} is in {} alone.", c.name, c.only_a > 0 ? "A" : "B");
  }
  return {};
}

}  // namespace rharness
