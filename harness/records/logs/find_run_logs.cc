// The logs among what a run wrote, ranked.
#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "compare/curves/tensorboard.h"
#include "compare/curves/tracker_log.h"
#include "compare/weights/side_files.h"
#include "harness/base/source_folder.h"
#include "harness/records/logs/log_kinds.h"
#include "harness/records/logs/run_log.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

// A folder that is named anew by each run: "Nov28_06-12-03_host", "20261128-061203".
bool IsNamedByTime(const fs::path& folder) {
  constexpr std::ptrdiff_t kDigits = 6;
  return std::ranges::count_if(folder.filename().string(),
                               [](char c) { return c >= '0' && c <= '9'; }) >= kDigits;
}

// The folder around all files whose name is the same in a rerun; empty: the outermost one.
fs::path LastingFolder(const std::vector<fs::path>& files) {
  fs::path folder = files.front().parent_path();
  for (const fs::path& file : files) {
    while (!folder.empty() && !(file.string() + "/").starts_with(folder.string() + "/")) {
      folder = folder.parent_path();
    }
  }
  while (!folder.empty() && IsNamedByTime(folder)) folder = folder.parent_path();
  return folder;
}

// What may be a log, by rank.
struct Candidates {
  std::vector<fs::path> own;
  std::set<fs::path> trainers;  // folders; empty: the outermost one
  std::vector<fs::path> events;
  std::set<fs::path> mlflow;       // runs: folders, or RUN in a database's path
  std::set<fs::path> mlflow_logs;  // the stores that hold them
  std::vector<fs::path> wandb;
  std::map<std::string_view, std::vector<fs::path>> evaluations;  // by kind
  std::vector<std::pair<fs::path, std::string_view>> files;       // with their kinds
};

void AddByKind(const SourceFolder& source, const fs::path& file, std::string_view kind,
               const CountsAsWritten& counts, Candidates* found) {
  if (kind == kOwnLog) {
    found->own.push_back(file);
  } else if (kind == kMlflowLog) {
    for (const fs::path& run : RunsInLog(source.folder(), file)) {
      if (counts && !counts(run)) continue;
      found->mlflow.insert(run);
      found->mlflow_logs.insert(file);
    }
  } else if (kind == kWandbLog) {
    found->wandb.push_back(file);
  } else if (IsOneOfMany(kind)) {
    found->evaluations[kind].push_back(file);
  } else if (!kind.empty()) {
    found->files.emplace_back(file, kind);
  }
}

// What tools write beside their logs is part of these.
void LeaveOutParts(Candidates* found) {
  std::set<fs::path> owners = found->trainers;
  for (const fs::path& log : found->mlflow_logs) {
    if (log.extension().empty()) owners.insert(log);
    for (const char* artifacts : {"mlruns", "mlartifacts"}) {
      owners.insert(log.parent_path() / artifacts);
    }
  }
  const auto add = [&](std::string_view kind, const std::vector<fs::path>& logs) {
    for (const fs::path& log : logs) {
      if (const auto folder = FolderOwnedBy(log, kind)) owners.insert(*folder);
    }
  };
  add(kWandbLog, found->wandb);
  for (const auto& [kind, logs] : found->evaluations) add(kind, logs);
  std::erase_if(found->files, [&](const auto& one) {
    return std::ranges::any_of(owners,
                               [&](const fs::path& owner) { return IsBelow(one.first, owner); });
  });
}

Result<Candidates> Gather(const SourceFolder& source, const CountsAsWritten& counts) {
  Candidates found;
  std::size_t left = kMostCandidates;
  const auto look = [&](const std::string& relative, EntryKind kind) -> Result<bool> {
    if (kind != EntryKind::kFile || !MayBeRunLog(relative)) return true;
    const fs::path file(relative);
    // Numbers of a config.json beside the tensors are no results.
    if (SideFileOf(file.filename()) == SideFile::kModel) return true;
    if (counts && !counts(file)) return true;
    const fs::path folder = file.parent_path();
    if (IsEventFileName(file.filename().string())) {
      found.events.push_back(file);
    } else if (file.filename() == kStateFile) {
      const bool checkpoint = CheckpointStep(folder.filename().string()).has_value();
      found.trainers.insert(checkpoint ? folder.parent_path() : folder);
    } else if (const auto metric = MlflowMetricFileOf(file)) {
      // Below a folder of the experiment, whose name may be new in each run, too.
      found.mlflow.insert(metric->run);
      found.mlflow_logs.insert(metric->run.parent_path().parent_path());
    } else if (left > 0) {
      --left;
      ASSIGN_OR_RETURN(const std::string head, source.ReadHead(relative));
      AddByKind(source, file, KindOfHead(head), counts, &found);
    }
    return true;
  };
  RETURN_IF_ERROR(source.ForEachFile(look));
  LeaveOutParts(&found);
  return found;
}

// The logs of a kind, one for all: that of a path which is the same in a rerun, if there is one.
void AddLasting(std::string_view kind, const std::vector<fs::path>& logs, FoundLogs* found) {
  if (logs.empty()) return;
  const bool one = logs.size() == 1;
  const fs::path lasting =
      one && !IsNamedByTime(logs.front()) && LastingFolder(logs) == logs.front().parent_path()
          ? logs.front()
          : LastingFolder(logs);
  if (!lasting.empty()) found->logs.push_back({kind, lasting, {}});
  if (lasting.empty()) std::ranges::copy(logs, std::back_inserter(found->others));
}

void AddTrackers(const Candidates& candidates, FoundLogs* found) {
  const bool one_run = candidates.mlflow.size() == 1 && !candidates.mlflow_logs.begin()->empty();
  if (one_run) found->logs.push_back({kMlflowLog, *candidates.mlflow_logs.begin(), {}});
  if (!one_run) std::ranges::copy(candidates.mlflow, std::back_inserter(found->others));
  if (candidates.wandb.size() == 1) AddLasting(kWandbLog, candidates.wandb, found);
  if (candidates.wandb.size() > 1) {
    std::ranges::copy(candidates.wandb, std::back_inserter(found->others));
  }
  for (const auto& [kind, logs] : candidates.evaluations) AddLasting(kind, logs, found);
}

}  // namespace

Result<FoundLogs> FindRunLogs(const HeldFolder& folder, const CountsAsWritten& counts) {
  ASSIGN_OR_RETURN(const SourceFolder source, SourceFolder::OpenBelow(folder, "."));
  ASSIGN_OR_RETURN(const Candidates candidates, Gather(source, counts));
  FoundLogs found;
  const auto add_only = [&](const std::vector<std::pair<fs::path, std::string_view>>& logs) {
    if (logs.size() == 1) found.logs.push_back({logs.front().second, logs.front().first, {}});
    if (logs.size() == 1) return;
    for (const auto& [path, kind] : logs) found.others.push_back(path);
  };
  std::vector<std::pair<fs::path, std::string_view>> own;
  for (const fs::path& file : candidates.own) own.emplace_back(file, kOwnLog);
  add_only(own);
  // A manifest names no folder by ".".
  std::vector<std::pair<fs::path, std::string_view>> trainers;
  for (const fs::path& trainer : candidates.trainers) {
    trainers.emplace_back(trainer.empty() ? fs::path(kStateFile) : trainer, kTrainerLog);
  }
  add_only(trainers);
  if (!candidates.events.empty()) {
    const fs::path lasting = LastingFolder(candidates.events);
    if (!lasting.empty()) found.logs.push_back({kTensorBoardLog, lasting, {}});
    // Their own names change with each run.
    if (lasting.empty()) std::ranges::copy(candidates.events, std::back_inserter(found.others));
  }
  AddTrackers(candidates, &found);
  // A file that is named by the time has another name in a rerun, unlike its folder.
  std::vector<std::pair<fs::path, std::string_view>> files = candidates.files;
  for (auto& [path, kind] : files) {
    const fs::path lasting = LastingFolder({path});
    if (IsNamedByTime(path) && !lasting.empty()) path = lasting;
  }
  add_only(files);
  return found;
}

}  // namespace rharness
