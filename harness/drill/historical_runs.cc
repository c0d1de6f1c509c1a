// Opening, selecting, loading.
#include "harness/drill/historical_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "harness/drill/select.h"
#include "harness/drill/selection_check.h"
#include "harness/history/location.h"

namespace rharness {

Result<std::unique_ptr<HistoryStore>> OpenHistory(const std::string& url) {
  ASSIGN_OR_RETURN(const std::filesystem::path path, ParseHistoryUrl(url));
  std::error_code error;
  if (!std::filesystem::exists(path, error)) {
    return NotFound("no such history; `rharness history add` makes one", path.string());
  }
  return HistoryStore::Open(url);
}

Result<std::vector<std::string>> SelectRuns(const std::string& expression,
                                            std::optional<std::size_t> sample, std::uint64_t seed,
                                            WallTime now, HistoryStore* history, bool by_wait) {
  ASSIGN_OR_RETURN(const Selection selection, Selection::Parse(expression));
  ASSIGN_OR_RETURN(std::vector<HistoryEntry> entries, history->List(true));
  RETURN_IF_ERROR(CheckNamedValues(selection, entries));
  std::erase_if(entries, [&](const HistoryEntry& entry) {
    return entry.retired || !selection.Matches(entry, now);
  });
  if (sample) entries = SampleLongestWaiting(entries, *sample, seed);
  if (by_wait) entries = OrderByWait(std::move(entries), seed);
  std::vector<std::string> run_ids;
  run_ids.reserve(entries.size());
  for (const HistoryEntry& entry : entries) run_ids.push_back(entry.run_id);
  return run_ids;
}

Result<std::vector<std::string>> SelectRunsToDrill(const std::string& expression,
                                                   std::optional<std::size_t> sample,
                                                   std::uint64_t seed, WallTime now,
                                                   HistoryStore* history, bool by_wait) {
  ASSIGN_OR_RETURN(std::vector<std::string> run_ids,
                   SelectRuns(expression, sample, seed, now, history, by_wait));
  if (!run_ids.empty()) return run_ids;
  ASSIGN_OR_RETURN(const std::vector<HistoryEntry> all, history->List(true));
  if (all.empty()) {
    return InvalidInput("the history holds no runs; `rharness history add` adds some", "--history");
  }
  const auto retired = static_cast<std::size_t>(std::ranges::count_if(
      all, [](const HistoryEntry& entry) { return entry.retired.has_value(); }));
  if (retired == all.size()) {
    return InvalidInput(fmt::format("all {} runs of the history are retired", retired),
                        "--history");
  }
  if (sample && *sample == 0)
    return InvalidInput("0 runs to draw; expected at least 1", "--sample");
  return InvalidInput(fmt::format("holds for none of the {} runs that are not retired; `rharness "
                                  "history list` shows them",
                                  all.size() - retired),
                      "--select");
}

Result<std::vector<Manifest>> LoadRuns(const std::vector<std::string>& run_ids,
                                       HistoryStore* history) {
  std::vector<Manifest> runs;
  for (const std::string& run_id : run_ids) {
    ASSIGN_OR_RETURN(Manifest manifest, history->Get(run_id));
    runs.push_back(std::move(manifest));
  }
  return runs;
}

}  // namespace rharness
