// The history of runs over many drills: models and writers.
//
// Role: pure; the drill fills the models from the store (harness/drill/history_of.h), numbers and
// sentences are decided in history_summary.h. Not here: the reasons of one verdict (model.h).
#ifndef RHARNESS_REPORTS_HISTORY_REPORT_H_
#define RHARNESS_REPORTS_HISTORY_REPORT_H_

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compare/facts.h"
#include "harness/base/clock.h"
#include "harness/base/json.h"
#include "harness/verdict/stored_verdict.h"
#include "reports/document.h"
#include "reports/retirements_report.h"

namespace rharness {

inline constexpr int kHistoryVersion = 1;

// One recorded run, as a list of them shows it.
struct HistoryRun : RunSummary {
  std::optional<RunRetirement> retirement = {};  // who asked for it and who approved; empty: nobody
};

// Two verdicts of a run, one after the other (those that say nothing are left out), one good and
// one bad; and what differs between where the two drills reran it.
struct VerdictChange {
  std::size_t before = 0;  // in the list of verdicts
  std::size_t after = 0;
  bool known = false;  // whether the history has both places
  std::array<LayerComparison, 5> layers;
};

struct RunHistory {
  HistoryRun run;
  std::string history;                                      // where it is kept
  std::vector<std::pair<std::string, std::string>> record;  // what its manifest says, by name
  std::vector<StoredVerdict> verdicts;                      // oldest first
  std::vector<VerdictChange> changes;                       // oldest first
  // For a run that no drill saw good: the differences between its record and the place of the first
  // bad drill. Empty: not known, or it was good once.
  std::optional<std::array<LayerComparison, 5>> from_record = {};
  std::vector<std::string> notes;
  Json manifest;
};

struct FamilyDrill {
  std::string drill_id;
  WallTime started{};
  std::optional<int> exit_code;
};

// One run of a family. `verdicts` has one element per drill of the family.
struct FamilyRun {
  HistoryRun run;
  std::vector<std::optional<Verdict>> verdicts;  // empty: that drill did not judge it
  std::vector<VerdictChange> changes;            // among those drills
  std::optional<StoredVerdict> last_good;        // of any drill
  std::optional<StoredVerdict> first_bad;        // after it
  bool known = false;                            // whether the history holds where these two ran
  std::array<LayerComparison, 5> layers;
};

// One drill's verdict on the runs of one configuration together.
struct TogetherVerdict {
  std::string drill_id;
  Verdict verdict = Verdict::kInconclusive;
  WallTime decided{};
  int runs = 0;
  std::vector<Reason> reasons;
};

// The runs of one configuration of a family, which differ in their seeds alone, over the same
// drills as its runs: one element per drill, empty without a joint verdict.
struct FamilyTogether {
  std::string name;
  std::string configuration;
  std::vector<std::optional<TogetherVerdict>> said;
  TogetherVerdict last;  // of any drill
};

struct FamilyHistory {
  std::string family;
  std::string history;
  std::vector<FamilyDrill> drills;  // the last ones that judged any of its runs, oldest first
  std::vector<FamilyRun> runs;      // by start
  std::vector<FamilyTogether> together = {};
  std::vector<std::string> notes;
};

// The last joint verdict on each configuration, for a list of runs.
struct LastTogether {
  std::string family;
  std::string name;
  TogetherVerdict last;
};

// "rharness.history/v1": a list of runs, a run and a family.
Json ToJson(const std::vector<HistoryRun>& runs, const std::vector<LastTogether>& together);
Json ToJson(const RunHistory& history);
Json ToJson(const FamilyHistory& history);

// `version`: of rharness. JUnit has a case a run, of its last verdict, and one for each joint
// verdict; a run that no drill has judged is skipped.
Document DocumentOf(const RunHistory& history, std::string_view version);
Document DocumentOf(const FamilyHistory& history, std::string_view version, int exit_code = 0);
Document DocumentOf(const std::vector<HistoryRun>& runs, const std::vector<LastTogether>& together,
                    std::string_view version, int exit_code = 0);

// Of one side of a difference: the value, or "absent".
std::string DifferenceValue(const std::optional<std::string>& value);

}  // namespace rharness

#endif  // RHARNESS_REPORTS_HISTORY_REPORT_H_
