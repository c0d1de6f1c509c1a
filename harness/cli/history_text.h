// What `rharness history` prints, as text and as JSON. Pure.
#ifndef RHARNESS_HARNESS_CLI_HISTORY_TEXT_H_
#define RHARNESS_HARNESS_CLI_HISTORY_TEXT_H_

#include <string>
#include <vector>

#include "harness/base/clock.h"
#include "harness/base/json.h"
#include "harness/history/store.h"
#include "harness/manifest/manifest.h"

namespace rharness {

// One line a run below a line of headings; columns are aligned for people, else tab-separated.
std::string EntriesAsTable(const std::vector<HistoryEntry>& entries, WallTime now, bool aligned);
Json EntriesAsJson(const std::vector<HistoryEntry>& entries);  // "rharness.history/v1"

// One run: what it was, how it may be judged, and its verdicts, oldest first.
std::string RunAsText(const HistoryEntry& entry, const Manifest& manifest,
                      const std::vector<VerdictRecord>& verdicts, WallTime now);
Json RunAsJson(const HistoryEntry& entry, const Manifest& manifest,
               const std::vector<VerdictRecord>& verdicts);  // "rharness.history_run/v1"

}  // namespace rharness

#endif  // RHARNESS_HARNESS_CLI_HISTORY_TEXT_H_
