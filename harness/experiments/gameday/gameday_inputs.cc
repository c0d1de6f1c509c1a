// Reading the history, and preparing data.
#include "harness/experiments/gameday/gameday_inputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "harness/base/digest.h"
#include "harness/base/files.h"
#include "harness/drill/given_names.h"
#include "harness/drill/historical_runs.h"
#include "harness/execution/rerun/places.h"
#include "harness/experiments/gameday/planted_files.h"
#include "harness/experiments/gameday/planted_run.h"
#include "harness/experiments/gameday/rates.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

Result<std::vector<Fault>> GivenFaults(const std::vector<std::string>& texts) {
  std::vector<Fault> faults;
  for (const std::string& text : texts) {
    ASSIGN_OR_RETURN(const std::vector<Fault> parsed, ParseFaults(text));
    for (const Fault& fault : parsed) {
      if (std::ranges::find(faults, fault.name, &Fault::name) != faults.end()) {
        return InvalidInput(fmt::format("'{}' is given twice", TerminalSafe(fault.name)),
                            "--fault");
      }
      faults.push_back(fault);
    }
  }
  if (faults.size() > kMostFaults) {
    return InvalidInput(fmt::format("has {} faults; {} at most", faults.size(), kMostFaults),
                        "--fault");
  }
  return faults;
}

// Consecutive drills of a run that ran on the same surroundings: how often the answer changed.
Result<SensitivityRate> StoredFlips(const Ground& ground, HistoryStore* history) {
  SensitivityRate rate{.name = "stored_flips", .words = "a verdict flips between stored drills"};
  for (const std::string& run_id : ground.run_ids) {
    ASSIGN_OR_RETURN(const std::vector<VerdictRecord> verdicts, history->Verdicts(run_id));
    for (std::size_t i = 1; i < verdicts.size(); ++i) {
      const VerdictRecord& before = verdicts[i - 1];
      const VerdictRecord& after = verdicts[i];
      const bool same = !after.surroundings_sha256.empty() &&
                        after.surroundings_sha256 == before.surroundings_sha256;
      if (!same) continue;
      const PlantedAnswer old_answer = AnswerOf(before.verdict);
      const PlantedAnswer new_answer = AnswerOf(after.verdict);
      if (old_answer == PlantedAnswer::kNotMade || new_answer == PlantedAnswer::kNotMade) continue;
      Count(old_answer == new_answer ? PlantedAnswer::kPassed : PlantedAnswer::kCalled, &rate);
      if (old_answer != new_answer && rate.example.empty()) {
        rate.example = fmt::format("{}: {} in {}, {} in {}", run_id, VerdictName(before.verdict),
                                   before.drill_id, VerdictName(after.verdict), after.drill_id);
      }
    }
  }
  if (rate.trials == 0) {
    rate.cannot = "no run has two drills in the history that ran on the same";
  }
  return rate;
}

// Errors: unsupported, not_found or invalid_input: why there is no copy; io.
Result<DataItem> PlantedCopy(const Fault& fault, const Manifest& run, const Places& places,
                             const fs::path& folder) {
  ASSIGN_OR_RETURN(DataItem item, DataOf(fault, run));
  ASSIGN_OR_RETURN(const fs::path from,
                   Locate(places, item.location.empty() ? item.path : item.location));
  const std::string key = fmt::format("{} {}", fault.name, item.sha256);
  const fs::path to = folder / "planted" / "data" / Sha256HexOf(key).substr(0, 16);
  RETURN_IF_ERROR(MakeDirectories(to.parent_path()));
  RETURN_IF_ERROR(PlantInRows(fault.kind, from, to, key));
  ASSIGN_OR_RETURN(const FileDigest digest, HashFile(to));
  item.location = fault.rank ? fs::absolute(to).string() : to.string();
  item.sha256 = digest.sha256;
  item.size_bytes = digest.size_bytes;
  return item;
}

}  // namespace

Result<GamedaySettings> GatherGameday(const GamedayOptions& options, Clock* clock,
                                      HistoryStore* history) {
  const auto given = GivenFaults(options.faults);
  if (!given.ok()) return given.error();
  if (options.only_given && options.faults.empty()) {
    return InvalidInput("goes with --fault: without any there is nothing to plant",
                        "--no-default-faults");
  }
  GamedaySettings settings{.drill = {.drill_id = MakeDrillId(clock->Now()),
                                     .started = clock->Now(),
                                     .options = options.drill},
                           .gameday = options};
  ASSIGN_OR_RETURN(const std::vector<HistoryEntry> entries,
                   SelectEntriesToDrill(options.drill.selection, {},
                                        options.drill.retirement_doubts, clock->Now(), history));
  settings.drill.run_ids = ChooseRuns(entries, options.trials);
  RETURN_IF_ERROR(CheckGivenNames(options.drill, settings.drill.run_ids, history));
  return settings;
}

Result<GamedayInputs> LoadGameday(const GamedaySettings& settings, HistoryStore* history) {
  GamedayInputs inputs;
  const auto of_family = [&](const std::string& family, const std::vector<Manifest>& members) {
    inputs.members[family] = members;
  };
  ASSIGN_OR_RETURN(inputs.manifests,
                   LoadRunsOfFamilies(settings.drill.run_ids, of_family, history));
  std::vector<Manifest> runs;
  for (const std::string& run_id : settings.drill.run_ids) {
    runs.push_back(inputs.manifests.at(run_id));
  }
  ASSIGN_OR_RETURN(const std::vector<Fault> given, GivenFaults(settings.gameday.faults));
  inputs.grounds = GroundsOf(runs, given, settings.gameday.only_given);
  for (const Ground& ground : inputs.grounds) {
    const Manifest& first = inputs.manifests.at(ground.run_ids.front());
    Replicates replicates(settings.drill.options.plan);
    replicates.AddRecorded(inputs.members[first.family]);
    RETURN_IF_ERROR(replicates.Load(first, history));
    inputs.replicates.emplace(ground.configuration, std::move(replicates));
    ASSIGN_OR_RETURN(inputs.stored[ground.configuration], StoredFlips(ground, history));
  }
  return inputs;
}

Status PlantData(const GamedaySettings& settings, GamedayInputs* inputs) {
  const DrillOptions& options = settings.drill.options;
  for (Ground& ground : inputs->grounds) {
    for (GroundFault& one : ground.faults) {
      const bool data =
          one.fault.kind == FaultKind::kDataRow || one.fault.kind == FaultKind::kDataOrder;
      if (!data || !one.cannot.empty()) continue;
      // Runs of one configuration have the same data; their places may differ.
      for (const std::string& run_id : ground.run_ids) {
        auto copy =
            PlantedCopy(one.fault, inputs->manifests.at(run_id), options.places, options.out);
        if (!copy.ok() && copy.error().code == ErrorCode::kIo) return copy.error();
        if (!copy.ok()) {
          one.cannot = copy.error().message;
          break;
        }
        inputs->data[{run_id, one.fault.name}] = std::move(*copy);
      }
    }
  }
  return {};
}

}  // namespace rharness
