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
#include "compare/curves/replicate_band.h"
#include "harness/base/result.h"

namespace rharness {
namespace {

// A difference below this share of the smallest fault that matters is none, whatever the
// replicates do: they may be equal to the last bit for a while.
constexpr double kFloorShare = 0.01;

// A limit on |b - a| at every judged step, and what it rests on.
struct Band {
  std::vector<double> limit;  // empty: there is none
  std::string basis = "none";
  std::string rule;
  std::string source;  // in a message; or why there is no band
  double false_alarm = 0.0;
};

// The values at these steps; empty unless all are there and finite.
std::vector<double> ValuesAt(const CurveSeries& series, const std::vector<std::int64_t>& steps) {
  std::vector<double> values;
  values.reserve(steps.size());
  std::size_t i = 0;
  for (const std::int64_t step : steps) {
    while (i < series.steps.size() && series.steps[i] < step) ++i;
    if (i == series.steps.size() || series.steps[i] != step) return {};
    if (!std::isfinite(series.values[i])) return {};
    values.push_back(series.values[i]);
  }
  return values;
}

struct UsableReplicates {
  std::vector<std::vector<double>> curves;
  double quantum = 0.0;
  std::size_t incomplete = 0;
  std::size_t repeated = 0;   // equal to a or to another one: they show nothing of rounding
  std::size_t same_as_b = 0;  // equal to b: no run of its own
  std::size_t constant = 0;
};

bool AllEqual(const std::vector<double>& values) {
  return std::ranges::all_of(values, [&](double value) { return value == values.front(); });
}

UsableReplicates UsableOf(const std::vector<CurveSeries>& replicates, const Judged& judged) {
  UsableReplicates usable;
  for (const CurveSeries& replicate : replicates) {
    std::vector<double> values = ValuesAt(replicate, judged.steps);
    if (values.empty()) {
      ++usable.incomplete;
    } else if (AllEqual(values)) {
      ++usable.constant;
    } else if (values == judged.b) {
      ++usable.same_as_b;
    } else if (values == judged.a || std::find(usable.curves.begin(), usable.curves.end(),
                                               values) != usable.curves.end()) {
      ++usable.repeated;
    } else {
      usable.curves.push_back(std::move(values));
      usable.quantum = std::max(usable.quantum, replicate.quantum);
    }
  }
  return usable;
}

std::string LeftOut(const UsableReplicates& usable) {
  std::string text;
  const auto add = [&](std::size_t count, std::string_view why) {
    if (count == 0) return;
    text += fmt::format("; left out: {} {} that {}", count, count == 1 ? "replicate" : "replicates",
                        why);
  };
  add(usable.incomplete, "had no finite value on some step");
  add(usable.constant, "never changed");
  add(usable.repeated, "equalled another run to the last bit, which shows nothing of rounding");
  add(usable.same_as_b, "equalled B to the last bit, and so was no run of its own");
  return text;
}

Band BandFromReplicates(const UsableReplicates& usable, const Judged& judged,
                        const CurveRules& rules) {
  const double quantum = std::max(judged.quantum, usable.quantum);
  // Two printed values may each be off by half a unit and their difference by a whole one, which
  // binary rounding may exceed.
  const double floor = std::max({2.0 * quantum, kFloorShare * rules.smallest_fault * judged.size,
                                 std::numeric_limits<double>::min()});
  ReplicateBand replicates =
      BandOfReplicates(judged.a, usable.curves, floor, rules.false_alarm, rules.growth);
  Band band;
  band.limit = std::move(replicates.limit);
  band.basis = "replicates";
  band.false_alarm = replicates.false_alarm;
  const std::size_t count = usable.curves.size();
  band.source = fmt::format("{} runs of the same configuration", count + 1);
  band.rule = fmt::format(
      "|b - a| at most {:.3g} times the largest difference so far among {} runs "
      "of the same configuration (not below {:.2g})",
      replicates.factor, count + 1, floor);
  if (count < kConformalReplicates) {
    band.rule += fmt::format(
        "; below {} replicates the factor comes from the published spread and "
        "no rate of false alarms is stated",
        kConformalReplicates);
  } else {
    band.rule +=
        fmt::format("; false alarms at most {:.2g} for exchangeable runs", band.false_alarm);
    if (band.false_alarm > rules.false_alarm) {
      band.rule +=
          fmt::format(", about {:g} if they part alike by log-normal amounts", rules.false_alarm);
    }
  }
  band.rule += LeftOut(usable);
  return band;
}

Band BandFromGrowth(const Judged& judged, const CurveRules& rules) {
  Band band;
  const double limit = GrowthLimit(rules.growth, rules.false_alarm);
  if (!(limit > 0.0)) return band;
  for (const double value : judged.a) {
    band.limit.push_back(limit * std::fabs(value) + judged.quantum);
  }
  band.basis = "growth_model";
  band.false_alarm = rules.false_alarm;
  band.source = fmt::format("the divergence that one upgrade showed in {:g} published models",
                            rules.growth.models);
  band.rule = fmt::format(
      "|b - a| at most {} of |a| and one unit of the last printed place: the "
      "tolerance limit ({:g} of runs, confidence {:g}) of the largest "
      "divergence that one upgrade showed in {:g} published models",
      PercentText(limit), 1.0 - rules.false_alarm, kGrowthConfidence, rules.growth.models);
  return band;
}

Band BandOf(CurveKind kind, const std::vector<CurveSeries>& replicates, const Judged& judged,
            const CurveRules& rules) {
  const UsableReplicates usable = UsableOf(replicates, judged);
  if (!usable.curves.empty()) return BandFromReplicates(usable, judged, rules);
  std::string why;
  if (kind != CurveKind::kLoss) {
    why = "how far rounding carries it is published for losses alone";
  } else {
    why = OutsideRecord(rules.growth, judged.steps, judged.a);
    if (why.empty()) {
      Band band = BandFromGrowth(judged, rules);
      band.rule += LeftOut(usable);
      if (!band.limit.empty()) return band;
      why = "the rules give no limit";
    }
  }
  Band none;
  none.rule = "no band without further runs" + LeftOut(usable);
  none.source = why + LeftOut(usable) +
                "; it needs replicates: further runs as A is, or one with one ULP planted "
                "(`rharness compare --replicate`)";
  return none;
}

void Judge(const Judged& judged, Band band, CurveComparison* out) {
  out->basis = band.basis;
  out->rule = band.rule;
  if (band.limit.empty()) {
    out->state = CurveState::kUndecided;
    return;
  }
  out->false_alarm = band.false_alarm;
  out->band.assign(out->steps.size(), std::numeric_limits<double>::quiet_NaN());
  for (std::size_t i = 0; i < judged.at.size(); ++i) {
    const double ratio = std::fabs(judged.b[i] - judged.a[i]) / band.limit[i];
    out->band[judged.at[i]] = band.limit[i];
    out->statistic = std::max(out->statistic, ratio);
    if (!(ratio <= 1.0) && !out->first_beyond) out->first_beyond = judged.steps[i];
  }
  out->state = out->first_beyond ? CurveState::kBeyond : CurveState::kWithin;
}

// Why a curve that stayed within its band shows nothing by it; empty if it does.
std::string ShowsNothing(const Judged& judged, const CurveRules& rules, const CurveComparison& c) {
  if (c.state != CurveState::kWithin) return {};
  double widest = 0.0;
  for (const std::size_t at : judged.at) widest = std::max(widest, c.band[at]);
  if (widest <= rules.widest_band * judged.size) return {};
  return fmt::format(
      "it stays within a band that grows to {} of the curve's size, too wide to show anything (at "
      "most {})",
      PercentText(widest / judged.size), PercentText(rules.widest_band));
}

// The steps where `a` is not finite cannot be judged, and are no part of a pass.
std::string NotFiniteInA(const CurveComparison& c) {
  std::size_t count = 0, first = 0;
  for (std::size_t i = 0; i < c.a.size(); ++i) {
    if (std::isfinite(c.a[i])) continue;
    if (count++ == 0) first = i;
  }
  if (count == 0) return {};
  return fmt::format(
      "A is not finite on {} of {} steps, first at {}, so there is nothing to judge B by", count,
      c.a.size(), c.steps[first]);
}

// Sets state, basis, rule and all that goes with them; returns the reason for the message.
std::string Decide(const CurveSeries& a, const CurveSeries& b,
                   const std::vector<CurveSeries>& replicates, const CurveRules& rules,
                   CurveComparison* out) {
  out->basis = "none";
  // A log writes "nan" for a time that it did not take; a loss that is none has blown up.
  if (out->first_non_finite && out->kind != CurveKind::kResource) {
    out->state = CurveState::kBeyond;
    out->rule = "finite in A, so finite in B";
    return {};
  }
  const Judged judged = JudgedSteps(a, b, *out);
  auto [vacuity, reason] = VacuityOf(*out, judged, rules);
  if (!vacuity.empty()) {
    out->vacuity = std::move(vacuity);
    out->state = CurveState::kVacuous;
    out->rule = "a curve that cannot tell decides nothing";
    return reason;
  }
  if (out->differing == 0) {
    out->state = CurveState::kIdentical;
    out->basis = "bits";
    out->rule = "every aligned value equal bit for bit";
    return {};
  }
  Band band = BandOf(out->kind, replicates, judged, rules);
  reason = std::move(band.source);
  Judge(judged, std::move(band), out);
  for (const std::string& why :
       {ShowsNothing(judged, rules, *out),
        out->kind == CurveKind::kResource ? std::string() : NotFiniteInA(*out)}) {
    if (why.empty() || out->state != CurveState::kWithin) continue;
    out->state = CurveState::kUndecided;
    reason = why;
  }
  return reason;
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
  CurveComparison out;
  out.name = a.name;
  out.kind = KindOfCurve(a.name);
  AlignAndMeasure(a, b, &out);
  const std::string reason = Decide(a, b, replicates, rules, &out);
  out.message = MessageOf(out, reason);
  return out;
}

std::vector<CurveComparison> CompareCurves(const std::vector<CurveSeries>& a,
                                           const std::vector<CurveSeries>& b,
                                           const std::vector<std::vector<CurveSeries>>& replicates,
                                           const CurveRules& rules) {
  std::map<std::string_view, std::pair<const CurveSeries*, const CurveSeries*>> pairs;
  for (const CurveSeries& series : a) pairs[series.name].first = &series;
  for (const CurveSeries& series : b) pairs[series.name].second = &series;
  std::map<std::string_view, std::vector<CurveSeries>> runs;
  for (const std::vector<CurveSeries>& run : replicates) {
    for (const CurveSeries& series : run) runs[series.name].push_back(series);
  }
  std::vector<CurveComparison> out;
  for (const auto& [name, pair] : pairs) {
    if (pair.first == nullptr || pair.second == nullptr) {
      const bool in_a = pair.first != nullptr;
      out.push_back(MissingCurve(in_a ? *pair.first : *pair.second, in_a));
    } else {
      out.push_back(CompareCurve(*pair.first, *pair.second, runs[name], rules));
    }
  }
  std::stable_sort(out.begin(), out.end(), [](const auto& x, const auto& y) {
    return std::tie(x.kind, x.name) < std::tie(y.kind, y.name);
  });
  return out;
}

}  // namespace rharness
