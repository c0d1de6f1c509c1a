// One verdict on the runs of a family together, from their paired differences.
//
// Role: beside the verdict of each run (comparison.h). Pure. Decides by metrics; bits and curves
// belong to each run, but what more than a quarter of them shows belongs to the family.
#ifndef RHARNESS_COMPARE_FAMILY_COMPARISON_H_
#define RHARNESS_COMPARE_FAMILY_COMPARISON_H_

#include <string>
#include <vector>

#include "compare/comparison.h"
#include "compare/metrics/decision.h"
#include "harness/verdict/verdict.h"

namespace rharness {

// Runs of one configuration that differ in their seeds alone.
struct FamilyComparison {
  std::string name;    // of the family; where it has several configurations, "mlp (as mlp-7)"
  std::string family;  // as its runs are recorded
  std::string configuration;  // key of what they have in common
  Verdict verdict = Verdict::kInconclusive;
  std::string headline;            // one sentence: the verdict and why
  std::vector<Finding> findings;   // the decisive ones first
  std::vector<std::string> runs;   // run ids, those of different seeds and of equal ones
  std::vector<std::string> apart;  // ids of the runs that moved on their own, by any metric
  // Ids of the runs with a curve beyond what rounding explains; and how many of these drifted by
  // it, the others being undecided.
  std::vector<std::string> beyond;
  std::size_t beyond_shown = 0;
  std::vector<MetricDecision> metrics;  // see metrics/paired.h; primary and secondary
  // If the family drifted: the causes shared by every run that moved with it, most suspicious
  // first.
  std::vector<Cause> causes;
  int more_runs = 0;  // further runs of other seeds that would decide; 0: none would or needed
};

// The causes that all these runs share, in the order of the first run: at the weakest of their
// strengths, those that are weaker elsewhere behind, with the evidence that is the same in all.
std::vector<Cause> CommonCauses(const std::vector<const Comparison*>& runs);

// Fills verdict, headline, findings and more_runs. First match wins:
//   drifted       a primary metric's shift is shown (Holm over them), or a value stopped being
//                 finite; or more than a quarter of the runs drifted by a curve
//   identical     `all_identical`: every run is equal bit for bit
//   equivalent    every primary metric, and there is one, is shown to be within its margin, and a
//                 curve is beyond what rounding explains in a quarter of the runs at most
//   inconclusive  neither
void JudgeFamily(bool all_identical, FamilyComparison* family);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_FAMILY_COMPARISON_H_
