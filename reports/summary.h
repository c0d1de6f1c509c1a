// The summary of a drill: the answer in a sentence, the next step, common features of drifted runs.
//
// Role: pure, from a Report; every writer that opens with an answer takes it from here, so that the
// page, the step summary and the terminal never disagree.
#ifndef RHARNESS_REPORTS_SUMMARY_H_
#define RHARNESS_REPORTS_SUMMARY_H_

#include <string>
#include <string_view>
#include <vector>

#include "reports/model.h"
#include "reports/told_once.h"
#include "reports/words.h"

namespace rharness {

// A recorded fact that has changed in at least one drifted run. A change of many drifted and few
// reproduced runs is where to look first.
struct SharedDifference {
  Layer layer = Layer::kData;
  std::string key;
  std::string recorded;  // values of the first run seen with it; "(absent)" for none
  std::string observed;
  int drifted = 0;     // drifted runs with exactly this change
  int reproduced = 0;  // identical or equivalent runs with exactly this change
};

struct Summary {
  std::string answer;     // "3 of 12 runs drifted."
  std::string next_step;  // one sentence, for people
  // Worst first; runs with one headline together, at the place of the first; else as in the report.
  std::vector<const ReportRun*> order;
  std::vector<SharedDifference>
      shared;                  // at most 8, by (drifted - reproduced) share, then as telling
  std::vector<ToldOnce> told;  // common statements of several runs; see told_once.h
  int drifted = 0;
  int reproduced = 0;
};

// `report` must outlive the result. Cost: linear in runs and differences.
Summary Summarize(const Report& report);

// The merged statements, without the changes that `shared` lists with their counts.
std::vector<const ToldOnce*> ToldBesideShared(const Summary& summary);

// "Changed without effect: environment os.kernel (A → B) in 3 runs; 4 more facts.": the change that
// most reproduced runs share, the most telling of several; empty without one.
std::string ChangesInShort(const Report& report);

// "ModuleNotFoundError: No module named 'numpy' (tonight/runs/np-1/1/stderr.log)": the last stderr
// line of the last failed rerun, and its file, from where the reader is. Without such a line the
// reason of the last rerun that has one; else the headline.
std::string ErrorOf(const ReportRun& run);

// Wall time of all reruns of a run, seconds; and the same for people, "–" without any.
double RerunSeconds(const ReportRun& run);
std::string RerunTime(const ReportRun& run);
// "2/3 bit-equal, 1/1 in margin": how many of the comparisons hold; "nothing" for none.
std::string ComparedInShort(const ReportRun& run);

}  // namespace rharness

#endif  // RHARNESS_REPORTS_SUMMARY_H_
