// Judges the runs of one configuration and their family together.
//
// Role: the judge's pass of the drill, between the comparison of each rerun and the report. Pure.
#ifndef RHARNESS_HARNESS_JUDGE_JUDGE_FAMILY_H_
#define RHARNESS_HARNESS_JUDGE_JUDGE_FAMILY_H_

#include <optional>
#include <vector>

#include "compare/family_comparison.h"
#include "harness/judge/decide_metrics.h"
#include "harness/judge/run_state.h"

namespace rharness {

// Fills the comparison of every run, all of one configuration, from its evidence and reruns, which
// are merged already (judge_siblings.h). Returns their joint verdict, if they are declared
// statistical and three seeds or more were compared; else nothing.
std::optional<FamilyComparison> JudgeTogether(const std::vector<RunState*>& runs,
                                              const Family& family);

// Names families of one name and several configurations by their first runs, too.
void NameApart(std::vector<FamilyComparison>* families);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_JUDGE_JUDGE_FAMILY_H_
