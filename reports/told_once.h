// What several runs of a drill say in the same words, to be said once with the runs counted.
//
// Role: pure, from a Report; the terminal, the step summary and the page take it from here. The
// runs' own details keep everything.
#ifndef RHARNESS_REPORTS_TOLD_ONCE_H_
#define RHARNESS_REPORTS_TOLD_ONCE_H_

#include <cstddef>
#include <string>
#include <vector>

#include "reports/model.h"

namespace rharness {

enum class ToldKind {
  kHeadline,  // of runs that did not reproduce
  kFinding,   // any other than a headline
  kCause,     // why it may have come to that
  kNotKnown,  // a part of a layer that could not be compared
  kChange,    // a fact that is another one now
};

struct ToldOnce {
  ToldKind kind = ToldKind::kFinding;
  std::string text;                       // as the runs have it, not yet made safe
  Verdict verdict = Verdict::kIdentical;  // the most severe of these runs
  std::vector<const ReportRun*> runs;     // the most severe first, else as in the report
};

// Every headline, finding, cause and change that at least two runs have. Unknown parts, reruns that
// differ among themselves and what a run that reproduced says of changed facts ("facts_changed")
// are told even of one run: its row has no room for them. Packages that a run is not known to have
// used are one change together. By kind, then the most severe, then those of most runs; changes as
// telling (see compare/fact_order.h). `report` must outlive the result. Cost: linear in runs,
// findings and differences.
std::vector<ToldOnce> TellOnce(const Report& report);

// "40 runs (digits-01, digits-02, digits-03 and 37 more): TEXT", safe but not escaped; one run is
// named alone.
std::string ToldWords(const ToldOnce& told);

// "likely cause (environment): OMP_NUM_THREADS changed ... variable.OMP_NUM_THREADS: 1 in A ..."
std::string CauseWords(const Cause& cause);
// The text of a change: "environment software.numpy: 1.26.4 → 2.4.6".
std::string ChangeWords(const FactDifference& difference);

// How many runs are told by this headline; 1 where it is told nowhere else.
std::size_t RunsWithHeadline(const std::vector<ToldOnce>& told, const std::string& headline);

}  // namespace rharness

#endif  // RHARNESS_REPORTS_TOLD_ONCE_H_
