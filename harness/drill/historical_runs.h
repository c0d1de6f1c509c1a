// The runs of a drill, out of their history.
#ifndef RHARNESS_HARNESS_DRILL_HISTORICAL_RUNS_H_
#define RHARNESS_HARNESS_DRILL_HISTORICAL_RUNS_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harness/base/clock.h"
#include "harness/base/result.h"
#include "harness/history/store.h"
#include "harness/manifest/manifest.h"

namespace rharness {

// Opens a history that is there: a drill of a misspelled path must not make an empty one and find
// nothing wrong in it. Errors: not_found, and those of HistoryStore::Open.
Result<std::unique_ptr<HistoryStore>> OpenHistory(const std::string& url);

// The run ids for which the expression holds, or so many of them that have waited longest for a
// drill; retired runs are never among them. In the history's order; `by_wait`: the longest waiting
// first, for a plan that may not reach them all. `seed` orders equal waits. Errors: invalid_input
// (the expression, or a value in it that no run has), io.
Result<std::vector<std::string>> SelectRuns(const std::string& expression,
                                            std::optional<std::size_t> sample, std::uint64_t seed,
                                            WallTime now, HistoryStore* history,
                                            bool by_wait = false);

// The same for a drill, which must have something to do. Errors: those, and invalid_input that says
// why there is nothing.
Result<std::vector<std::string>> SelectRunsToDrill(const std::string& expression,
                                                   std::optional<std::size_t> sample,
                                                   std::uint64_t seed, WallTime now,
                                                   HistoryStore* history, bool by_wait = false);

// The manifests of these runs, in their order. Errors: not_found, integrity, io.
Result<std::vector<Manifest>> LoadRuns(const std::vector<std::string>& run_ids,
                                       HistoryStore* history);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_DRILL_HISTORICAL_RUNS_H_
