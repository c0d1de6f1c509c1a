// Opening, selecting, loading.
#include "harness/drill/historical_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "harness/base/files.h"
#include "harness/base/log.h"
#include "harness/drill/history_of.h"
#include "harness/drill/select.h"
#include "harness/drill/selection_check.h"

namespace rharness {
namespace {

constexpr std::size_t kMostRetiredNamed = 3;

struct Selected {
  std::vector<HistoryEntry> entries;
  std::vector<HistoryEntry> retired;
};

Result<Selected> SelectAll(const std::string& expression, WallTime now, HistoryStore* history) {
  ASSIGN_OR_RETURN(Selection selection, Selection::Parse(expression));
  Selected selected;
  ASSIGN_OR_RETURN(selected.entries, history->List(true));
  RETURN_IF_ERROR(CheckNamedValues(selection, selected.entries));
  RETURN_IF_ERROR(FindArtifacts(history, &selection));
  std::erase_if(selected.entries,
                [&](const HistoryEntry& entry) { return !selection.Matches(entry, now); });
  const auto retired =
      std::stable_partition(selected.entries.begin(), selected.entries.end(),
                            [](const HistoryEntry& entry) { return !entry.retired; });
  selected.retired.assign(retired, selected.entries.end());
  selected.entries.erase(retired, selected.entries.end());
  return selected;
}

using Doubts = std::map<std::string, std::string>;  // by run

Result<Doubts> TellDoubts(const std::vector<HistoryEntry>& retired, const RetirementDoubts& doubts,
                          WallTime now, HistoryStore* history) {
  if (retired.empty() || !doubts) return Doubts();
  ASSIGN_OR_RETURN(Doubts found, doubts(retired, now, history));
  WarnOfDoubts(found);
  return found;
}

// "1 retired run is not drilled: a: its data is gone (unsigned)"
std::string LeftOutInWords(const std::vector<HistoryEntry>& retired, const Doubts& doubts) {
  std::string text = retired.size() == 1
                         ? "1 retired run is not drilled"
                         : fmt::format("{} retired runs are not drilled", retired.size());
  for (std::size_t i = 0; i < std::min(retired.size(), kMostRetiredNamed); ++i) {
    const auto doubt = doubts.find(retired[i].run_id);
    const auto by = doubt == doubts.end() ? RetirementOfEntry(retired[i])
                                          : RunRetirement{.doubt = doubt->second};
    text += fmt::format("{}{}: {}", i == 0 ? ": " : "; ", TerminalSafe(retired[i].run_id),
                        RetiredInWords(*retired[i].retired, by));
  }
  return text + (retired.size() > kMostRetiredNamed ? "; ..." : "");
}

}  // namespace

void WarnOfDoubts(const std::map<std::string, std::string>& doubts) {
  for (const auto& [run_id, doubt] : doubts) {
    LogWarning(fmt::format("run {} is retired, and not as it was signed: {}", TerminalSafe(run_id),
                           doubt));
  }
}

Result<std::vector<HistoryEntry>> SelectEntries(const std::string& expression, WallTime now,
                                                HistoryStore* history) {
  ASSIGN_OR_RETURN(Selected selected, SelectAll(expression, now, history));
  return std::move(selected.entries);
}

std::vector<std::string> RunIdsOf(const std::vector<HistoryEntry>& entries) {
  std::vector<std::string> run_ids;
  run_ids.reserve(entries.size());
  for (const HistoryEntry& entry : entries) run_ids.push_back(entry.run_id);
  return run_ids;
}

Result<std::vector<HistoryEntry>> SelectEntriesToDrill(const std::string& expression,
                                                       std::optional<std::size_t> sample,
                                                       const RetirementDoubts& doubts, WallTime now,
                                                       HistoryStore* history) {
  ASSIGN_OR_RETURN(Selected selected, SelectAll(expression, now, history));
  ASSIGN_OR_RETURN(const Doubts doubtful, TellDoubts(selected.retired, doubts, now, history));
  if (!selected.entries.empty() && sample.value_or(1) > 0) {
    if (!selected.retired.empty()) LogInfo(LeftOutInWords(selected.retired, doubtful));
    return std::move(selected.entries);
  }
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
  if (!selected.retired.empty()) {
    return InvalidInput(LeftOutInWords(selected.retired, doubtful), "--select");
  }
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

Result<std::map<std::string, Manifest>> LoadRunsOfFamilies(const std::vector<std::string>& run_ids,
                                                           const UseFamily& use,
                                                           HistoryStore* history) {
  const std::set<std::string> selected(run_ids.begin(), run_ids.end());
  std::map<std::string, Manifest> runs;
  std::set<std::string> families;
  for (const std::string& run_id : run_ids) {
    if (runs.contains(run_id)) continue;
    ASSIGN_OR_RETURN(Manifest manifest, history->Get(run_id));
    if (families.insert(manifest.family).second) {
      ASSIGN_OR_RETURN(auto members, history->LoadFamily(manifest.family));
      use(manifest.family, members);
      for (Manifest& member : members) {
        const std::string member_id = member.run_id;
        if (selected.contains(member_id)) runs.emplace(member_id, std::move(member));
      }
    }
    runs.emplace(run_id, std::move(manifest));  // one that was retired since is no member
  }
  return runs;
}

}  // namespace rharness
