// One path for all verbs: harness/trust/approval holds a retirement to what was signed.
#include "harness/cli/retired_runs.h"

#include <utility>

#include "harness/drill/history_of.h"
#include "harness/trust/approval/retirement_approval.h"

namespace rharness {

RetirementDoubts HoldRetirements(bool* doubtful) {
  return [doubtful](const std::vector<HistoryEntry>& retired, WallTime now, HistoryStore* store) {
    auto doubts = RetirementDoubtsOf(retired, now, store);
    *doubtful = doubts.ok() && !doubts->empty();
    return doubts;
  };
}

Result<RetirementDoubtTexts> WarnOfRetirements(const std::vector<HistoryEntry>& entries,
                                               WallTime now, HistoryStore* store) {
  ASSIGN_OR_RETURN(RetirementDoubtTexts doubts, RetirementDoubtsOf(entries, now, store));
  WarnOfDoubts(doubts);
  return doubts;
}

void TellDoubt(const RetirementDoubtTexts& doubts, HistoryRun* run) {
  const auto doubt = doubts.find(run->run_id);
  if (doubt != doubts.end()) run->retirement = RunRetirement{.doubt = doubt->second};
}

}  // namespace rharness
