// Absolute places of outputs as a rerun has them.
#include "harness/execution/rerun/record_places.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <string_view>
#include <system_error>

#include "compare/weights/checkpoint_folder.h"
#include "harness/base/files.h"
#include "harness/execution/rerun/record_find.h"
#include "harness/execution/rerun/record_logs.h"
#include "harness/records/observe/files_seen.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

// "." for the place itself; empty: not in it.
fs::path Below(const fs::path& place, const fs::path& path) {
  const fs::path rest = path.lexically_relative(place);
  return rest.empty() || *rest.begin() == ".." ? fs::path() : rest;
}

fs::path Real(const fs::path& path) {
  std::error_code error;
  fs::path real = fs::weakly_canonical(path, error);
  if (real.filename().empty()) real = real.parent_path();  // "/scratch/run/"
  return error ? path.lexically_normal() : real;
}

// Where the path begins in "--out=/scratch/run" or "/scratch/run"; npos: there is none.
std::size_t PathIn(std::string_view word) {
  const std::size_t equals = word.starts_with('/') ? word.npos : word.find("=/");
  if (equals != word.npos) return equals + 1;
  return word.starts_with('/') ? 0 : word.npos;
}

std::vector<std::string> NamedPaths(const RecordRequest& request, const Recording& recording) {
  std::vector<std::string> paths;
  for (std::size_t i = 1; i < request.command.size(); ++i) {
    const std::size_t at = PathIn(request.command[i]);
    if (at != std::string::npos) paths.push_back(request.command[i].substr(at));
  }
  for (const auto& [name, value] : recording.environment.variables) {
    if (value && value->starts_with('/')) paths.push_back(*value);
  }
  return paths;
}

// The root of the code: `folder` without the recording's working directory.
fs::path BaseOf(const fs::path& folder, const Recording& recording) {
  fs::path base = folder;
  const fs::path below(recording.working_directory);
  for (auto step = below.begin(); step != below.end(); ++step) base = base.parent_path();
  return base;
}

std::set<fs::path> ReadByRun(const fs::path& folder, const Recording& recording) {
  const fs::path base = BaseOf(folder, recording);
  std::set<fs::path> read;
  for (const DataItem& item : recording.data) read.insert(Real(folder / item.path));
  for (const SeenInput& input : *recording.observation->inputs) {
    read.insert(Real(base / input.path));
  }
  for (const std::string& path : recording.observation->overwritten) {
    read.insert(Real(base / path));
  }
  return read;
}

// Below the root of the code a rerun has the same tree. Else a name that nothing has.
std::string NameInRerun(const fs::path& place, const fs::path& folder, const fs::path& base,
                        const std::vector<NamedPlace>& others) {
  if (!Below(base, place).empty()) return place.lexically_relative(folder).string();
  std::string name = place.filename().string();
  const auto is_taken = [&] {
    std::error_code error;
    return fs::exists(fs::symlink_status(folder / name, error)) ||
           std::ranges::find(others, name, &NamedPlace::in_rerun) != others.end();
  };
  for (int i = 2; is_taken(); ++i) {
    name = fmt::format("{}_{}", place.filename().string(), i);
  }
  return name;
}

// Whether the run made it. Where the file system knows no times of birth: false.
bool IsMadeSince(const fs::path& place, WallTime started) {
  struct statx info {};
  if (::statx(AT_FDCWD, place.c_str(), AT_SYMLINK_NOFOLLOW, STATX_BTIME, &info) != 0) return false;
  if ((info.stx_mask & STATX_BTIME) == 0) return false;
  constexpr std::chrono::milliseconds kTick{4};  // times of files are up to this much behind
  const auto born = WallTime(std::chrono::duration_cast<WallTime::duration>(
      std::chrono::seconds(info.stx_btime.tv_sec) +
      std::chrono::nanoseconds(info.stx_btime.tv_nsec)));
  return born + kTick >= started;
}

bool IsOutside(const NamedPlace& one, const fs::path& folder) {
  return Below(folder, one.place).empty();
}

// Of what is older than the run, as IdentifyOutputs has it from before one.
OutputIdentities OlderThan(WallTime started, const fs::path& folder) {
  OutputIdentities older;
  IdentifyLogs(kFindMetrics, folder, &older);
  std::erase_if(older,
                [&](const auto& one) { return IsChangedSince(folder / one.first, started); });
  return older;
}

void Forget(std::string_view field, Recording* out) {
  std::erase_if(out->found.fields, [&](const FieldOrigin& one) {
    return one.path == field && one.grade == Grade::kMissing;
  });
}

bool IsWrittenCheckpoint(const fs::path& file, WallTime started) {
  if (!StandsForCheckpoint(file.string()) || !IsChangedSince(file, started)) return false;
  const auto opened = OpenCheckpoint(file);
  return opened.ok() && !(*opened)->tensors().empty();
}

// The path of a rerun; empty: it is in none of the places.
std::string InRerun(const fs::path& path, const std::vector<NamedPlace>& places) {
  for (const NamedPlace& one : places) {
    const fs::path below = Below(one.place, path);
    if (below.empty()) continue;
    return below == "." ? one.in_rerun : (one.in_rerun / below).lexically_normal().string();
  }
  return {};
}

// "--out=/scratch/run/a" with the path of a rerun.
bool Rename(const std::vector<NamedPlace>& places, std::string* word) {
  const std::size_t at = PathIn(*word);
  if (at == word->npos) return false;
  const std::string path = InRerun(Real(word->substr(at)), places);
  if (path.empty()) return false;
  const bool ends_open = word->ends_with('/');
  std::error_code error;
  // A program makes the folder of a file that it is given: os.path.dirname("./model.npy").
  const bool is_bare =
      path.find('/') == path.npos && !fs::is_directory(Real(word->substr(at)), error);
  *word = word->substr(0, at) + (is_bare ? "./" : "") + path + (ends_open ? "/" : "");
  return true;
}

}  // namespace

std::vector<NamedPlace> FindNamedPlaces(const RecordRequest& request, const fs::path& folder,
                                        const Recording& recording) {
  std::vector<NamedPlace> places;
  const auto& seen = recording.observation;
  if (recording.image.kind != ImageKind::kHost || !seen || !seen->inputs) return places;
  const std::set<fs::path> read = ReadByRun(folder, recording);
  std::error_code error;
  const fs::path temporary = Real(fs::temp_directory_path(error)), home = Real(folder);
  const fs::path base = Real(BaseOf(folder, recording));
  std::set<fs::path> named;
  for (const std::string& path : NamedPaths(request, recording)) named.insert(Real(path));
  for (const fs::path& place : named) {
    const auto is_in = [&](const fs::path& path) { return !Below(place, path).empty(); };
    const bool is_inside = !Below(base, place).empty();
    if (place == temporary || place.parent_path() == "/" || (!is_inside && is_in(base))) continue;
    if (std::ranges::none_of(seen->outputs, is_in)) continue;
    if (!is_inside && std::ranges::any_of(read, is_in)) continue;
    if (!SafeRelativePath(place.filename().string(), "").ok()) continue;
    const bool is_inner = std::ranges::any_of(
        places, [&](const NamedPlace& outer) { return !Below(outer.place, place).empty(); });
    if (!is_inner) places.push_back({place, NameInRerun(place, home, base, places)});
  }
  return places;
}

void KeepStartsOfCommand(const RecordRequest& request, Recording* out) {
  if (!out->observation) return;
  const std::vector<std::string> named = NamedPaths(request, *out);
  std::erase_if(out->observation->overwritten, [&](const std::string& path) {
    return path.starts_with('/') && std::ranges::none_of(named, [&](const std::string& place) {
             return !Below(Real(place), path).empty();
           });
  });
}

std::vector<Artifact> FindOutputsAt(const std::vector<NamedPlace>& places, const fs::path& folder,
                                    Recording* out) {
  std::error_code error;
  for (const NamedPlace& one : places) {
    if (!IsOutside(one, Real(folder))) continue;
    Recording tried;
    tried.started = out->started;
    std::vector<Artifact> artifacts;
    if (fs::is_directory(one.place, error)) {
      artifacts = FindOutputs(one.place, OlderThan(out->started, one.place), &tried);
      for (Artifact& artifact : artifacts) artifact.path = (one.place / artifact.path).string();
    } else if (IsWrittenCheckpoint(one.place, out->started)) {
      artifacts.push_back({.role = "weights", .path = one.place.string()});
      MarkFound("artifacts[0]", "the run wrote it", &tried);
    }
    if (artifacts.empty()) continue;
    Forget("artifacts", out);
    std::ranges::move(tried.found.fields, std::back_inserter(out->found.fields));
    std::ranges::move(tried.remarks, std::back_inserter(out->remarks));
    return artifacts;
  }
  return {};
}

void MeasureMetricsAt(const RecordRequest& request, const std::vector<NamedPlace>& places,
                      const fs::path& folder, Recording* out) {
  if (request.metrics_path != kFindMetrics || !out->metrics_path.empty()) return;
  std::error_code error;
  for (const NamedPlace& one : places) {
    if (!IsOutside(one, Real(folder)) || !fs::is_directory(one.place, error)) continue;
    const std::vector<FieldOrigin> fields = out->found.fields;
    if (MeasureMetrics(request, one.place, OlderThan(out->started, one.place), out).ok()) {
      out->metrics_path = (one.place / out->metrics_path).lexically_normal().string();
      Forget("metrics", out);
      return;
    }
    out->metrics_path.clear();
    out->found.fields = fields;
  }
}

OutputIdentities OlderAt(const std::vector<NamedPlace>& places, const fs::path& folder,
                         WallTime started) {
  OutputIdentities older;
  std::error_code error;
  for (const NamedPlace& one : places) {
    if (!IsOutside(one, Real(folder)) || !fs::is_directory(one.place, error)) continue;
    for (auto& [path, identity] : OlderThan(started, one.place)) {
      older.emplace((one.in_rerun / fs::path(path)).string(), std::move(identity));
    }
  }
  return older;
}

void TakePlacesOfRerun(const RecordRequest& request, const std::vector<NamedPlace>& places,
                       const fs::path& folder, Recording* out) {
  const fs::path home = Real(folder);
  std::vector<NamedPlace> taken;
  for (const NamedPlace& one : places) {
    const auto is_in = [&](const std::string& path) {
      return !path.empty() && !Below(one.place, Real(home / path)).empty();
    };
    if (is_in(out->metrics_path) || std::ranges::any_of(out->artifacts, is_in, &Artifact::path) ||
        IsMadeSince(one.place, out->started)) {
      taken.push_back(one);
    } else {
      out->remarks.push_back(fmt::format(
          "{}: the run wrote there, and a rerun does, too: nothing there is compared, and it was "
          "there before; expected a place below the run's folder, or a new one",
          one.place.string()));
    }
  }
  if (taken.empty()) return;
  const auto rename = [&](std::string* path) {
    if (!path->starts_with('/')) return;
    const std::string renamed = InRerun(Real(*path), taken);
    if (!renamed.empty()) *path = renamed;
  };
  for (Artifact& artifact : out->artifacts) rename(&artifact.path);
  rename(&out->metrics_path);
  if (out->command.empty()) out->command = request.command;
  for (std::size_t i = 1; i < out->command.size(); ++i) (void)Rename(taken, &out->command[i]);
  for (auto& [name, value] : out->environment.variables) {
    if (value && value->starts_with('/')) (void)Rename(taken, &*value);
  }
  std::vector<std::string> told;
  for (const NamedPlace& one : taken) {
    told.push_back(fmt::format("{} as {}", one.place.string(), one.in_rerun));
  }
  MarkFound("command",
            fmt::format("a rerun writes below its own folder: {}", fmt::join(told, ", ")), out);
}

}  // namespace rharness
