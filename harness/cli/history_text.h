// The tables of `rharness history`. Pure.
#ifndef RHARNESS_HARNESS_CLI_HISTORY_TEXT_H_
#define RHARNESS_HARNESS_CLI_HISTORY_TEXT_H_

#include <string>
#include <utility>
#include <vector>

#include "harness/base/clock.h"
#include "harness/history/store.h"
#include "harness/manifest/manifest.h"

namespace rharness {

// One line a run below a line of headings; columns are aligned for people, else tab-separated.
std::string EntriesAsTable(const std::vector<HistoryEntry>& entries, WallTime now, bool aligned);

// What a run's manifest says, as names and values: what it was, and how it may be judged.
std::vector<std::pair<std::string, std::string>> RecordOf(const HistoryEntry& entry,
                                                          const Manifest& manifest, WallTime now);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_CLI_HISTORY_TEXT_H_
