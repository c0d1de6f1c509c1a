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
        fmt::format("input {} is not recorded: {}", path, digest.error().ToString()));
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

// A source that goes to the folder of the recorded run by its absolute path would write there in
// every rerun, too.
void NoteWayBack(const fs::path& folder, const fs::path& base, const std::string& path,
                 Recording* out) {
  constexpr std::size_t kMostRead = std::size_t{1} << 20;
  constexpr std::array<std::string_view, 3> kGo = {"cd", "pushd", "chdir"};
  const auto text = ReadFile(folder / path, kMostRead);
  if (!text.ok()) return;
  const std::string place = base.string();
  std::size_t number = 1, begin = 0;
  for (std::size_t at = text->find(place); at != text->npos; at = text->find(place, at + 1)) {
    number += static_cast<std::size_t>(std::count(text->begin() + static_cast<long>(begin),
                                                  text->begin() + static_cast<long>(at), '\n'));
    begin = at;
    const std::size_t line = text->rfind('\n', at) == text->npos ? 0 : text->rfind('\n', at) + 1;
    std::string_view before = std::string_view(*text).substr(line, at - line);
    while (!before.empty() && std::string_view(" \t\"'(").find(before.back()) != before.npos) {
      before.remove_suffix(1);
    }
    const char after = at + place.size() < text->size() ? (*text)[at + place.size()] : '\n';
    const bool ends = std::string_view("/ \t\n\"');&|").find(after) != std::string_view::npos;
    const bool goes =
        std::ranges::any_of(kGo, [&](std::string_view word) { return before.ends_with(word); });
    if (!ends || !goes) continue;
    out->remarks.push_back(fmt::format(
        "{}, line {}, goes to {}, where this run was: how to rerun it elsewhere {}; expected a "
        "path relative to the script, as `cd \"$(dirname \"$0\")\"`",
        path, number, place, kNotRecorded));
    return;
  }
}

// Sources of the work tree alone go with its changes.
bool KeepFound(const RecordRequest& request, const fs::path& folder, const fs::path& base,
               const std::vector<SeenInput>& sources, Recording* out) {
  if (sources.empty()) return true;
  std::vector<std::string> paths;
  for (const SeenInput& source : sources) {
    const fs::path place = folder / SourceOfModule(folder, source.path);
    paths.push_back(place.lexically_normal().lexically_relative(base).string());
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
    const std::string path = SourceOfModule(folder, input.path);
    std::error_code error;
    const fs::path real = fs::canonical(folder / path, error);
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
      data.push_back(path);
    }
  }
  if (!KeepFound(request, folder, base, new_sources, out)) {
    std::ranges::move(new_sources, std::back_inserter(left));
  }
  for (const std::string& path : sources) {
    const auto digest = HashFile(folder / path);
    const fs::path in_base = (folder / path).lexically_normal().lexically_relative(base);
    if (!digest.ok()) continue;
    MarkFound(fmt::format("code.files[{}]", out->code.files.size()), "the run read it", out);
    out->code.files.push_back({in_base.string(), digest->sha256});
  }
  for (const std::string& word : request.command) {
    if (IsSourceName(word)) sources.insert(word);
  }
  for (const std::string& path : sources) NoteWayBack(folder, base, path, out);
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
