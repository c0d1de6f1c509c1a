// Reads verdicts from the store, and the differences where they change.
#include "harness/drill/history_of.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "harness/base/json.h"
#include "harness/drill/surveyor.h"
#include "reports/history_summary.h"

namespace rharness {
namespace {

TogetherVerdict TogetherOf(const FamilyRecord& record) {
  return {.drill_id = record.drill_id,
          .verdict = record.verdict,
          .decided = record.decided,
          .runs = record.runs,
          .reasons = ReasonsIn(record.reasons)};
}

// By configuration, in the order in which they were first judged.
Status LoadTogether(HistoryStore* store, FamilyHistory* history) {
  ASSIGN_OR_RETURN(const auto records, store->TogetherVerdicts(history->family));
  for (const FamilyRecord& record : records) {
    TogetherVerdict verdict = TogetherOf(record);
    auto at =
        std::ranges::find(history->together, record.configuration, &FamilyTogether::configuration);
    if (at == history->together.end()) {
      FamilyTogether together;
      together.configuration = record.configuration;
      together.said.resize(history->drills.size());
      at = history->together.insert(at, std::move(together));
    }
    at->name = record.name;
    at->last = verdict;
    const auto drill = std::ranges::find(history->drills, record.drill_id, &FamilyDrill::drill_id);
    if (drill == history->drills.end()) continue;
    at->said[static_cast<std::size_t>(drill - history->drills.begin())] = std::move(verdict);
  }
  return {};
}

// The differences between the places of two drills' reruns of a run.
Result<std::optional<Surveyor::Layers>> LayersBetween(const std::string& run_id,
                                                      const std::string& before,
                                                      const std::string& after, HistoryStore* store,
                                                      Surveyor* surveyor) {
  if (before.empty() || after.empty()) return std::optional<Surveyor::Layers>();
  ASSIGN_OR_RETURN(const Manifest manifest, store->Get(run_id));
  return surveyor->Compare(manifest, before, after);
}

Status Explain(const std::string& run_id, const std::vector<std::string>& places,
               HistoryStore* store, std::vector<VerdictChange>* changes, Surveyor* surveyor) {
  for (VerdictChange& change : *changes) {
    ASSIGN_OR_RETURN(const auto layers, LayersBetween(run_id, places.at(change.before),
                                                      places.at(change.after), store, surveyor));
    change.known = layers.has_value();
    if (layers) change.layers = *layers;
  }
  return {};
}

// The grid of one family under construction: each drill's verdict on each run, and its place.
struct Cell {
  std::optional<Verdict> verdict;
  std::string place;
};
using Grid = std::map<std::string, std::vector<Cell>>;  // by run_id, one cell a drill

Result<Grid> LoadGrid(const FamilyHistory& family, HistoryStore* store) {
  Grid grid;
  for (std::size_t i = 0; i < family.drills.size(); ++i) {
    ASSIGN_OR_RETURN(const auto records,
                     store->FamilyVerdicts(family.family, family.drills[i].drill_id));
    for (const VerdictRecord& record : records) {
      std::vector<Cell>& cells = grid[record.run_id];
      cells.resize(family.drills.size());
      cells[i].verdict = record.verdict;
      cells[i].place = record.surroundings_sha256;
    }
  }
  return grid;
}

Status FillTurn(const std::map<std::string, VerdictRecord>& last_good, HistoryStore* store,
                Surveyor* surveyor, FamilyRun* run) {
  const std::string& run_id = run->run.run_id;
  const auto good = last_good.find(run_id);
  const std::int64_t after = good == last_good.end() ? 0 : good->second.sequence;
  ASSIGN_OR_RETURN(const auto bad, store->FirstBadAfter(run_id, after));
  if (good != last_good.end()) {
    run->last_good = StoredVerdictOf(good->second);
  }
  if (!bad) return {};
  run->first_bad = StoredVerdictOf(*bad);
  if (good == last_good.end()) return {};
  ASSIGN_OR_RETURN(const auto layers, LayersBetween(run_id, good->second.surroundings_sha256,
                                                    bad->surroundings_sha256, store, surveyor));
  run->known = layers.has_value();
  if (layers) run->layers = *layers;
  return {};
}

Result<FamilyRun> BuildFamilyRun(const HistoryEntry& entry, std::vector<Cell> cells,
                                 const std::map<std::string, VerdictRecord>& last_good,
                                 HistoryStore* store, Surveyor* surveyor) {
  FamilyRun run;
  run.run = HistoryRunOf(entry);
  std::vector<std::string> places;
  for (Cell& cell : cells) {
    run.verdicts.push_back(cell.verdict);
    places.push_back(std::move(cell.place));
  }
  run.changes = FindChanges(run.verdicts);
  RETURN_IF_ERROR(Explain(entry.run_id, places, store, &run.changes, surveyor));
  RETURN_IF_ERROR(FillTurn(last_good, store, surveyor, &run));
  return run;
}

// A sentence a stack on which replicates of this configuration were made.
Result<std::vector<std::string>> NotesOnReplicates(const std::string& configuration,
                                                   HistoryStore* store) {
  struct Made {
    int count = 0;
    std::set<std::string> runs;
    WallTime last{};
  };
  ASSIGN_OR_RETURN(const auto replicates, store->Replicates(configuration));
  std::map<std::string, Made> by_stack;
  for (const ReplicateRecord& one : replicates) {
    if (one.replicate < 1) continue;
    Made& made = by_stack[one.stack];
    ++made.count;
    made.runs.insert(one.run_id);
    made.last = std::max(made.last, one.made);
  }
  std::vector<std::string> notes;
  for (const auto& [stack, made] : by_stack) {
    notes.push_back(fmt::format(
        "{} replicate{} of {} made on {}, on stack {}: how far rounding carries its configuration",
        made.count, made.count == 1 ? "" : "s", fmt::join(made.runs, ", "),
        FormatTime(made.last).substr(0, 10), stack.substr(0, 12)));
  }
  return notes;
}

}  // namespace

std::optional<RunRetirement> RetirementOfEntry(const HistoryEntry& entry) {
  if (!entry.retirement) return std::nullopt;
  const SignedRetirement& by = *entry.retirement;
  return RunRetirement{by.asked_by, by.asked, by.approved_by, by.approved, by.statement_sha256};
}

// Sentences, or objects with one.
std::vector<Reason> ReasonsIn(const std::string& text) {
  if (text.empty()) return {};
  const Result<Json> json = ParseJson(text, "reasons");
  if (!json.ok() || !json->IsArray()) return {ReadReason(text)};
  std::vector<Reason> reasons;
  for (const Json& one : json->AsArray()) {
    const Json* message = one.IsObject() ? one.Find("message") : &one;
    if (message == nullptr || message->kind() != Json::Kind::kString) continue;
    reasons.push_back(ReadReason(message->AsString()));
  }
  return reasons;
}

StoredVerdict StoredVerdictOf(const VerdictRecord& record) {
  return {.drill_id = record.drill_id,
          .verdict = record.verdict,
          .decided = record.decided,
          .reruns = record.reruns,
          .reasons = ReasonsIn(record.reasons)};
}

HistoryRun HistoryRunOf(const HistoryEntry& entry) { return {entry, RetirementOfEntry(entry)}; }

std::vector<HistoryRun> HistoryRunsOf(const std::vector<HistoryEntry>& entries) {
  std::vector<HistoryRun> runs;
  for (const HistoryEntry& entry : entries) runs.push_back(HistoryRunOf(entry));
  return runs;
}

Result<std::vector<LastTogether>> LoadLastTogether(const std::set<std::string>& families,
                                                   HistoryStore* store) {
  std::vector<LastTogether> together;
  ASSIGN_OR_RETURN(const auto records, store->LastTogetherVerdicts());
  for (const FamilyRecord& record : records) {
    if (!families.contains(record.family)) continue;
    together.push_back({record.family, record.name, TogetherOf(record)});
  }
  return together;
}

Result<RunHistory> LoadRunHistory(const std::string& run_id, HistoryStore* store) {
  RunHistory history;
  ASSIGN_OR_RETURN(const HistoryEntry entry, store->Find(run_id));
  history.run = HistoryRunOf(entry);
  ASSIGN_OR_RETURN(const Manifest manifest, store->Get(run_id));
  history.manifest = ToJson(manifest);
  ASSIGN_OR_RETURN(const std::vector<VerdictRecord> records, store->Verdicts(run_id));
  std::vector<std::optional<Verdict>> verdicts;
  std::vector<std::string> places;
  for (const VerdictRecord& record : records) {
    StoredVerdict verdict = StoredVerdictOf(record);
    verdicts.emplace_back(verdict.verdict);
    places.push_back(record.surroundings_sha256);
    history.verdicts.push_back(std::move(verdict));
  }
  history.changes = FindChanges(verdicts);
  Surveyor surveyor(store);
  RETURN_IF_ERROR(Explain(run_id, places, store, &history.changes, &surveyor));
  const RunOutlook outlook = Summarize(history);
  if (outlook.first_bad && !outlook.last_good) {
    ASSIGN_OR_RETURN(history.from_record,
                     surveyor.HoldToRecord(manifest, places.at(*outlook.first_bad)));
  }
  history.notes = surveyor.Notes();
  ASSIGN_OR_RETURN(auto notes, NotesOnReplicates(entry.configuration, store));
  std::ranges::move(notes, std::back_inserter(history.notes));
  return history;
}

Result<FamilyHistory> LoadFamilyHistory(const std::string& family, std::size_t drills,
                                        HistoryStore* store) {
  FamilyHistory history;
  history.family = family;
  ASSIGN_OR_RETURN(const std::vector<HistoryEntry> entries, store->FamilyEntries(family));
  ASSIGN_OR_RETURN(const std::vector<DrillRecord> records, store->FamilyDrills(family, drills));
  for (const DrillRecord& record : records) {
    history.drills.push_back({record.drill_id, record.started, record.exit_code});
  }
  RETURN_IF_ERROR(LoadTogether(store, &history));
  ASSIGN_OR_RETURN(Grid grid, LoadGrid(history, store));
  ASSIGN_OR_RETURN(const std::vector<VerdictRecord> goods, store->FamilyLastGood(family));
  std::map<std::string, VerdictRecord> last_good;
  for (const VerdictRecord& good : goods) last_good.emplace(good.run_id, good);
  Surveyor surveyor(store);
  for (const HistoryEntry& entry : entries) {
    std::vector<Cell> cells = std::move(grid[entry.run_id]);
    cells.resize(history.drills.size());
    ASSIGN_OR_RETURN(FamilyRun run,
                     BuildFamilyRun(entry, std::move(cells), last_good, store, &surveyor));
    history.runs.push_back(std::move(run));
  }
  history.notes = surveyor.Notes();
  std::set<std::string> configurations;
  for (const HistoryEntry& entry : entries) {
    if (!configurations.insert(entry.configuration).second) continue;
    ASSIGN_OR_RETURN(auto notes, NotesOnReplicates(entry.configuration, store));
    std::ranges::move(notes, std::back_inserter(history.notes));
  }
  return history;
}

}  // namespace rharness
