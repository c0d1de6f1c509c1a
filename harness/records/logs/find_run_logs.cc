// The logs among what a run wrote, ranked.
#include <algorithm>
#include <iterator>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "compare/curves/tensorboard.h"
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
  std::vector<std::pair<fs::path, std::string_view>> files;  // with their kinds
};

Result<Candidates> Gather(const SourceFolder& source, const CountsAsWritten& counts) {
  Candidates found;
  std::size_t left = kMostCandidates;
  const auto look = [&](const std::string& relative, EntryKind kind) -> Result<bool> {
    const fs::path file(relative);
    if (kind != EntryKind::kFile || !MayBeRunLog(file)) return true;
    if (counts && !counts(file)) return true;
    const fs::path folder = file.parent_path();
    if (IsEventFileName(file.filename().string())) {
      found.events.push_back(file);
    } else if (file.filename() == kStateFile) {
      const bool checkpoint = CheckpointStep(folder.filename().string()).has_value();
      found.trainers.insert(checkpoint ? folder.parent_path() : folder);
    } else if (left > 0) {
      --left;
      ASSIGN_OR_RETURN(const std::string head, source.ReadHead(relative));
      const std::string_view log = KindOfHead(head);
      if (log == kOwnLog) found.own.push_back(file);
      if (!log.empty() && log != kOwnLog) found.files.emplace_back(file, log);
    }
    return true;
  };
  RETURN_IF_ERROR(source.ForEachFile(look));
  // What a Trainer writes beside its state is part of it.
  std::erase_if(found.files, [&](const auto& one) {
    return std::ranges::any_of(found.trainers, [&](const fs::path& trainer) {
      return trainer.empty() || one.first.string().starts_with(trainer.string() + "/");
    });
  });
  return found;
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
