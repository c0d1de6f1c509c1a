// Observed files, written files and set seeds as parts of a recording; see record_find.h.
#include "harness/execution/rerun/record_find.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <optional>
#include <set>
#include <system_error>

#include "compare/weights/checkpoint_folder.h"
#include "compare/weights/lightgbm_model.h"
#include "compare/weights/orbax.h"
#include "compare/weights/side_files.h"
#include "compare/weights/xgboost_model.h"
#include "harness/base/clean_text.h"
#include "harness/base/digest.h"
#include "harness/base/files.h"
#include "harness/base/source_folder.h"
#include "harness/execution/rerun/record_kept.h"
#include "harness/execution/rerun/record_logs.h"
#include "harness/records/observe/files_seen.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

constexpr int kMostSeeds = 8;  // of one function

// A module's source, where Python read its compiled form alone: "a.py" of
// "__pycache__/a.cpython-311.pyc".
std::string SourceOfModule(const fs::path& folder, const std::string& path) {
  const fs::path compiled(path);
  if (compiled.extension() != ".pyc" || compiled.parent_path().filename() != "__pycache__") {
    return path;
  }
  const std::string stem = compiled.stem().stem().string();
  const fs::path source = compiled.parent_path().parent_path() / (stem + ".py");
  std::error_code ignored;
  return fs::is_regular_file(folder / source, ignored) ? source.string() : path;
}

// A name that no other data has: "digits", "digits_2".
std::string NameFor(const fs::path& path, const std::vector<DataItem>& data) {
  std::string stem;
  for (const char c : path.filename().stem().string()) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '_' || c == '-' || c == '.';
    stem += plain ? c : '_';
  }
  if (stem.empty()) stem = "data";
  std::string name = stem;
  for (int i = 2; std::ranges::find(data, name, &DataItem::name) != data.end(); ++i) {
    name = fmt::format("{}_{}", stem, i);
  }
  return name;
}

void AddData(const RecordRequest& request, const fs::path& folder, const std::string& path,
             std::string from, Recording* out) {
  DataItem item;
  std::error_code ignored;
  const fs::path place = folder / path;
  item.name = NameFor(path, out->data);
  item.path = path;
  item.kind = fs::is_directory(place, ignored) ? DataKind::kDirectory : DataKind::kFile;
  item.location = PlaceOf(place, request.root);
  const auto digest = HashTree(place);
  if (!digest.ok()) {
    out->remarks.push_back(
        fmt::format("input {} is not recorded: {}", path, digest.error().ToString()));
    return;
  }
  item.sha256 = digest->sha256;
  item.size_bytes = digest->size_bytes;
  MarkFound(fmt::format("data[{}]", out->data.size()), std::move(from), out);
  out->data.push_back(std::move(item));
}

// Data by their folders: a folder of many files is one item, and so is one of many such folders.
void AddAllData(const RecordRequest& request, const fs::path& folder,
                const std::vector<std::string>& paths, Recording* out) {
  std::map<std::string, std::size_t> items;  // with the number of files that were read of each
  for (const std::string& path : paths) items[path] = 1;
  for (bool changed = true; changed;) {
    changed = false;
    std::map<std::string, std::vector<std::string>> by_folder;
    for (const auto& [path, count] : items) {
      by_folder[fs::path(path).parent_path().string()].push_back(path);
    }
    for (const auto& [parent, inside] : by_folder) {
      // Neither the run's own folder, which it writes to, nor the root of all.
      if (inside.size() <= kMostFound || parent.empty() || parent == "/") continue;
      std::size_t count = 0;
      for (const std::string& path : inside) {
        count += items[path];
        items.erase(path);
      }
      items[parent] += count;
      changed = true;
    }
  }
  for (const auto& [path, count] : items) {
    std::error_code ignored;
    const bool whole = fs::is_directory(folder / path, ignored);
    AddData(request, folder, path,
            whole ? fmt::format("the run read {} files of it", count) : "the run read it", out);
  }
}

// A checkpoint among the files that a run wrote.
struct FoundCheckpoint {
  fs::path path;  // of the file that stands for it
  std::ptrdiff_t depth = 0;
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

std::vector<FoundCheckpoint> CandidatesIn(const fs::path& folder, const OutputIdentities& before,
                                          WallTime started) {
  std::vector<FoundCheckpoint> found;
  const auto source = SourceFolder::Open(folder.string());
  if (!source.ok()) return found;
  std::error_code ignored;
  (void)source->ForEachFile([&](const std::string& relative, EntryKind kind) -> Result<bool> {
    const fs::path path(relative);
    if (kind != EntryKind::kFile) return true;
    if (!StandsForCheckpoint(path) && !IsTreeModel(*source, relative, started)) return true;
    const auto known = before.find(relative);
    if (known != before.end() && IdentityOfFile(folder / relative) == known->second) return true;
    found.push_back({path, std::distance(path.begin(), path.end()),
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

// The first of a preference: near to the run's folder, and then new.
bool IsBefore(const FoundCheckpoint& a, const FoundCheckpoint& b) {
  if (a.depth != b.depth) return a.depth < b.depth;
  // What stands for several files, before these.
  if (IsIndexName(a.path) != IsIndexName(b.path)) return IsIndexName(a.path);
  if (a.written != b.written) return a.written > b.written;
  return a.path < b.path;
}

}  // namespace

bool IsSetting(const fs::path& path) {
  // MLflow's own state of its file store: a rerun makes its own.
  if (path.filename() == "meta.yaml" &&
      std::ranges::any_of(path, [](const fs::path& part) { return part == "mlruns"; })) {
    return true;
  }
  if (!path.is_absolute()) return false;
  constexpr std::array<std::string_view, 5> kCaches = {"datasets", "hub", "models", "checkpoints",
                                                       "data"};
  bool hidden = false;
  for (const fs::path& part : path.parent_path()) {
    if (hidden && std::ranges::find(kCaches, part.string()) != kCaches.end()) return false;
    hidden |= part.string().starts_with('.');
  }
  return hidden;
}

bool StandsForCheckpoint(const fs::path& path) {
  const std::string name = path.filename().string();
  if (SideFileOf(path) == SideFile::kContext) return false;
  const bool part = path.parent_path().filename().string().starts_with("ocdbt.process_");
  if (IsOrbaxIndex(name)) return !part;
  return name == ".metadata" || name.ends_with(".index.json") || name.ends_with(".index") ||
         name.ends_with(".pkl") || name.ends_with(".pickle") || IsCheckpointName(name) ||
         MayBeCheckpointName(name);
}

RecordRequest WithFinding(RecordRequest request) {
  if (!request.find) return request;
  // In whichever Python the command starts: they say whether there was one.
  if (request.observe) request.python_hooks = true;
  if (request.metrics_path.empty()) request.metrics_path = kFindMetrics;
  return request;
}

void FindInputs(const RecordRequest& request, const fs::path& folder, bool in_commit,
                Recording* out) {
  if (!out->observation || !out->observation->inputs) return;
  fs::path base = folder;
  const fs::path below(out->working_directory);
  for (auto step = below.begin(); step != below.end(); ++step) base = base.parent_path();
  const bool code_stated = !out->code.files.empty(), data_stated = !out->data.empty();
  std::vector<std::string> data;
  std::vector<SeenInput> left;
  std::set<std::string> sources;
  for (SeenInput& input : *out->observation->inputs) {
    const std::string path = SourceOfModule(folder, input.path);
    const bool code = IsSourceName(path) && !fs::path(path).is_absolute();
    const fs::path named(path);  // ~/.gitconfig
    const bool hidden = named.is_absolute() && named.filename().string().starts_with('.');
    if (hidden || IsSetting(path) || (code ? code_stated || in_commit : data_stated)) {
      left.push_back(std::move(input));
    } else if (code) {
      sources.insert(path);
    } else {
      data.push_back(path);
    }
  }
  for (const std::string& path : sources) {
    const auto digest = HashFile(folder / path);
    const fs::path in_base = (folder / path).lexically_normal().lexically_relative(base);
    if (!digest.ok()) continue;
    MarkFound(fmt::format("code.files[{}]", out->code.files.size()), "the run read it", out);
    out->code.files.push_back({in_base.string(), digest->sha256});
  }
  AddAllData(request, folder, data, out);
  const auto& unseen = out->observation->unseen;
  if (std::ranges::find(unseen, kTooManyFiles) != unseen.end()) {
    out->remarks.push_back(
        "the run read more files than could be noted: data of it may be missing; expected its "
        "folders as --data");
  }
  out->observation->inputs = std::move(left);
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
    const bool beside = taken.empty() || home == fs::path(taken.front().path).parent_path();
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
  constexpr std::size_t kNamed = 5;
  const std::size_t more = others.size() - std::min(others.size(), kNamed);
  others.resize(others.size() - more);
  for (std::size_t k = 0; k < taken.size(); ++k) {
    MarkFound(fmt::format("artifacts[{}]", k),
              fmt::format("the run wrote it{}{}{}", others.empty() || k > 0 ? "" : "; not taken: ",
                          k > 0 ? "" : fmt::format("{}", fmt::join(others, ", ")),
                          more == 0 || k > 0 ? "" : fmt::format(" and {} more", more)),
              out);
  }
  return taken;
}

void FindRandomness(const RecordRequest& request, Recording* out) {
  if (!out->observation || !request.seeds.empty() || !request.rng_sources.empty()) return;
  for (const auto& [source, values] : out->observation->seeds) {
    int count = 0;
    std::string unseeded;  // the first value that is no seed
    for (const std::string& value : values) {
      // What a package draws for itself is in no hands of the run.
      if (PlaceOfDraw(value).starts_with(kPackagePlace)) continue;
      std::int64_t seed = 0;
      const char* const end = value.data() + value.size();
      const auto read = std::from_chars(value.data(), end, seed);
      const bool whole = read.ec == std::errc() && read.ptr == end;
      // An object, such as a generator that is handed on, stands for one that has its own entry.
      const bool object = value.starts_with('<');
      if (!whole && !object && unseeded.empty()) unseeded = value;
      if (!whole || count == kMostSeeds) continue;
      const std::string name = ++count == 1 ? source : fmt::format("{} {}", source, count);
      out->found.seeds[name] = seed;
      MarkFound("seeds." + name, "the run set it", out);
    }
    if (unseeded.empty()) continue;
    // One without a seed beside seeded ones is a source of its own.
    const std::string name = count == 0 ? source : source + " (without a seed)";
    out->found.rng_sources.push_back(name);
    MarkFound("rng_sources." + name, fmt::format("it has no seed: {}", unseeded), out);
  }
}

void RenumberVersions(const OutputIdentities& before, Recording* out) {
  constexpr std::string_view kVersion = "version_";
  const auto renumbered = [&](const std::string& path) {
    fs::path around, renamed;
    for (const fs::path& part : fs::path(path)) {
      const std::string name = part.string();
      const bool counted = name.starts_with(kVersion) && name != "version_0" &&
                           std::ranges::all_of(name.substr(kVersion.size()),
                                               [](char c) { return c >= '0' && c <= '9'; });
      const std::string first = (around / "version_0/").string();
      const auto earlier = before.lower_bound(first);
      const bool is_later = counted && earlier != before.end() && earlier->first.starts_with(first);
      renamed /= is_later ? "version_0" : name;
      around /= part;
    }
    return renamed.string();
  };
  for (std::size_t i = 0; i < out->artifacts.size(); ++i) {
    std::string& path = out->artifacts[i].path;
    const std::string in_rerun = renumbered(path);
    if (in_rerun == path) continue;
    MarkFound(fmt::format("artifacts[{}].path", i),
              fmt::format("the run wrote {}; a rerun begins without earlier versions", path), out);
    path = in_rerun;
  }
  out->metrics_path = renumbered(out->metrics_path);
}

void FindFamily(const RecordRequest& request, const fs::path& folder, Recording* out) {
  if (!request.family.empty()) return;
  out->found.family = FamilyByName(request.command, folder);
  MarkFound("family", "the name of the program, or of its folder", out);
}

}  // namespace rharness
