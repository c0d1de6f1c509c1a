// The runs of a drill, out of their history.
#ifndef RHARNESS_HARNESS_DRILL_HISTORICAL_RUNS_H_
#define RHARNESS_HARNESS_DRILL_HISTORICAL_RUNS_H_

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/base/clock.h"
#include "harness/base/result.h"
#include "harness/history/store.h"
#include "harness/records/manifest/manifest.h"

namespace rharness {

// The runs that match the expression, in the history's order; excludes retired ones. Errors:
// invalid_input (the expression, or a value in it that no run has), io.
Result<std::vector<HistoryEntry>> SelectEntries(const std::string& expression, WallTime now,
                                                HistoryStore* history);

// Doubts about retirements, by retired run. Provided by code that can check them against the
// signatures.
using RetirementDoubts = std::function<Result<std::map<std::string, std::string>>(
    const std::vector<HistoryEntry>& retired, WallTime now, HistoryStore* history)>;

// A warning for each of these.
void WarnOfDoubts(const std::map<std::string, std::string>& doubts);

// The same for a drill, which must have something to do, and may take a sample; logs selected runs
// that are retired: with the signers, or with the doubt as a warning. `doubts` may be empty.
// Errors: those, and invalid_input with the reason if nothing is selected.
Result<std::vector<HistoryEntry>> SelectEntriesToDrill(const std::string& expression,
                                                       std::optional<std::size_t> sample,
                                                       const RetirementDoubts& doubts, WallTime now,
                                                       HistoryStore* history);

std::vector<std::string> RunIdsOf(const std::vector<HistoryEntry>& entries);

// The manifests of these runs, in their order. Errors: not_found, integrity, io.
Result<std::vector<Manifest>> LoadRuns(const std::vector<std::string>& run_ids,
                                       HistoryStore* history);

// The same by run id, each read once; calls `use` for each of their families with its members that
// are not retired.
// Errors: the same.
using UseFamily =
    std::function<void(const std::string& family, const std::vector<Manifest>& members)>;
Result<std::map<std::string, Manifest>> LoadRunsOfFamilies(const std::vector<std::string>& run_ids,
                                                           const UseFamily& use,
                                                           HistoryStore* history);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_DRILL_HISTORICAL_RUNS_H_
