// Merges equal statements of several runs of a drill into one, with the number of runs.
//
// Role: pure, from a Report; used by the terminal, the step summary and the page. The runs' own
// details keep everything.
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
  kCause,     // a possible reason
  kNotKnown,  // a part of a layer that could not be compared
  kChange,    // a fact that has changed
  kUnproven,  // what no signature would cover: it decides nothing here
};

struct ToldOnce {
  ToldKind kind = ToldKind::kFinding;
  std::string text;                       // as the runs have it, not yet made safe
  Verdict verdict = Verdict::kIdentical;  // the most severe of these runs
  std::vector<const ReportRun*> runs;     // the most severe first, else as in the report
};

// Every headline, finding, cause and change that at least two runs have. Unknown parts, reruns that
// differ among themselves and changed facts of a reproduced run ("facts_changed") are listed even
// for one run: its row has no room for them. Packages that a run is not known to have used form one
// change. Sorted by kind, then severity, then number of runs; changes by how telling they are (see
// compare/fact_order.h). `report` must outlive the result. Cost: linear in runs, findings and
// differences.
std::vector<ToldOnce> TellOnce(const Report& report);

// "40 runs (digits-01, digits-02, digits-03 and 37 more): TEXT", safe but not escaped; one run is
// named alone.
std::string ToldWords(const ToldOnce& told);

// "likely cause (environment): OMP_NUM_THREADS changed ... variable.OMP_NUM_THREADS: 1 in A ..."
std::string CauseWords(const Cause& cause);
// The text of a change: "environment software.numpy: 1.26.4 → 2.4.6".
std::string ChangeWords(const FactDifference& difference);

// Number of runs with this headline; 1 if it is listed nowhere else.
std::size_t RunsWithHeadline(const std::vector<ToldOnce>& told, const std::string& headline);

}  // namespace rharness

#endif  // RHARNESS_REPORTS_TOLD_ONCE_H_
