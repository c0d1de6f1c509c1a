// Judged runs of a family, and the one to go back to.
#include "harness/history/last_good.h"

#include <map>
#include <tuple>
#include <utility>

namespace rharness {

Result<std::vector<JudgedRun>> LoadJudgedRuns(const std::string& family, HistoryStore* store) {
  ASSIGN_OR_RETURN(const auto entries, store->FamilyEntries(family));
  ASSIGN_OR_RETURN(auto good, store->FamilyLastGood(family));
  std::map<std::string, VerdictRecord> by_run;
  for (VerdictRecord& one : good) by_run.emplace(one.run_id, std::move(one));
  std::vector<JudgedRun> runs;
  for (const HistoryEntry& entry : entries) {
    JudgedRun run{.entry = entry, .good = {}, .bad = {}};
    if (const auto at = by_run.find(entry.run_id); at != by_run.end()) run.good = at->second;
    const std::int64_t after = run.good ? run.good->sequence : 0;
    if (entry.last_verdict) {
      ASSIGN_OR_RETURN(run.bad, store->FirstBadAfter(entry.run_id, after));
    }
    runs.push_back(std::move(run));
  }
  return runs;
}

const HistoryEntry* LastGoodBefore(const std::vector<const HistoryEntry*>& good,
                                   std::optional<WallTime> before) {
  const HistoryEntry* last = nullptr;
  for (const HistoryEntry* one : good) {
    if (before && one->started >= *before) continue;
    const bool later = last == nullptr ||
                       std::tie(last->started, last->run_id) < std::tie(one->started, one->run_id);
    if (later) last = one;
  }
  return last;
}

}  // namespace rharness
