// The checkpoints that a run wrote below its folder; see record_find.h.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "compare/weights/checkpoint.h"
#include "compare/weights/checkpoint_folder.h"
#include "compare/weights/lightgbm_model.h"
#include "compare/weights/orbax.h"
#include "compare/weights/side_files.h"
#include "compare/weights/xgboost_model.h"
#include "harness/base/files.h"
#include "harness/base/source_folder.h"
#include "harness/execution/rerun/record_find.h"
#include "harness/execution/rerun/record_logs.h"
#include "harness/records/observe/files_seen.h"

namespace rharness {

// Of each file of a folder that may have many: nothing is made of most names.
bool StandsForCheckpoint(std::string_view path) {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  if (IsOrbaxIndex(name)) {
    const auto home = std::filesystem::path(path).parent_path().filename().string();
    return SideFileOf(path) != SideFile::kContext && !home.starts_with("ocdbt.process_");
  }
  if (name == ".metadata") return true;  // of PyTorch's distributed checkpoints
  const bool named = name.ends_with(".index.json") || name.ends_with(".index") ||
                     name.ends_with(".pkl") || name.ends_with(".pickle") ||
                     IsCheckpointName(name) || MayBeCheckpointName(name);
  return named && SideFileOf(path) != SideFile::kContext;
}

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPipelineIndex = "model_index.json";

// A checkpoint among the files that a run wrote.
struct FoundCheckpoint {
  fs::path path;  // of the file that stands for it
  std::ptrdiff_t depth = 0;
  int rank = 0;  // of its name
  fs::file_time_type written;
};

// Arrays are data or predictions as often as weights: they count where nothing else is there.
bool IsArrayFile(const fs::path& path) {
  return path.extension() == ".npy" || path.extension() == ".npz";
}

// A model of trees, whose name may be that of any text.
bool IsTreeModel(const SourceFolder& source, const std::string& relative, WallTime started) {
  if (!relative.ends_with(".txt") && !relative.ends_with(".json")) return false;
  if (!IsChangedSince(source.path() / relative, started)) return false;
  const auto head = source.ReadHead(relative);
  if (!head.ok()) return false;
  const bool learner = head->find("\"learner\"") != head->npos;
  return LooksLikeLightgbm(*head) || (LooksLikeXgboost(*head) && learner);
}

// 0: the best or last one; 1: a model, without a number; 2: one of many.
int RankOfName(const fs::path& path) {
  std::string name = path.filename().string();
  for (char& c : name) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  const auto holds = [&](std::string_view word) { return name.find(word) != name.npos; };
  if (holds("best") || holds("final")) return 0;
  const std::size_t last = name.find("last");
  const auto is_letter = [](char c) { return c >= 'a' && c <= 'z'; };
  const bool apart =
      last != name.npos && (last == 0 || !is_letter(name[last - 1])) && !is_letter(name[last + 4]);
  if (apart) return 0;
  const bool numbered = std::ranges::any_of(name, [](char c) { return c >= '0' && c <= '9'; });
  return !numbered && (holds("model") || holds("weights")) ? 1 : 2;
}

std::vector<FoundCheckpoint> CandidatesIn(const fs::path& folder, const OutputIdentities& before,
                                          WallTime started) {
  std::vector<FoundCheckpoint> found;
  const auto source = SourceFolder::Open(folder.string());
  if (!source.ok()) return found;
  std::error_code ignored;
  (void)source->ForEachFile([&](const std::string& relative, EntryKind kind) -> Result<bool> {
    if (kind != EntryKind::kFile) return true;
    if (!StandsForCheckpoint(relative) && !IsTreeModel(*source, relative, started)) return true;
    const fs::path path(relative);
    const auto known = before.find(relative);
    if (known != before.end() && IdentityOfFile(folder / relative) == known->second) return true;
    found.push_back({path, std::distance(path.begin(), path.end()), RankOfName(path),
                     fs::last_write_time(folder / path, ignored)});
    return true;
  });
  return found;
}

bool IsIndexName(const fs::path& path) {
  const std::string name = path.filename().string();
  return IsOrbaxIndex(name) || name == ".metadata" || name.ends_with(".index.json") ||
         name.ends_with(".index");
}

// The first of a preference: near to the run's folder, of a telling name, and then new.
bool IsBefore(const FoundCheckpoint& a, const FoundCheckpoint& b) {
  if (a.depth != b.depth) return a.depth < b.depth;
  // What stands for several files, before these.
  if (IsIndexName(a.path) != IsIndexName(b.path)) return IsIndexName(a.path);
  if (a.rank != b.rank) return a.rank < b.rank;
  if (a.written != b.written) return a.written > b.written;
  return a.path < b.path;
}

// The folder of a checkpoint, or of the pipeline of diffusers that it is a part of.
fs::path HomeOf(const fs::path& folder, const fs::path& checkpoint) {
  const fs::path home = checkpoint.parent_path();
  std::error_code ignored;
  const bool part =
      !home.empty() && fs::exists(folder / home.parent_path() / kPipelineIndex, ignored);
  return part ? home.parent_path() : home;
}

// Without a checkpoint that can be read: what has the name of one, by its bytes.
std::vector<Artifact> UnreadOutputs(const std::vector<std::string>& unread, Recording* out) {
  std::vector<Artifact> taken;
  for (const std::string& name : unread) {
    if (taken.size() == kMostFound || !SafeRelativePath(name, "").ok()) continue;
    MarkFound(fmt::format("artifacts[{}]", taken.size()),
              "the run wrote it; no reader opens it, and its bytes are compared", out);
    taken.emplace_back();
    taken.back().role = "other";
    taken.back().path = name;
  }
  if (taken.empty()) {
    out->found.fields.push_back(
        {"artifacts", Grade::kMissing, "the run wrote no checkpoint below its folder"});
  }
  return taken;
}

// How each was chosen. The first says which were not taken: nothing compares these.
void MarkTaken(const std::vector<Artifact>& taken, std::vector<std::string> others,
               Recording* out) {
  constexpr std::size_t kNamed = 5;
  const std::size_t more = others.size() - std::min(others.size(), kNamed);
  others.resize(others.size() - more);
  std::string rest;
  if (!others.empty()) {
    rest = fmt::format("; not taken, and not compared: {}{}", fmt::join(others, ", "),
                       more == 0 ? "" : fmt::format(" and {} more", more));
  }
  for (std::size_t k = 0; k < taken.size(); ++k) {
    const int rank = RankOfName(taken[k].path);
    const std::string_view why = rest.empty() ? ""
                                 : rank == 0  ? ", under a name of the best or the last one"
                                 : rank == 1  ? ", under the name of a model"
                                              : ", as one of the newest";
    MarkFound(fmt::format("artifacts[{}]", k),
              fmt::format("the run wrote it{}{}", why, k > 0 ? "" : rest), out);
  }
}

// The file that says of what a pipeline of diffusers consists.
void AddPipelineIndex(const fs::path& folder, std::vector<Artifact>* taken, Recording* out) {
  const fs::path home = HomeOf(folder, taken->front().path);
  const std::string index = (home / kPipelineIndex).lexically_normal().string();
  std::error_code ignored;
  if (home == fs::path(taken->front().path).parent_path() ||
      !fs::is_regular_file(folder / index, ignored) || !SafeRelativePath(index, "").ok()) {
    return;
  }
  MarkFound(fmt::format("artifacts[{}]", taken->size()),
            "the run wrote it, and its parts are loaded by it", out);
  taken->emplace_back();
  taken->back().role = "other";
  taken->back().path = index;
}

}  // namespace

std::vector<Artifact> FindOutputs(const fs::path& folder, const OutputIdentities& before,
                                  Recording* out) {
  std::vector<FoundCheckpoint> found = CandidatesIn(folder, before, out->started);
  std::ranges::sort(found, IsBefore);
  std::vector<std::string> unread;
  std::erase_if(found, [&](const FoundCheckpoint& one) {
    const auto opened = OpenCheckpoint(folder / one.path);
    if (!opened.ok()) unread.push_back(one.path.string());
    return !opened.ok() || (*opened)->tensors().empty();
  });
  const bool other = std::ranges::any_of(
      found, [](const FoundCheckpoint& candidate) { return !IsArrayFile(candidate.path); });
  if (other) std::erase_if(found, [](const FoundCheckpoint& one) { return IsArrayFile(one.path); });
  std::vector<Artifact> taken;
  std::set<std::string> parts;  // files of what was taken
  std::vector<std::string> others;
  for (const FoundCheckpoint& candidate : found) {
    const std::string name = candidate.path.string();
    if (parts.contains(name)) continue;
    const fs::path home = candidate.path.parent_path();
    const bool beside =
        taken.empty() || HomeOf(folder, candidate.path) == HomeOf(folder, taken.front().path);
    if (!beside || taken.size() == kMostFound || !SafeRelativePath(name, "").ok()) {
      others.push_back(name);
      continue;
    }
    if (const auto files = PartsOfCheckpoint(folder / name); files.ok()) {
      for (const std::string& file : *files) parts.insert((home / file).string());
    }
    if (const auto known = before.find(name); known != before.end() && known->second) {
      out->remarks.push_back(fmt::format(
          "{} was there before the run, which wrote it anew: a rerun begins without it", name));
    }
    taken.emplace_back();
    taken.back().role = "weights";
    taken.back().path = name;
  }
  if (taken.empty()) return UnreadOutputs(unread, out);
  MarkTaken(taken, others, out);
  AddPipelineIndex(folder, &taken, out);
  return taken;
}

}  // namespace rharness
