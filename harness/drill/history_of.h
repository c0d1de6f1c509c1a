// The history of a run or a family for reports: verdicts, and the differences where they change.
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

// Signers of its retirement; empty: nobody.
std::optional<RunRetirement> RetirementOfEntry(const HistoryEntry& entry);

// A verdict's reasons as the history keeps them; text that is no JSON is one.
std::vector<Reason> ReasonsIn(const std::string& text);

StoredVerdict StoredVerdictOf(const VerdictRecord& record);
HistoryRun HistoryRunOf(const HistoryEntry& entry);
std::vector<HistoryRun> HistoryRunsOf(const std::vector<HistoryEntry>& entries);

// The last that drills said of each configuration of these families. Errors: those of the store.
Result<std::vector<LastTogether>> LoadLastTogether(const std::set<std::string>& families,
                                                   HistoryStore* store);

// Everything but `history` and `record`. A change with unreadable surroundings is not known, with a
// note. Errors: not_found, integrity, io.
Result<RunHistory> LoadRunHistory(const std::string& run_id, HistoryStore* store);

// The runs of the family over the last `drills` drills that judged any of them; without runs if
// there is no such family. Errors: integrity, io. Cost: one query per drill and per broken run;
// compares differences only for broken runs and changed verdicts.
Result<FamilyHistory> LoadFamilyHistory(const std::string& family, std::size_t drills,
                                        HistoryStore* store);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_DRILL_HISTORY_OF_H_
