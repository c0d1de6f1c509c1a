// The summary of the history of a run or a family: since when, how often, and after which change.
//
// Role: pure; every writer of a history takes its numbers and sentences from here. Returned text
// with untrusted names has passed SafeText and still needs its format's escaping.
#ifndef RHARNESS_REPORTS_HISTORY_SUMMARY_H_
#define RHARNESS_REPORTS_HISTORY_SUMMARY_H_

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reports/history_report.h"

namespace rharness {

// Where good turned bad or bad turned good, oldest first; an empty verdict is passed over. What
// differs in between is for the caller to fill in.
std::vector<VerdictChange> FindChanges(const std::vector<std::optional<Verdict>>& verdicts);

// The stability of a verdict. A run is flaky when its verdict changed between two drills although
// nothing differs in the kept data on their places; packages that it was not seen to use do not
// count.
struct Steadiness {
  std::size_t steps = 0;        // from one conclusive drill to the next
  std::size_t changes = 0;      // of them, good to bad or back
  std::size_t unexplained = 0;  // of the changes: nothing that it uses differs
  std::size_t not_known = 0;    // of the changes: the differences are not kept
};
Steadiness SteadinessOf(const std::vector<std::optional<Verdict>>& verdicts,
                        const std::vector<VerdictChange>& changes);
// "flaky: 2 of 9 times it came out otherwise than the drill before, although ..."; empty when not.
std::string FlakyWords(const Steadiness& steadiness);

// "the environment: numpy went from 1.26.4 to 2.4.6"; OfChange has one sentence per difference.
std::string DifferenceWords(const FactDifference& difference);
std::vector<std::string> WordsOf(const std::array<LayerComparison, 5>& layers);
// The words of a change, or that nothing differs, or that it is not known. Never empty.
std::vector<std::string> ChangeWords(bool known, const std::array<LayerComparison, 5>& layers);

// Verdicts in a row that are the same.
struct Streak {
  std::size_t first = 0;
  std::size_t count = 0;
};
std::vector<Streak> StreaksOf(const std::vector<StoredVerdict>& verdicts);

struct RunOutlook {
  std::string answer;     // "Drifted since 2026-11-20 02:00 UTC; it last reproduced on ..."
  std::string next_step;  // one sentence
  std::optional<std::size_t> last_good;  // in verdicts
  std::optional<std::size_t> first_bad;  // after it; without any good one, the first bad one
  std::optional<std::size_t> broke;      // in changes: the last one from good to bad
  Steadiness steadiness;
  std::map<std::string, int> counts;  // by verdict name
};
RunOutlook Summarize(const RunHistory& history);

// A difference shared by broken runs of a family.
struct FamilyCause {
  FactDifference difference;  // of the first such run
  int broken = 0;             // runs with exactly this difference
};

struct FamilyOutlook {
  std::string answer;
  std::string next_step;
  std::map<std::string, int> counts;  // by the last verdict of each run
  int never = 0;                      // runs that no drill has judged
  int broken = 0;                     // bad now, and good once
  int explained = 0;                  // of them, those whose last good drill can be compared
  int flaky = 0;
  std::vector<const FamilyRun*> order;  // worst first, flaky ones before steady ones
  std::vector<FamilyCause> causes;      // most common first, at most 12
};
// `history` must outlive the result.
FamilyOutlook Summarize(const FamilyHistory& history);
bool IsFlaky(const FamilyRun& run);
// Of the run's last verdict, if it is bad; kOpen for none.
Standing StandingNow(const FamilyRun& run);

}  // namespace rharness

#endif  // RHARNESS_REPORTS_HISTORY_SUMMARY_H_
