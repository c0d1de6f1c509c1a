// Two curves: which limit applies, whether they are further apart, and pairs by name.
#include "compare/curves/curve_comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

#include "compare/curves/curve_alignment.h"
#include "compare/curves/curve_message.h"
#include "compare/curves/gross_difference.h"
#include "compare/curves/judge_curve.h"
#include "harness/base/result.h"

namespace rharness {
namespace {

constexpr std::size_t kFewestJudged = 5;

// The steps where `a` alone is not finite cannot be judged, and do not count for a pass.
std::string NotFiniteInA(const CurveComparison& c) {
  std::size_t count = 0, first = 0;
  for (std::size_t i = 0; i < c.a.size(); ++i) {
    if (std::isfinite(c.a[i]) || !std::isfinite(c.b[i])) continue;
    if (count++ == 0) first = i;
  }
  if (count == 0) return {};
  return fmt::format(
      "A alone is not finite on {} of {} steps, first at {}, so there is nothing to judge B by",
      count, c.a.size(), c.steps[first]);
}

// Sets state, basis, rule and the members that belong to them; returns the reason for the message.
std::string Decide(const CurveSeries& a, const CurveSeries& b, const FurtherCurves& further,
                   const CurveRules& rules, CurveComparison* out) {
  out->basis = "none";
  // A log writes "nan" for a time that it did not measure; a loss that is NaN has blown up.
  if (out->first_non_finite && out->kind != CurveKind::kResource && !out->stopped_after) {
    out->state = CurveState::kBeyond;
    out->rule = "finite in A, so finite in B";
    return {};
  }
  const Judged judged = JudgedSteps(a, b, *out);
  if (std::string gross = GrosslyApart(judged, further, rules, out); !gross.empty()) return gross;
  out->spread = judged.spread;
  auto [vacuity, reason] = VacuityOf(*out, judged, rules);
  if (!vacuity.empty()) {
    if (vacuity == "too_coarse" && judged.a.size() >= kFewestJudged) {
      // It passes nothing, but further runs may show that it is far off.
      CurveComparison coarse = *out;
      std::string why = JudgeByFurther(judged, further, rules, &coarse);
      if (coarse.state == CurveState::kBeyond) {
        *out = std::move(coarse);
        return why;
      }
    }
    out->vacuity = std::move(vacuity);
    out->state = CurveState::kVacuous;
    out->rule = "an uninformative curve decides nothing";
    return reason;
  }
  if (out->differing == 0) {
    out->state = CurveState::kIdentical;
    out->basis = "bits";
    out->rule = "every aligned value equal bit for bit";
    return {};
  }
  if (judged.a.size() < kFewestJudged) {
    out->state = CurveState::kUndecided;
    return fmt::format("{} values are too few to judge by; {} are needed", judged.a.size(),
                       kFewestJudged);
  }
  reason = JudgeCurve(judged, further, rules, out);
  if (out->kind == CurveKind::kResource || out->state != CurveState::kWithin) return reason;
  std::string why = NotFiniteInA(*out);
  if (out->stopped_after) {
    why = fmt::format("B's log stops after step {}, and A's goes on to step {}",
                      *out->stopped_after, out->steps.back());
  }
  if (why.empty()) return reason;
  out->state = CurveState::kUndecided;
  return why;
}

// The last step at which any of these curves is finite; empty if none is, or if the last values of
// all are finite.
std::optional<std::int64_t> StoppedAfter(const std::vector<CurveSeries>& curves) {
  std::optional<std::int64_t> last;
  bool trails = true, witness = false;
  for (const CurveSeries& series : curves) {
    std::size_t end = series.values.size();
    while (end > 0 && !std::isfinite(series.values[end - 1])) {
      // An infinity was computed, and no log that stopped.
      trails = trails && std::isnan(series.values[end - 1]);
      --end;
    }
    if (end == 0) continue;
    trails = trails && end < series.values.size();
    witness = witness || KindOfCurve(series.name) == CurveKind::kResource;
    if (!last || series.steps[end - 1] > *last) last = series.steps[end - 1];
  }
  // Losses and gradients turn NaN together. Times and memory, which do not overflow, show that the
  // log has ended, and not the training.
  return trails && witness ? last : std::nullopt;
}

CurveComparison CompareOne(const CurveSeries& whole_a, const CurveSeries& whole_b,
                           const FurtherCurves& further, const CurveRules& rules,
                           std::optional<std::int64_t> stopped_after) {
  CurveComparison out;
  out.name = whole_a.name;
  out.kind = KindOfCurve(whole_a.name);
  const std::optional<CurveSeries> fewer_a = WithoutUnlogged(whole_a);
  const std::optional<CurveSeries> fewer_b = WithoutUnlogged(whole_b);
  const CurveSeries& a = fewer_a ? *fewer_a : whole_a;
  const CurveSeries& b = fewer_b ? *fewer_b : whole_b;
  AlignAndMeasure(a, b, &out);
  if (out.first_non_finite && stopped_after && *out.first_non_finite > *stopped_after) {
    out.stopped_after = stopped_after;
  }
  const std::string reason = Decide(a, b, further, rules, &out);
  out.message = MessageOf(out, reason);
  return out;
}

CurveComparison MissingCurve(const CurveSeries& series, bool in_a) {
  CurveComparison out;
  out.name = series.name;
  out.kind = KindOfCurve(series.name);
  out.basis = "none";
  out.rule = "a curve of one side has its like on the other";
  (in_a ? out.only_a : out.only_b) = series.steps.size();
  out.message = fmt::format("{} is in {} alone.", series.name, in_a ? "A" : "B");
  return out;
}

// Pairs by name, each with its possible yardsticks.
std::vector<CurveComparison> CompareAll(
    const std::vector<CurveSeries>& a, const std::vector<CurveSeries>& b,
    const std::map<std::string, FurtherCurves, std::less<>>& further, const CurveRules& rules) {
  std::map<std::string_view, std::pair<const CurveSeries*, const CurveSeries*>> pairs;
  for (const CurveSeries& series : a) pairs[series.name].first = &series;
  for (const CurveSeries& series : b) pairs[series.name].second = &series;
  const std::optional<std::int64_t> stopped_after = StoppedAfter(b);
  // What is no loss may be many curves of one run, and one of them is enough to call it another.
  CurveRules shared = rules;
  const auto judged_by_runs = std::ranges::count_if(pairs, [&](const auto& one) {
    return KindOfCurve(one.first) == CurveKind::kMetric && one.second.first != nullptr &&
           one.second.second != nullptr && further.contains(one.first);
  });
  shared.false_alarm /= static_cast<double>(std::max<std::ptrdiff_t>(1, judged_by_runs));
  std::vector<CurveComparison> out;
  for (const auto& [name, pair] : pairs) {
    if (pair.first == nullptr || pair.second == nullptr) {
      const bool in_a = pair.first != nullptr;
      out.push_back(MissingCurve(in_a ? *pair.first : *pair.second, in_a));
    } else {
      const auto found = further.find(name);
      out.push_back(CompareOne(
          *pair.first, *pair.second, found == further.end() ? FurtherCurves() : found->second,
          KindOfCurve(name) == CurveKind::kMetric ? shared : rules, stopped_after));
    }
  }
  std::stable_sort(out.begin(), out.end(), [](const auto& x, const auto& y) {
    return std::tie(x.kind, x.name) < std::tie(y.kind, y.name);
  });
  return out;
}

}  // namespace

std::string_view CurveStateName(CurveState state) {
  switch (state) {
    case CurveState::kIdentical:
      return "identical";
    case CurveState::kWithin:
      return "within";
    case CurveState::kBeyond:
      return "beyond";
    case CurveState::kUndecided:
      return "undecided";
    case CurveState::kVacuous:
      return "vacuous";
    case CurveState::kMissing:
      return "missing";
  }
  Abort("unknown CurveState");
}

CurveComparison CompareCurve(const CurveSeries& a, const CurveSeries& b,
                             const std::vector<CurveSeries>& replicates, const CurveRules& rules) {
  return CompareOne(a, b, {.replicates = replicates, .rounding = {}, .source = {}}, rules,
                    std::nullopt);
}

std::vector<CurveComparison> CompareCurves(const std::vector<CurveSeries>& a,
                                           const std::vector<CurveSeries>& b,
                                           const std::vector<std::vector<CurveSeries>>& replicates,
                                           const CurveRules& rules) {
  std::map<std::string, FurtherCurves, std::less<>> further;
  for (const std::vector<CurveSeries>& run : replicates) {
    for (const CurveSeries& series : run) further[series.name].replicates.push_back(series);
  }
  return CompareAll(a, b, further, rules);
}

std::vector<CurveComparison> CompareRerunCurves(const std::vector<CurveSeries>& a,
                                                const std::vector<CurveSeries>& b,
                                                const RoundingRuns& rounding,
                                                const CurveRules& rules) {
  std::map<std::string, FurtherCurves, std::less<>> further;
  for (std::size_t i = 0; i < rounding.groups.size(); ++i) {
    for (const std::vector<CurveSeries>& run : rounding.groups[i]) {
      for (const CurveSeries& series : run) {
        FurtherCurves& of_name = further[series.name];
        of_name.source = rounding.source;
        of_name.rounding.resize(rounding.groups.size());
        of_name.rounding[i].push_back(series);
      }
    }
  }
  return CompareAll(a, b, further, rules);
}

}  // namespace rharness
