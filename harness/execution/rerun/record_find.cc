// Observed files, written files and set seeds as parts of a recording; see record_find.h.
#include "harness/execution/rerun/record_find.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <system_error>

#include "harness/base/clean_text.h"
#include "harness/base/digest.h"
#include "harness/base/files.h"
#include "harness/execution/rerun/found_data.h"
#include "harness/execution/rerun/record_kept.h"
#include "harness/execution/rerun/record_logs.h"
#include "harness/records/manifest/admission.h"
#include "harness/records/observe/files_seen.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

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
  // A link may lead elsewhere by the time of a rerun.
  const fs::path place = fs::weakly_canonical(folder / path, ignored);
  item.name = NameFor(path, out->data);
  item.path = path;
  item.kind = fs::is_directory(place, ignored) ? DataKind::kDirectory : DataKind::kFile;
  item.location = PlaceOf(place, request.root);
  auto digest = HashTree(place);
  if (!digest.ok()) {
    out->remarks.push_back(
        fmt::format("input {} {}: {}", path, kNotRecorded, digest.error().ToString()));
    return;
  }
  item.sha256 = digest->sha256;
  item.size_bytes = digest->size_bytes;
  if (item.kind == DataKind::kDirectory) {
    std::string remark = NoteEmptyFolders(digest->empty_folders, &item);
    if (!remark.empty()) out->remarks.push_back(std::move(remark));
  }
  MarkFound(fmt::format("data[{}]", out->data.size()), std::move(from), out);
  out->data.push_back(std::move(item));
}

// Whether the run wrote to the folder: then its content is not what the run began with.
bool IsWrittenTo(const fs::path& folder, WallTime started) {
  std::error_code error;
  for (fs::recursive_directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    std::error_code ignored;
    if (entry->is_regular_file(ignored) && IsChangedSince(entry->path(), started)) return true;
  }
  return false;
}

// Data by their folders: a folder of many files is one item, and so is one of many such folders.
// Files of a folder that the run writes to stay items of their own.
void AddAllData(const RecordRequest& request, const fs::path& folder,
                const std::vector<std::string>& paths, Recording* out) {
  constexpr std::size_t kMostItems = 1000;
  std::map<std::string, std::size_t> items;  // with the number of files that were read of each
  std::set<std::string> apart;               // folders that the run writes to
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
      if (apart.contains(parent)) continue;
      if (IsWrittenTo(folder / parent, out->started)) {
        apart.insert(parent);
        continue;
      }
      std::size_t count = 0;
      for (const std::string& path : inside) {
        count += items[path];
        items.erase(path);
      }
      items[parent] += count;
      changed = true;
    }
  }
  if (items.size() > kMostItems) {
    out->remarks.push_back(fmt::format(
        "what the run reads {}: {} files in folders to which it also writes ({}); expected outputs "
        "in folders of their own",
        kNotRecorded, items.size(), fmt::join(apart, ", ")));
    return;
  }
  for (const auto& [path, count] : items) {
    std::error_code ignored;
    const bool whole = fs::is_directory(folder / path, ignored);
    AddData(request, folder, path,
            whole ? fmt::format("the run read {} files of it", count) : "the run read it", out);
  }
}

// The line of a text that goes to `place`, as `cd /home/a/run` does; 0: none.
std::size_t LineThatGoesTo(const std::string& place, const std::string& text) {
  constexpr std::array<std::string_view, 5> kGo = {"cd", "pushd", "chdir", "-C", "--chdir"};
  for (std::size_t at = text.find(place); at != text.npos; at = text.find(place, at + 1)) {
    const std::size_t end_of_line = text.rfind('\n', at);
    const std::size_t line = end_of_line == text.npos ? 0 : end_of_line + 1;
    std::string_view before = std::string_view(text).substr(line, at - line);
    while (!before.empty() && std::string_view(" \t\"'(=").find(before.back()) != before.npos) {
      before.remove_suffix(1);
    }
    const char after = at + place.size() < text.size() ? text[at + place.size()] : '\n';
    const bool ends = std::string_view("/ \t\n\"');&|").find(after) != std::string_view::npos;
    const bool goes =
        std::ranges::any_of(kGo, [&](std::string_view word) { return before.ends_with(word); });
    if (ends && goes) {
      return 1 + static_cast<std::size_t>(std::ranges::count(text.substr(0, line), '\n'));
    }
  }
  return 0;
}

// What goes to the folder of the recorded run by its absolute path writes there in every rerun.
void NoteWaysBack(const RecordRequest& request, const fs::path& folder, const fs::path& base,
                  const std::set<std::string>& sources, Recording* out) {
  constexpr std::size_t kMostRead = std::size_t{1} << 20;
  const auto note = [&](const std::string& name, const std::string& text) {
    const std::size_t line = LineThatGoesTo(base.string(), text);
    if (line == 0) return;
    out->remarks.push_back(fmt::format(
        "{}, line {}, goes to {}, where this run was: how to rerun it elsewhere {}; expected a "
        "path relative to the script, as `cd \"$(dirname \"$0\")\"`",
        name, line, base.string(), kNotRecorded));
  };
  std::set<fs::path> files;
  for (const std::string& path : sources) files.insert(base / path);
  for (std::size_t i = 0; i < request.command.size(); ++i) {
    const std::string& word = request.command[i];
    if (IsSourceName(word)) files.insert((folder / word).lexically_normal());
    if (i > 0 && request.command[i - 1] == "-c") note("the command", word);
  }
  for (const fs::path& file : files) {
    const auto text = ReadFile(file, kMostRead);
    if (text.ok()) note(file.lexically_relative(folder).string(), *text);
  }
}

// As the manifest has data: relative to the run's folder, or absolute.
std::string PathInRun(const fs::path& folder, const fs::path& path) {
  const fs::path below = path.lexically_normal().lexically_relative(folder);
  return below.empty() || *below.begin() == ".." ? path.string() : below.string();
}

// Sources of the work tree alone go with its changes.
bool KeepFound(const RecordRequest& request, const fs::path& folder, const fs::path& base,
               const std::vector<SeenInput>& sources, Recording* out) {
  if (sources.empty()) return true;
  std::vector<std::string> paths;
  for (const SeenInput& source : sources) {
    paths.push_back(SourceOfModule(base, source.path));
  }
  const Status kept = KeepNewSources(request, folder, paths, out);
  if (!kept.ok()) {
    out->remarks.push_back(fmt::format("{} {}: no commit has it, and it is not kept: {}",
                                       fmt::join(paths, ", "), kNotRecorded,
                                       kept.error().ToString()));
    return false;
  }
  MarkFound("code.kept_diff_sha256",
            fmt::format("the run read {}, which the commit does not have", fmt::join(paths, ", ")),
            out);
  return true;
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
  std::vector<SeenInput> new_sources;  // not in the commit
  for (SeenInput& input : *out->observation->inputs) {
    const std::string path = SourceOfModule(base, input.path);
    std::error_code error;
    const fs::path real = fs::canonical(base / path, error);
    const fs::path in_base = real.lexically_relative(base);
    const bool is_own = error || in_base.empty() || *in_base.begin() != "..";
    const bool code = IsSourceName(path) && !fs::path(path).is_absolute() && is_own;
    const fs::path named(path);  // ~/.gitconfig
    const bool hidden = named.is_absolute() && named.filename().string().starts_with('.');
    if (code && in_commit && !code_stated) {
      new_sources.push_back(std::move(input));
    } else if (hidden || IsSetting(path) || (code ? code_stated || in_commit : data_stated)) {
      left.push_back(std::move(input));
    } else if (code) {
      sources.insert(path);
    } else {
      data.push_back(PathInRun(folder, base / path));
    }
  }
  if (!KeepFound(request, folder, base, new_sources, out)) {
    std::ranges::move(new_sources, std::back_inserter(left));
  }
  for (const std::string& path : sources) {
    const auto digest = HashFile(base / path);
    if (!digest.ok()) continue;
    MarkFound(fmt::format("code.files[{}]", out->code.files.size()), "the run read it", out);
    out->code.files.push_back({path, digest->sha256});
  }
  NoteWaysBack(request, folder, base, sources, out);
  AddAllData(request, folder, data, out);
  const auto& unseen = out->observation->unseen;
  if (std::ranges::find(unseen, kTooManyFiles) != unseen.end()) {
    out->remarks.push_back(
        "the run read more files than could be noted: data of it may be missing; expected its "
        "folders as --data");
  }
  out->observation->inputs = std::move(left);
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
