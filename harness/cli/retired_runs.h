// Retirements that are not as they were signed, for verbs that name who signed.
#ifndef RHARNESS_HARNESS_CLI_RETIRED_RUNS_H_
#define RHARNESS_HARNESS_CLI_RETIRED_RUNS_H_

#include <map>
#include <string>
#include <vector>

#include "harness/base/clock.h"
#include "harness/base/result.h"
#include "harness/drill/historical_runs.h"
#include "harness/history/store.h"
#include "reports/history_report.h"

namespace rharness {

using RetirementDoubtTexts = std::map<std::string, std::string>;  // by run

// For a verb that selects as a drill does: `doubtful` becomes whether a retired run that was
// selected is not as it was signed. It must outlive what is returned.
RetirementDoubts HoldRetirements(bool* doubtful);

// The same of runs that are told: each doubt is a warning. Errors: those of the history.
Result<RetirementDoubtTexts> WarnOfRetirements(const std::vector<HistoryEntry>& entries,
                                               WallTime now, HistoryStore* store);

// Puts the doubt in the place of the signers, where there is one.
void TellDoubt(const RetirementDoubtTexts& doubts, HistoryRun* run);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_CLI_RETIRED_RUNS_H_
