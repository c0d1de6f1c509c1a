// Recorded runs of one configuration, each paired with reruns of its own seed: did the family move,
// and which run?
//
// Role: the unit is the pair, a recorded run and its reruns; its difference is mean(reruns) -
// recorded. The family's shift is the mean of the differences, with their own spread: near zero if
// only rounding moved, sqrt(2) of the seeds' if training is chaotic. Pure. Seeds must be
// independent of each other; runs of one seed are one unit.
// Source: one-sample t and TOST (doi:10.1007/BF01068419); generalized ESD for the runs that moved
// apart (Rosner 1983, doi:10.1080/00401706.1983.10487848).
#ifndef RHARNESS_COMPARE_METRICS_PAIRED_H_
#define RHARNESS_COMPARE_METRICS_PAIRED_H_

#include <optional>
#include <string>
#include <vector>

#include "compare/metrics/decision.h"

namespace rharness {

// The distance between recorded values of different seeds, shrunk towards the prior.
struct SeedSpread {
  double deviation = 0.0;  // metric units, with the quantum floor
  double df = 0.0;         // 0: not known
  std::string basis;       // "own", "pooled", "family", "none"
};
// `values`: one a seed.
SeedSpread SpreadOfSeeds(const std::vector<double>& values, const VariancePrior& prior,
                         double quantum);

struct PairedRun {
  double recorded = 0.0;
  std::vector<double> reruns;    // with its seed, one value or more; NaN where not finite
  int missing = 0;               // reruns that did not report the metric
  std::string seed;              // runs with equal seeds are one unit
  std::optional<double> margin;  // metric units, > 0; empty: half the seeds' standard deviation
};

struct PairedInput {
  std::string name;
  std::string unit;
  bool primary = true;
  std::vector<PairedRun> runs;
  SeedSpread seeds;
  // The distance of runs of one seed by rounding alone, if measured.
  SeedSpread rounding;
  double quantum = 0.0;  // resolution of the metric, metric units; 0: continuous
  double alpha_drift = 0.01;
  double alpha_equivalence = 0.05;  // halved for a run with a single rerun
};

struct PairedDecision {
  // Over all units but those apart: the recorded value of each in `history` and the mean of its
  // reruns at the same place of `reruns`. Below 3 units inconclusive ("too_few_runs").
  MetricDecision family;
  int equal = 0;                     // units whose reruns have the bits of their record
  int apart = 0;                     // runs that moved on their own, compared with the others
  std::vector<MetricDecision> runs;  // in the order of the input
};

// Family: a non-finite rerun is a drift ("non_finite"); equal bits everywhere are within ("equal");
// else within by TOST, drifted at alpha_drift, or inconclusive with `more_runs`: further runs of
// other seeds for 80 % power of a decision. The margin is the smallest of its runs'.
//
// A run, against its own record:
//   within   if |d| + t s / sqrt(k) < margin, with s of the other runs' differences (3 or more,
//   else
//            sqrt(2) of rounding's, where it has 3 degrees of freedom, else of the seeds'); or if
//            |d| is so small that no noise that is symmetric around one peak, however wide, has a
//            peak at the margin: 0 < |d| <= alpha margin
//            ("near_record")
//   drifted  if it moved apart ("apart"): farther than its margin, than the other runs' differences
//            allow, and than an unrelated seed would (all at alpha over the family); of a single
//            rerun that needs confirmation. Or, not being equal to its record, if its family
//            drifted ("with_family")
//   within   if its family is, and it moved no farther than its margin or than the others'
//            differences allow ("with_family")
// At most a quarter of the runs is apart. A bit-equal run is never drifted.
PairedDecision DecidePaired(const PairedInput& input);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_METRICS_PAIRED_H_
