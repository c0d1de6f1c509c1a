// One run of a family: compared with its own record, and with how far the others moved.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include "compare/metrics/paired_parts.h"
#include "compare/stats/distributions.h"
#include "compare/stats/equivalence.h"
#include "compare/stats/moments.h"
#include "compare/stats/power.h"

namespace rharness::paired {
namespace {

// A run is one of its family unless that is doubtful at this rate over the family.
constexpr double kDoubtAlpha = 0.05;

// The yardsticks of the run, and the result before any verdict.
struct Held {
  double difference = 0.0;
  bool equal = false;
  bool apart = false;
  double others = 0.0;  // units that the spread is of
  bool fits = false;    // the others' differences, or its margin, allow this one
};

MetricDecision Describe(const PairedInput& input, const PairedRun& run) {
  MetricDecision decision;
  decision.name = input.name;
  decision.unit = input.unit;
  decision.primary = input.primary;
  decision.history = {run.recorded};
  decision.reruns = run.reruns;
  decision.recorded = run.recorded;
  decision.mean_history = run.recorded;
  decision.variance_basis = "none";
  decision.alpha_drift = input.alpha_drift;
  decision.alpha_equivalence =
      run.reruns.size() == 1 ? input.alpha_equivalence / 2.0 : input.alpha_equivalence;
  decision.margin = MarginOf(run.margin, input.seeds);
  decision.default_margin = !run.margin.has_value() && decision.margin > 0.0;
  decision.seed_deviation = input.seeds.deviation;
  return decision;
}

bool DecideValidity(const PairedInput& input, const PairedRun& run, MetricDecision* decision) {
  const auto stop = [&](MetricVerdict verdict, std::string_view reason) {
    decision->verdict = verdict;
    AddReason(reason, decision);
    return true;
  };
  const auto is_usable = [](double alpha) { return alpha > 0.0 && alpha < 0.5; };
  if (!is_usable(input.alpha_drift) || !is_usable(input.alpha_equivalence)) {
    return stop(MetricVerdict::kInconclusive, "invalid_alpha");
  }
  if (!IsMeasured(run.recorded)) return stop(MetricVerdict::kInconclusive, "non_finite_history");
  for (const double value : run.reruns) {
    if (!IsMeasured(value)) return stop(MetricVerdict::kDrifted, "non_finite");
  }
  if (run.missing > 0 || run.reruns.empty()) return stop(MetricVerdict::kInconclusive, "missing");
  return false;
}

// (difference - centre) / (deviation sqrt(1 + extra)), and the basis of the run's own interval.
void RecordHeld(double deviation, double error, double df, double t, MetricDecision* decision) {
  decision->standard_deviation = deviation;
  decision->standard_error = error;
  decision->df = df;
  decision->t = t;
  decision->p_difference = stats::StudentTTwoSided(t, df);
  const double half = stats::StudentTQuantile(1.0 - decision->alpha_equivalence, df) * error;
  decision->ci_low = decision->difference - half;
  decision->ci_high = decision->difference + half;
  decision->power = stats::TostPower(decision->margin, 0.0, error, df, decision->alpha_equivalence);
  decision->minimum_detectable =
      error * stats::DetectableNoncentrality(df, decision->alpha_drift, kTargetPower);
}

// By the differences of the other units, without those apart.
void HoldToOthers(const Family& family, const Unit& unit, double reruns, Held* held,
                  MetricDecision* decision) {
  double count = family.count;
  double mean = family.mean;
  double squares = family.sum_of_squares;
  if (!unit.apart) {
    const double off = unit.difference - mean;
    squares = std::max(0.0, squares - off * off * count / (count - 1.0));
    mean -= off / (count - 1.0);
    count -= 1.0;
  }
  const double deviation = std::max(std::sqrt(squares / (count - 1.0)), family.floor);
  const double t = (held->difference - mean) / (deviation * std::sqrt(1.0 + 1.0 / count));
  held->others = count;
  decision->pairs = static_cast<int>(count);
  decision->variance_basis = "pairs";
  RecordHeld(deviation, deviation / std::sqrt(reruns), count - 1.0, t, decision);
  held->fits = decision->p_difference * (count + 1.0) >= kDoubtAlpha ||
               std::fabs(held->difference) < decision->margin;
}

// By the distance of two runs with this spread: reruns of one seed are one draw, however many.
void HoldToSpread(const SeedSpread& spread, std::string_view basis, MetricDecision* decision) {
  const double error = spread.deviation * std::sqrt(2.0);
  decision->variance_basis = basis;
  decision->pairs = 1;
  RecordHeld(spread.deviation, error, spread.df, decision->difference / error, decision);
}

// No noise that is symmetric around one peak puts more than x / margin of itself within x of zero
// while its peak is a margin away. A tie of a coarse metric is no such nearness.
bool IsNearRecord(const PairedInput& input, const MetricDecision& decision) {
  const double distance = std::fabs(decision.difference);
  return distance > 0.0 && decision.margin > 0.0 &&
         distance + std::max(input.quantum, 0.0) <= decision.alpha_equivalence * decision.margin;
}

// Every rerun, not only their mean, lies beyond the margin on one side.
bool IsSeenInEvery(const PairedRun& run, const MetricDecision& decision) {
  return std::ranges::all_of(run.reruns, [&](double value) {
    const double moved = value - run.recorded;
    return moved * decision.difference > 0.0 && std::fabs(moved) > decision.margin;
  });
}

void DecideApart(const PairedRun& run, double p, MetricDecision* decision) {
  decision->p_difference = p;
  AddReason("apart", decision);
  if (run.reruns.size() == 1) {
    decision->verdict = MetricVerdict::kNeedsConfirmation;
    decision->more_reruns = 1;
  } else if (IsSeenInEvery(run, *decision)) {
    decision->verdict = MetricVerdict::kDrifted;
  } else {
    AddReason("one_rerun_decides", decision);
  }
}

// Fewer than three others: a shift beyond that of an unrelated seed belongs to this run.
bool DecideAlone(const PairedRun& run, const Held& held, MetricDecision* decision) {
  if (held.equal || !(decision->p_difference < decision->alpha_drift) ||
      !(std::fabs(held.difference) > decision->margin)) {
    return false;
  }
  DecideApart(run, decision->p_difference, decision);
  return true;
}

bool DecideByOwn(const PairedInput& input, MetricDecision* decision) {
  const stats::Interval interval{decision->ci_low, decision->ci_high};
  const bool tested = decision->standard_error > 0.0;
  const bool inside = tested && stats::IsInside(interval, -decision->margin, decision->margin);
  if (!inside && !IsNearRecord(input, *decision)) return false;
  decision->verdict = MetricVerdict::kWithin;
  if (inside) return true;
  AddReason("near_record", decision);
  // One difference is the only observation of the noise: an interval that is valid for any width.
  const double half = (std::fabs(decision->difference) + std::max(input.quantum, 0.0)) /
                      decision->alpha_equivalence;
  decision->variance_basis = "pairs";
  decision->pairs = 1;
  decision->standard_deviation = decision->standard_error = std::fabs(decision->difference);
  decision->df = 1.0;
  decision->t = decision->p_difference = 1.0;
  decision->ci_low = -half;
  decision->ci_high = half;
  return true;
}

// Neither its own reruns nor its being apart decided.
void DecideWithFamily(const PairedInput& input, const Family& family, const MetricDecision& shift,
                      const Held& held, MetricDecision* decision) {
  const bool few = !(held.others >= kFewestUnits);
  if (shift.verdict == MetricVerdict::kDrifted && !held.equal) {
    decision->verdict = MetricVerdict::kDrifted;
    decision->p_difference = shift.p_difference;
    decision->pairs = shift.pairs;
    AddReason("with_family", decision);
    return;
  }
  if (shift.verdict == MetricVerdict::kWithin && (few || held.fits)) {
    decision->verdict = MetricVerdict::kWithin;
    decision->pairs = shift.pairs;
    AddReason("with_family", decision);
    return;
  }
  if (!(decision->margin > 0.0)) AddReason("no_margin", decision);
  if (!(decision->standard_error > 0.0)) {
    AddReason("no_variance_basis", decision);
  } else if (shift.verdict == MetricVerdict::kInconclusive && shift.more_runs > 0) {
    decision->more_runs = shift.more_runs;
  } else if (few) {
    AddReason("few_pairs", decision);
    decision->more_runs =
        MoreRuns(0.0, decision->standard_error, static_cast<double>(family.units.size()),
                 decision->margin, input);
  } else if (!held.fits) {
    AddReason("apart", decision);
  }
}

}  // namespace

MetricDecision DecideRun(const PairedInput& input, const Family& family,
                         const MetricDecision& shift, std::size_t run) {
  const PairedRun& own = input.runs[run];
  MetricDecision decision = Describe(input, own);
  if (!own.reruns.empty()) {
    decision.difference = stats::ComputeMoments(own.reruns).mean - own.recorded;
  }
  if (DecideValidity(input, own, &decision)) return decision;
  const Unit& unit = family.units[static_cast<std::size_t>(family.unit_of[run])];
  Held held{.equal = std::ranges::all_of(own.reruns,
                                         [&](double value) {
                                           return std::bit_cast<std::uint64_t>(value) ==
                                                  std::bit_cast<std::uint64_t>(own.recorded);
                                         }),
            .apart = unit.apart};
  if (held.equal) decision.difference = 0.0;
  held.difference = decision.difference;
  const double others = family.count - (unit.apart ? 0.0 : 1.0);
  if (others >= kFewestUnits) {
    HoldToOthers(family, unit, static_cast<double>(own.reruns.size()), &held, &decision);
  } else if (input.rounding.df >= kFewestUnits && input.rounding.deviation > 0.0) {
    HoldToSpread(input.rounding, "rounding", &decision);
  } else if (input.seeds.df > 0.0 && input.seeds.deviation > 0.0) {
    HoldToSpread(input.seeds, "seeds", &decision);  // by the shift of an unrelated seed
  }
  if (DecideByOwn(input, &decision)) return decision;
  if (held.apart && !held.equal && std::fabs(held.difference) > decision.margin) {
    DecideApart(own, unit.p_apart, &decision);
  } else if (others >= kFewestUnits || !DecideAlone(own, held, &decision)) {
    DecideWithFamily(input, family, shift, held, &decision);
  }
  return decision;
}

}  // namespace rharness::paired
