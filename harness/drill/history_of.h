// The history of a run or a family as reports tell it: verdicts, and what differs where they turn.
#ifndef RHARNESS_HARNESS_DRILL_HISTORY_OF_H_
#define RHARNESS_HARNESS_DRILL_HISTORY_OF_H_

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/history/store.h"
#include "reports/history_report.h"

namespace rharness {

// Who signed for its retirement; empty: nobody.
std::optional<RunRetirement> RetirementOfEntry(const HistoryEntry& entry);

// A verdict's reasons as the history keeps them; text that is no JSON is one.
std::vector<Reason> ReasonsIn(const std::string& text);

StoredVerdict StoredVerdictOf(const VerdictRecord& record);
HistoryRun HistoryRunOf(const HistoryEntry& entry);
std::vector<HistoryRun> HistoryRunsOf(const std::vector<HistoryEntry>& entries);

// The last that drills said of each configuration of these families. Errors: those of the store.
Result<std::vector<LastTogether>> LoadLastTogether(const std::set<std::string>& families,
                                                   HistoryStore* store);

// Everything but `history` and `record`. Where a change happened in surroundings that cannot be
// read it is not known, and a note says why. Errors: not_found, integrity, io.
Result<RunHistory> LoadRunHistory(const std::string& run_id, HistoryStore* store);

// The runs of the family over the last `drills` drills that judged any of them; without runs where
// there is no such family. Errors: integrity, io. Cost: one query a drill and a broken run; what
// differs is compared for broken runs and changed verdicts alone.
Result<FamilyHistory> LoadFamilyHistory(const std::string& family, std::size_t drills,
                                        HistoryStore* store);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_DRILL_HISTORY_OF_H_
