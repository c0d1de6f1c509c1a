// The tables of `rharness history`. Pure.
#ifndef RHARNESS_HARNESS_CLI_HISTORY_TEXT_H_
#define RHARNESS_HARNESS_CLI_HISTORY_TEXT_H_

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "harness/base/clock.h"
#include "harness/history/store.h"
#include "harness/records/manifest/manifest.h"
#include "reports/history_report.h"

namespace rharness {

// One line a run below a line of headings; columns are aligned for people, else tab-separated.
// `doubts`: of retirements, by run, which are told without their signers.
std::string EntriesAsTable(const std::vector<HistoryEntry>& entries,
                           const std::map<std::string, std::string>& doubts, WallTime now,
                           bool aligned);

// Below that table, for people: what each configuration came to together; empty without any.
std::string TogetherAsLines(const std::vector<LastTogether>& together, WallTime now);

// What a run's manifest says, as names and values: what it was, and how it may be judged.
std::vector<std::pair<std::string, std::string>> RecordOf(const HistoryEntry& entry,
                                                          const Manifest& manifest, WallTime now);

// The same of its properties, as one of these: what drills said of each, the last one first. None
// where no drill did.
std::vector<std::pair<std::string, std::string>> PropertiesOf(
    const std::vector<PropertyRecord>& verdicts);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_CLI_HISTORY_TEXT_H_
