// A search for the cause of a drift, with its result: "rharness.isolation/v1".
//
// Role: a noun with every number and sentence in it; harness/experiments/isolate fills it, a
// Document of it has every format.
#ifndef RHARNESS_REPORTS_ISOLATION_REPORT_H_
#define RHARNESS_REPORTS_ISOLATION_REPORT_H_

#include <string>
#include <string_view>
#include <vector>

#include "compare/facts.h"
#include "harness/base/clock.h"
#include "harness/base/json.h"
#include "reports/document.h"
#include "reports/search_trial.h"

namespace rharness {

struct IsolationAxis {
  std::string name;
  Layer layer = Layer::kEnvironment;
  std::string recorded;
  std::string drifted;
  int last = 1;               // its last position; more than 1: a chain
  std::string cannot_be_set;  // why; empty: it can
  std::vector<int> cause;     // of its positions, those at which the difference begins
  bool set_back = false;      // is set back by the mitigation
};

struct IsolationTrial {
  int number = 0;  // of its rerun
  TrialPurpose purpose = TrialPurpose::kSearch;
  std::vector<int> at;  // one per axis that can be set, in their order
  TrialAnswer answer = TrialAnswer::kSkipped;
  std::string seen;  // what it showed, or why it is no evidence
  double seconds = 0.0;
  std::string evidence;  // relative to the search's folder
};

struct IsolationCost {
  int fewest = 0;  // reruns, both ends included, if one change is the cause
  double mean = 0.0;
  int most = 0;
  int most_of_two = 0;         // where two are needed together
  double rerun_seconds = 0.0;  // as recorded
};

enum class IsolationEnd {
  kNamed,
  kNotAmongThese,
  kNotReproduced,
  kUndecided,
  kPlanned,
  kInterrupted
};
inline constexpr NameTable<IsolationEnd, 6> kIsolationEndNames = {
    {{IsolationEnd::kNamed, "named"},
     {IsolationEnd::kNotAmongThese, "not_among_these"},
     {IsolationEnd::kNotReproduced, "not_reproduced"},
     {IsolationEnd::kUndecided, "undecided"},
     {IsolationEnd::kPlanned, "planned"},
     {IsolationEnd::kInterrupted, "interrupted"}}};
struct IsolationReport {
  std::string run_id;
  std::string version;
  WallTime made{};
  bool planned = false;  // nothing was run
  IsolationEnd end = IsolationEnd::kUndecided;
  std::string headline;             // one sentence
  std::string next;                 // what to do now
  std::vector<std::string> target;  // the wanted difference, one line per part
  std::vector<IsolationAxis> axes;  // settable ones, then the others
  std::vector<IsolationTrial> trials;
  std::vector<std::vector<std::string>> causes;  // each enough by itself; its parts are all needed
  std::vector<std::string> shown_by;             // the reruns that show it, in words
  std::string mitigation;                        // the fewest settings to take back; or empty
  std::string mitigation_cost;                   // in time
  std::vector<std::string> branches;             // other failures, each with its first rerun
  std::vector<std::string> possible;             // of an unfinished search
  bool exact = true;                             // one rerun tells:
  bool bits = false;                             // every bit counts, promised or on request
  double wrong = 0.0;                            // else the chance that one does not
  double confidence = 0.95;
  double error_bound = 0.0;  // stated chance of a wrong named cause
  int budget = 0;
  int more_reruns = 0;
  IsolationCost cost;
  std::vector<std::string> notes;
  bool interrupted = false;
  int exit_code = 3;
};

// The certainty of an answer, for a search that named a cause; else empty.
std::string Sureness(const IsolationReport& report);
Json ToJson(const IsolationReport& report);
Document DocumentOf(const IsolationReport& report);
// The colour of an answer, and the answer in words: "✗ drifts".
Verdict ToneOf(const IsolationTrial& trial);
std::string AnswerWords(const IsolationTrial& trial);
// Trials as rows and axes as columns. `id` is unique on the page; empty without a trial.
std::string SvgSearch(const IsolationReport& report, std::string_view id);

}  // namespace rharness

#endif  // RHARNESS_REPORTS_ISOLATION_REPORT_H_
