// The verdict on the legs of a property. Pure.
//
// Against straight runs, thing by thing (a metric, a curve, a checkpoint):
//   held          every leg is equal to every straight run, bit for bit
//   held within   a margin is stated, and every leg is that near to every straight run
//   lost          neither, and the straight runs are equal to each other bit for bit
//   else the straight runs differ among themselves. The energy statistic of two samples (Szekely
//   and Rizzo 2004, "Testing for equal distributions in high dimension", InterStat 5), from the
//   distances alone, under every way of calling so many of the runs legs: exact, whatever the
//   distribution, as long as with nothing lost the runs could change places.
//   lost          p is at most kPropertyAlpha over the number of things so tested, and the mean
//                 distance of legs from straight runs exceeds the margin
//   not judged    otherwise: too few repeats for any p that small, which says how many would do, or
//                 straight runs lie as far apart
// Among themselves (the run twice, a checkpoint saved again, evaluated twice) there is no noise to
// account for: a pair that is neither equal nor within its margin is a loss.
#ifndef RHARNESS_HARNESS_EXPERIMENTS_PROPERTIES_PROPERTY_JUDGE_H_
#define RHARNESS_HARNESS_EXPERIMENTS_PROPERTIES_PROPERTY_JUDGE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "harness/records/manifest/property.h"
#include "reports/properties_report.h"

namespace rharness {

// The chance that a held property is called lost, for one property of a noisy run.
inline constexpr double kPropertyAlpha = 0.05;
inline constexpr int kMostRepeats = 10;

// How far two legs lie apart in one thing.
struct Apart {
  std::string subject;    // "metric loss", "curve loss", "weights out/model.safetensors"
  std::string name;       // of the metric or curve; empty: a checkpoint
  bool equal = false;     // bit for bit
  double distance = 0.0;  // in its unit, of a checkpoint its worst tensor, relative; infinite where
                          // it has none: absent from one, not finite, another shape, whole numbers
  std::string words;      // both values, or the tensors that differ; empty where equal
  std::uint64_t items = 0;  // compared one by one; 0: the whole was
};

// By the two runs, the smaller first, straight ones before legs.
using Pairs = std::map<std::pair<std::size_t, std::size_t>, std::vector<Apart>>;

struct JudgedClaim {
  PropertyState state = PropertyState::kNotJudged;
  std::string headline;
  std::vector<PropertyReason> reasons;  // of the worst things
  int repeats = 0;                      // needed to decide; 0: none would, or nothing is open
  std::uint64_t items = 0;              // of all things
};

JudgedClaim JudgeAgainstStraight(const Pairs& pairs, std::size_t straight, std::size_t legs,
                                 const Within& within);
JudgedClaim JudgeAmongThemselves(const Pairs& pairs, const Within& within);

// For `straight` and `legs` runs with these distances, the straight ones first, row by row: the
// share of the ways to choose the legs whose statistic is at least as large. 1 for fewer than two
// straight runs or no legs.
double EnergyPermutationP(const std::vector<std::vector<double>>& distances, std::size_t straight,
                          std::size_t legs);
// Repeats of both needed for a p of `alpha`; 0: more than kMostRepeats.
int RepeatsFor(double alpha);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXPERIMENTS_PROPERTIES_PROPERTY_JUDGE_H_
