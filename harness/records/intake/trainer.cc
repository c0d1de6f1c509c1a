// Folders that a Hugging Face Trainer wrote: one run each, its checkpoints among its artifacts.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <optional>
#include <set>

#include "harness/base/digest.h"
#include "harness/base/source_folder.h"
#include "harness/records/intake/clean.h"
#include "harness/records/intake/importers.h"
#include "harness/records/intake/loose_json.h"
#include "harness/records/intake/trainer_state.h"
#include "harness/records/intake/training_args.h"
#include "harness/records/intake/weights_file.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kTrainerState = "trainer_state.json";
constexpr std::uint64_t kMostStateBytes = std::uint64_t{64} << 20;
constexpr std::uint64_t kMostTrainerFileBytes = std::uint64_t{4} << 20;

// Where several are there, the first of a row counts.
constexpr std::array<std::string_view, 2> kWeightIndexes = {"model.safetensors.index.json",
                                                            "pytorch_model.bin.index.json"};
constexpr std::array<std::string_view, 4> kWeightFiles = {
    "model.safetensors", "adapter_model.safetensors", "pytorch_model.bin", "adapter_model.bin"};
constexpr std::array<std::string_view, 2> kOptimizerFiles = {"optimizer.pt", "optimizer.bin"};
constexpr std::array<std::string_view, 5> kSmallFiles = {
    "training_args.json", "training_args.bin", "config.json", "all_results.json", "scheduler.pt"};

template <std::size_t n>
bool IsOneOfFiles(std::string_view name, const std::array<std::string_view, n>& names) {
  return std::ranges::find(names, name) != names.end();
}

bool IsGenerator(std::string_view name) {
  return name.starts_with("rng_state") && name.ends_with(".pth");
}

bool IsOfInterest(std::string_view name) {
  return name == kTrainerState || IsOneOfFiles(name, kWeightIndexes) ||
         IsOneOfFiles(name, kWeightFiles) || IsOneOfFiles(name, kOptimizerFiles) ||
         IsOneOfFiles(name, kSmallFiles) || IsGenerator(name);
}

// N of "checkpoint-N".
std::optional<std::int64_t> CheckpointStep(std::string_view folder) {
  constexpr std::string_view kPrefix = "checkpoint-";
  if (!folder.starts_with(kPrefix)) return std::nullopt;
  folder.remove_prefix(kPrefix.size());
  std::int64_t step = 0;
  const auto [end, error] = std::from_chars(folder.data(), folder.data() + folder.size(), step);
  const bool whole = error == std::errc() && end == folder.data() + folder.size();
  return whole ? std::optional(step) : std::nullopt;
}

using FileNames = std::set<std::string>;

struct TrainerRun {
  std::string folder;                             // relative to the source; "" is the source itself
  FileNames files;                                // of it, by name
  std::map<std::int64_t, FileNames> checkpoints;  // by step
};

std::string PathBelow(const std::string& folder, std::string_view name) {
  return folder.empty() ? std::string(name) : fmt::format("{}/{}", folder, name);
}

// Sorts files into runs: a checkpoint-N belongs to the run of its parent folder.
class TrainerFinder {
 public:
  void Take(const fs::path& relative) {
    const fs::path folder = relative.parent_path();
    const auto step = CheckpointStep(folder.filename().string());
    TrainerRun& run = runs_[(step ? folder.parent_path() : folder).string()];
    (step ? run.checkpoints[*step] : run.files).insert(relative.filename().string());
  }
  // Those with a state.
  std::vector<TrainerRun> Runs() && {
    std::vector<TrainerRun> runs;
    for (auto& [folder, run] : runs_) {
      run.folder = folder;
      const bool has = run.files.contains(std::string(kTrainerState)) ||
                       std::ranges::any_of(run.checkpoints, [](const auto& one) {
                         return one.second.contains(std::string(kTrainerState));
                       });
      if (has) runs.push_back(std::move(run));
    }
    return runs;
  }

 private:
  std::map<std::string, TrainerRun> runs_;
};

// Reads one run's files into an ImportedRun.
class TrainerReader {
 public:
  TrainerReader(const ImportRequest& request, const SourceFolder& source, const TrainerRun& found)
      : request_(request), source_(source), found_(found) {}

  // The folder with its state: its own, or the last checkpoint that has one.
  std::string StateFolder() const {
    if (found_.files.contains(std::string(kTrainerState))) return found_.folder;
    for (auto at = found_.checkpoints.rbegin(); at != found_.checkpoints.rend(); ++at) {
      if (at->second.contains(std::string(kTrainerState))) return FolderOf(at->first);
    }
    return found_.folder;
  }

  // The content of its state's file; refuses a larger one unread.
  Result<std::string> StateText() const {
    return source_.folder().ReadFile(PathBelow(StateFolder(), kTrainerState), kMostStateBytes);
  }

  // The run folder's name and the beginning of the hash of its state.
  std::string IdOf(std::string_view text) const {
    return fmt::format("{}-{}", FolderName(), Sha256HexOf(text).substr(0, 12));
  }

  Result<ImportedRun> Read(const std::string& id, std::string_view text) const {
    const std::string home = StateFolder();
    const std::string path = PathBelow(home, kTrainerState);
    ASSIGN_OR_RETURN(const Json state, ParseLooseJson(text, path));
    if (!state.IsObject() || state.Find("log_history") == nullptr) {
      return InvalidInput("expected an object with log_history", path);
    }
    ImportedRun run("trainer", request_.source, id);
    run.SetFamily(FolderName(), Hint("the folder's name", "no model's configuration lies there"));
    AddTrainerState(state, &run);
    if (home != found_.folder) {
      run.Remark(fmt::format("read from {}: the run's own folder has none", path));
    }
    const std::string output_folder = AddArguments(home, &run);
    AddArtifacts(found_.folder, found_.files, output_folder, &run);
    for (const auto& [step, files] : found_.checkpoints) {
      AddArtifacts(FolderOf(step), files, output_folder, &run);
    }
    return run;
  }

 private:
  std::string FolderName() const {
    const fs::path folder = found_.folder.empty() ? source_.path() : fs::path(found_.folder);
    return folder.filename().string();
  }

  std::string FolderOf(std::int64_t step) const {
    return PathBelow(found_.folder, fmt::format("checkpoint-{}", step));
  }

  // The first with the file, of the run's own folder and the folder of its state.
  std::optional<std::string> Find(const std::string& home, std::string_view name) const {
    if (found_.files.contains(std::string(name))) return PathBelow(found_.folder, name);
    const auto step = CheckpointStep(fs::path(home).filename().string());
    const auto at = step ? found_.checkpoints.find(*step) : found_.checkpoints.end();
    if (at == found_.checkpoints.end() || !at->second.contains(std::string(name))) {
      return std::nullopt;
    }
    return PathBelow(home, name);
  }

  template <class F>
  void WithJson(const std::string& home, std::string_view name, ImportedRun* run, F f) const {
    const auto path = Find(home, name);
    if (!path) return;
    const auto json = ReadLooseJson(source_.folder(), *path, kMostTrainerFileBytes, *path);
    if (!json.ok()) return run->Remark(Unread(request_, json.error()).ToString());
    if (!json->IsObject()) return run->Remark(*path + ": expected an object");
    f(*json);
  }

  // Where the run wrote, relative to its working directory; empty: not known.
  static std::string OutputFolder(const Json& args, ImportedRun* run) {
    const std::string folder = LooseText(args, "output_dir");
    if (folder.empty()) return "";
    if (auto relative = CleanRelativePath(folder)) return *relative == "." ? "" : *relative;
    run->Remark(fmt::format(
        "output_dir: {} lies outside of the workspace of a rerun, which would write there again; "
        "give a command that writes below its working directory, and say where: rharness import "
        "--complete "
        "--output .=FOLDER",
        QuotedShort(folder)));
    return "";
  }

  // Adds the run's arguments, and returns OutputFolder's answer.
  std::string AddArguments(const std::string& home, ImportedRun* run) const {
    WithJson(home, "config.json", run, [&](const Json& json) { AddModelConfig(json, run); });
    WithJson(home, "all_results.json", run,
             [&](const Json& json) { AddResults(json, "all_results.json", run); });
    std::string output_folder;
    const bool text = Find(home, "training_args.json").has_value();
    WithJson(home, "training_args.json", run, [&](const Json& json) {
      AddTrainingArgs(json, "training_args.json", run);
      output_folder = OutputFolder(json, run);
    });
    const auto binary = Find(home, "training_args.bin");
    if (text || !binary) return output_folder;
    const auto args = ReadTrainingArgs(source_.folder(), *binary);
    if (!args.ok()) {
      run->Remark(
          fmt::format("{} was not read: {}", *binary, Unread(request_, args.error()).ToString()));
      return "";
    }
    AddTrainingArgs(args->members, "training_args.bin", run);
    if (!args->unread.empty()) {
      run->Remark(fmt::format("{}: no plain values, and not read: {}", *binary,
                              fmt::join(args->unread, ", ")));
    }
    return OutputFolder(args->members, run);
  }

  void AddArtifacts(const std::string& folder, const FileNames& files,
                    const std::string& output_folder, ImportedRun* run) const {
    const auto add = [&](std::string_view name, const char* role) {
      AddArtifact(PathBelow(folder, name), role, output_folder, run);
    };
    const auto index = std::ranges::find_if(
        kWeightIndexes, [&](std::string_view name) { return files.contains(std::string(name)); });
    if (index != kWeightIndexes.end()) add(*index, "weights");
    for (const std::string_view name : kWeightFiles) {
      if (files.contains(std::string(name))) add(name, "weights");
    }
    for (const std::string_view name : kOptimizerFiles) {
      if (files.contains(std::string(name))) add(name, "optimizer");
    }
    const auto generators = std::ranges::count_if(files, IsGenerator);
    if (generators > 0) {
      run->Remark(
          fmt::format("{}: {} of rng_state*.pth, which hold the states of generators of as "
                      "many processes, and are not read{}",
                      folder.empty() ? "." : folder, generators,
                      generators > 1 ? "; on how many nodes they ran is not known" : ""));
    }
  }

  // As it is today: nothing shows that the run left it so.
  void AddArtifact(const std::string& path, const std::string& role,
                   const std::string& output_folder, ImportedRun* run) const {
    Artifact artifact;
    artifact.role = role;
    artifact.path = path;
    const Status status = request_.artifacts ? Describe(path, &artifact) : Status();
    if (!status.ok()) run->Remark(Unread(request_, status.error()).ToString());
    artifact.location = (source_.path() / path).string();
    // FileNames of a run's files count from its own folder.
    if (!found_.folder.empty()) artifact.path = path.substr(found_.folder.size() + 1);
    if (!output_folder.empty()) artifact.path = PathBelow(output_folder, artifact.path);
    run->AddArtifact(std::move(artifact), Hint(path, "as it is today"));
  }

  Status Describe(const std::string& path, Artifact* artifact) const {
    RETURN_IF_ERROR(HashArtifact(source_.folder(), artifact));
    const Status read = ReadWeights(source_.folder(), artifact);
    if (read.ok()) return {};
    Error error = read.error();
    error.message = fmt::format("its tensors were not read: {}", error.message);
    if (error.where.empty()) error.where = path;
    return error;
  }

  const ImportRequest& request_;
  const SourceFolder& source_;
  const TrainerRun& found_;
};

}  // namespace

bool IsTrainer(const std::string& path) {
  const auto source = SourceFolder::Open(path);
  if (!source.ok()) return false;
  bool found = false;
  std::size_t left = 20'000;
  const auto status = source->ForEachFile([&](const std::string& relative, EntryKind) {
    found = fs::path(relative).filename() == kTrainerState;
    return Result<bool>(!found && --left > 0);
  });
  return status.ok() && found;
}

Status ImportTrainer(const ImportRequest& request, const ImportSink& sink) {
  ASSIGN_OR_RETURN(const SourceFolder source, SourceFolder::Open(request.source));
  TrainerFinder finder;
  RETURN_IF_ERROR(
      source.ForEachFile([&](const std::string& relative, EntryKind kind) -> Result<bool> {
        const std::string name = fs::path(relative).filename();
        if (source.file().empty() && !IsOfInterest(name)) return true;
        if (kind == EntryKind::kFile) {
          finder.Take(relative);
        } else {
          sink.refuse(PlaceIn(request.source, source, relative), NoRegularFile(kind, ""));
        }
        return true;
      }));
  std::size_t taken = 0;
  for (const TrainerRun& found : std::move(finder).Runs()) {
    if (request.should_cancel && request.should_cancel()) break;
    const TrainerReader reader(request, source, found);
    const auto text = reader.StateText();
    const std::string id = text.ok() ? reader.IdOf(*text) : std::string();
    if (!request.Wants(id) && !request.Wants(found.folder)) continue;
    auto run = text.ok() ? reader.Read(id, *text) : text.error();
    if (!run.ok()) {
      sink.refuse(PlaceIn(request.source, source, found.folder), run.error());
      continue;
    }
    ++taken;
    RETURN_IF_ERROR(sink.take(std::move(*run)));
  }
  if (taken == 0) return NotFound("holds no such folder of a Trainer", request.source);
  return {};
}

}  // namespace rharness
