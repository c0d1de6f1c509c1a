// Further runs of one curve, as far as they are usable.
//
// Role: private to this folder, pure.
#ifndef RHARNESS_COMPARE_CURVES_USABLE_REPLICATES_H_
#define RHARNESS_COMPARE_CURVES_USABLE_REPLICATES_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "compare/curves/curve_alignment.h"
#include "compare/curves/series.h"

namespace rharness {

// The values at these steps; empty unless all are there and finite.
std::vector<double> ValuesAt(const CurveSeries& series, const std::vector<std::int64_t>& steps);

// The judged steps that the runs also have, if fewer than three runs have all of them and the
// common ones represent these (CoverAlike): runs that logged every fifth step judge every fifth.
// Else unchanged.
Judged OnStepsOf(const Judged& judged, const std::vector<CurveSeries>& runs);

struct UsableReplicates {
  std::vector<std::vector<double>> runs;  // a first
  double quantum = 0.0;
  std::size_t incomplete = 0;
  std::size_t repeated = 0;   // equal to a or to another run: they show nothing of rounding
  std::size_t same_as_b = 0;  // equal to b: no run of its own
  std::size_t constant = 0;

  std::size_t Count() const { return runs.size() - 1; }
};

UsableReplicates UsableOf(const std::vector<CurveSeries>& replicates, const Judged& judged);

// The runs left out and why, as the end of a sentence: "; left out: 1 replicate that ...".
std::string LeftOut(const UsableReplicates& usable);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_CURVES_USABLE_REPLICATES_H_
