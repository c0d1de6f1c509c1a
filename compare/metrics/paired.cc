// The family: units of pairs, which of them moved apart, and the shift of the others.
#include "compare/metrics/paired.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <numeric>

#include "compare/metrics/paired_parts.h"
#include "compare/stats/distributions.h"
#include "compare/stats/equivalence.h"
#include "compare/stats/moments.h"
#include "compare/stats/outliers.h"
#include "compare/stats/power.h"

namespace rharness {
namespace paired {
namespace {

constexpr double kDefaultMarginInSeedDeviations = 0.5;
constexpr int kMostMoreRuns = 500;
// The square of anything smaller might vanish.
constexpr double kLeastFloor = 1e-150;

bool IsFinite(const std::vector<double>& values) { return std::ranges::all_of(values, IsMeasured); }

bool HasDifference(const PairedRun& run) {
  return IsMeasured(run.recorded) && !run.reruns.empty() && run.missing == 0 &&
         IsFinite(run.reruns);
}

bool SameBits(double a, double b) {
  return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

// The last bit of a double is the least spread that can be seen, and so is a metric's quantum on
// both sides of a difference.
double FloorOf(const PairedInput& input) {
  double largest = 0.0;
  for (const PairedRun& run : input.runs) {
    if (HasDifference(run)) largest = std::max(largest, std::fabs(run.recorded));
  }
  const double quantum = std::isfinite(input.quantum) ? std::max(input.quantum, 0.0) : 0.0;
  return std::max(
      {quantum / std::sqrt(6.0), largest * std::numeric_limits<double>::epsilon(), kLeastFloor});
}

// Means over the runs of one seed, without cancellation if they are equal.
void Average(const std::vector<const PairedRun*>& runs, Unit* unit) {
  std::vector<double> recorded;
  std::vector<double> reruns;
  std::vector<double> differences;
  for (const PairedRun* run : runs) {
    recorded.push_back(run->recorded);
    reruns.push_back(stats::ComputeMoments(run->reruns).mean);
    differences.push_back(reruns.back() - run->recorded);
    for (const double value : run->reruns) unit->equal &= SameBits(value, run->recorded);
  }
  unit->recorded = stats::ComputeMoments(recorded).mean;
  unit->rerun = stats::ComputeMoments(reruns).mean;
  unit->difference = unit->equal ? 0.0 : stats::ComputeMoments(differences).mean;
}

std::vector<double> DifferencesOf(const std::vector<Unit>& units) {
  std::vector<double> differences;
  for (const Unit& unit : units) differences.push_back(unit.difference);
  return differences;
}

stats::Moments MomentsOf(const std::vector<Unit>& units, const std::vector<bool>& left_out) {
  std::vector<double> differences;
  for (std::size_t i = 0; i < units.size(); ++i) {
    if (!left_out[i]) differences.push_back(units[i].difference);
  }
  return stats::ComputeMoments(differences);
}

// Of the mean of the units' differences against zero.
stats::MeanTest TestOf(const Family& family) {
  const double variance = family.sum_of_squares / (family.count - 1.0);
  const double deviation = std::max(std::sqrt(variance), family.floor);
  return stats::MakeMeanTest(family.mean, deviation / std::sqrt(family.count), family.count - 1.0);
}

// Everything but the verdict.
MetricDecision DescribeFamily(const PairedInput& input, const Family& family) {
  MetricDecision decision;
  decision.name = input.name;
  decision.unit = input.unit;
  decision.primary = input.primary;
  decision.alpha_drift = input.alpha_drift;
  decision.alpha_equivalence = input.alpha_equivalence;
  decision.variance_basis = "none";
  decision.margin = family.margin;
  decision.default_margin = family.default_margin;
  decision.seed_deviation = input.seeds.deviation;
  decision.pairs = static_cast<int>(family.count);
  for (const Unit& unit : family.units) {
    if (unit.apart) continue;
    decision.history.push_back(unit.recorded);
    decision.reruns.push_back(unit.rerun);
  }
  decision.mean_history = stats::ComputeMoments(decision.history).mean;
  decision.difference = family.mean;
  return decision;
}

void DecideByTest(const PairedInput& input, MetricDecision* decision) {
  const bool differs = decision->p_difference < input.alpha_drift;
  const stats::Interval interval{decision->ci_low, decision->ci_high};
  if (stats::IsInside(interval, -decision->margin, decision->margin)) {
    decision->verdict = MetricVerdict::kWithin;
    if (differs) AddReason("detectable_shift", decision);
  } else if (differs) {
    decision->verdict = MetricVerdict::kDrifted;
    if (decision->margin > 0.0 && stats::IsOutside(interval, -decision->margin, decision->margin)) {
      AddReason("material", decision);
    }
  } else {
    if (!(decision->margin > 0.0)) AddReason("no_margin", decision);
    decision->more_runs = MoreRuns(decision->difference, decision->standard_deviation,
                                   decision->pairs, decision->margin, input);
  }
}

}  // namespace

double MarginOf(const std::optional<double>& declared, const SeedSpread& seeds) {
  if (declared) return *declared > 0.0 && std::isfinite(*declared) ? *declared : 0.0;
  return kDefaultMarginInSeedDeviations * seeds.deviation;
}

Family Gather(const PairedInput& input) {
  Family family;
  family.floor = FloorOf(input);
  family.unit_of.assign(input.runs.size(), -1);
  std::map<std::string, std::size_t> by_seed;
  std::vector<std::vector<const PairedRun*>> runs;
  family.default_margin = true;
  for (std::size_t i = 0; i < input.runs.size(); ++i) {
    const PairedRun& run = input.runs[i];
    const double margin = MarginOf(run.margin, input.seeds);
    if (margin > 0.0 && (family.margin == 0.0 || margin < family.margin)) family.margin = margin;
    family.default_margin &= !run.margin.has_value();
    if (!HasDifference(run)) continue;
    const auto [at, added] = by_seed.emplace(run.seed, runs.size());
    if (added) runs.emplace_back();
    runs[at->second].push_back(&run);
    family.unit_of[i] = static_cast<int>(at->second);
  }
  family.units.resize(runs.size());
  for (std::size_t i = 0; i < runs.size(); ++i) Average(runs[i], &family.units[i]);
  return family;
}

void SetApart(const PairedInput& input, Family* family) {
  std::vector<Unit>& units = family->units;
  const auto total = static_cast<double>(units.size());
  std::vector<bool> outliers = stats::FindOutliers(DifferencesOf(units), input.alpha_drift);
  const stats::Moments rest = MomentsOf(units, outliers);
  const double deviation = std::max(std::sqrt(rest.Variance()), family->floor);
  for (std::size_t i = 0; i < units.size(); ++i) {
    if (!outliers[i]) continue;
    Unit& unit = units[i];
    const double predicted = deviation * std::sqrt(1.0 + 1.0 / rest.count);
    const double unrelated = input.seeds.deviation * std::sqrt(2.0);
    const double p_others =
        stats::StudentTTwoSided((unit.difference - rest.mean) / predicted, rest.count - 1.0);
    // Without a spread of seeds nothing shows that it is no chaos.
    const double p_seeds =
        input.seeds.df > 0.0 ? stats::StudentTTwoSided(unit.difference / unrelated, input.seeds.df)
                             : 1.0;
    unit.p_apart = std::min(1.0, total * std::max(p_others, p_seeds));
    unit.apart = !unit.equal && std::fabs(unit.difference) > family->margin &&
                 unit.p_apart < input.alpha_drift;
    outliers[i] = unit.apart;
  }
  const stats::Moments kept = MomentsOf(units, outliers);
  family->mean = kept.mean;
  family->sum_of_squares = kept.sum_of_squares;
  family->count = kept.count;
}

int MoreRuns(double difference, double deviation, double count, double margin,
             const PairedInput& input) {
  const double shift = std::fabs(difference);
  const auto reaches = [&](int more) {
    const double total = count + more;
    const double error = deviation / std::sqrt(total);
    return stats::TostPower(margin, shift, error, total - 1.0, input.alpha_equivalence) >=
               kTargetPower ||
           stats::TwoSidedPower(shift / error, total - 1.0, input.alpha_drift) >= kTargetPower;
  };
  const int fewest = std::max(0, static_cast<int>(kFewestUnits) - static_cast<int>(count) - 1);
  if (!reaches(kMostMoreRuns)) return 0;
  int short_of = fewest;
  int enough = kMostMoreRuns;
  while (enough - short_of > 1) {
    const int middle = (short_of + enough) / 2;
    (reaches(middle) ? enough : short_of) = middle;
  }
  return enough;
}

MetricDecision DecideShift(const PairedInput& input, const Family& family) {
  MetricDecision decision = DescribeFamily(input, family);
  if (family.count < kFewestUnits) {
    AddReason("too_few_runs", &decision);
    return decision;
  }
  decision.variance_basis = "pairs";
  RecordTest(TestOf(family), 1.0 / std::sqrt(family.count), &decision);
  if (std::ranges::all_of(family.units, &Unit::equal)) {
    decision.verdict = MetricVerdict::kWithin;
    AddReason("equal", &decision);
  } else {
    DecideByTest(input, &decision);
  }
  return decision;
}

void TellWhatIsNotThere(const PairedInput& input, MetricDecision* shift) {
  const auto is_lost = [](const PairedRun& run) {
    return IsMeasured(run.recorded) && !IsFinite(run.reruns);
  };
  if (std::ranges::any_of(input.runs, is_lost)) {
    shift->verdict = MetricVerdict::kDrifted;
    AddReason("non_finite", shift);
  } else if (std::ranges::any_of(input.runs, [](const auto& run) { return run.missing > 0; })) {
    shift->verdict = MetricVerdict::kInconclusive;
    AddReason("missing", shift);
  }
}

}  // namespace paired

SeedSpread SpreadOfSeeds(const std::vector<double>& values, const VariancePrior& prior,
                         double quantum) {
  const stats::Moments own = stats::ComputeMoments(values);
  const double own_df = std::max(own.count - 1.0, 0.0);
  const bool usable = prior.df > 0.0 && prior.s0_squared > 0.0 && std::isfinite(prior.s0_squared);
  const double prior_df = usable ? prior.df : 0.0;
  const double df = own_df + prior_df;
  if (!(df > 0.0) || !std::isfinite(own.sum_of_squares)) return {.basis = "none"};
  const double squares = own.sum_of_squares + (usable ? prior_df * prior.s0_squared : 0.0);
  const double floor = std::isfinite(quantum) && quantum > 0.0 ? quantum * quantum / 12.0 : 0.0;
  return {.deviation = std::sqrt(std::max(squares / df, floor)),
          .df = df,
          .basis = !usable        ? "own"
                   : own_df > 0.0 ? "pooled"
                                  : "family"};
}

PairedDecision DecidePaired(const PairedInput& input) {
  PairedDecision decision;
  paired::Family family = paired::Gather(input);
  paired::SetApart(input, &family);
  decision.family = paired::DecideShift(input, family);
  for (const paired::Unit& unit : family.units) decision.equal += unit.equal ? 1 : 0;
  for (const paired::Unit& unit : family.units) decision.apart += unit.apart ? 1 : 0;
  for (std::size_t run = 0; run < input.runs.size(); ++run) {
    decision.runs.push_back(paired::DecideRun(input, family, decision.family, run));
  }
  paired::TellWhatIsNotThere(input, &decision.family);
  return decision;
}

}  // namespace rharness
