// Chooses an environment, links it, and sets up the job.
#include "harness/execution/rerun/python_place.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <string_view>
#include <system_error>
#include <utility>

#include "harness/base/files.h"
#include "harness/base/shell_word.h"
#include "harness/base/trouble.h"
#include "harness/execution/rerun/make_python.h"
#include "harness/records/manifest/packages.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostPackagesNamed = 3;

bool IsPythonName(std::string_view name) {
  return name.starts_with("python") && name.find_first_not_of("0123456789.", 6) == name.npos;
}

// The place of a location by the longest --map that covers it; empty: none does.
fs::path Mapped(const Places& places, const std::string& location) {
  std::size_t best = 0;
  fs::path found;
  for (const auto& [from, to] : places.maps) {
    if (from.size() <= best) continue;
    if (location == from) {
      found = to;
    } else if (location.starts_with(from.ends_with('/') ? from : from + "/")) {
      found = to / fs::path(location).lexically_relative(from);
    } else {
      continue;
    }
    best = from.size();
  }
  return found;
}

// The file that a word of a command names, links not followed, in the folder of the recording or of
// the rerun.
fs::path FileNamed(const std::string& word, const Manifest& manifest, const fs::path& base) {
  return (base / manifest.working_directory / word).lexically_normal();
}

// "bin/torchrun" of a command's program in the recorded environment; empty: it is elsewhere.
std::string ProgramInside(const Manifest& manifest, const fs::path& workspace) {
  const auto& python = manifest.environment.python;
  const std::string& word = manifest.command.front();
  if (word.find('/') == word.npos) return "";
  std::vector<fs::path> prefixes;
  if (python) prefixes.emplace_back(python->prefix);
  if (python && !python->place.empty()) {
    prefixes.push_back((workspace / python->place).lexically_normal());
    // As it was typed where the recorded code lay.
    if (const fs::path root = manifest.code.repository; root.is_absolute()) {
      prefixes.push_back((root / python->place).lexically_normal());
    }
  }
  const fs::path file = FileNamed(word, manifest, workspace);
  for (const fs::path& prefix : prefixes) {
    const fs::path below = file.lexically_relative(prefix);
    if (!below.empty() && *below.begin() == "bin") return below.string();
  }
  return "";
}

bool IsExecutable(const fs::path& file) { return ::access(file.c_str(), X_OK) == 0; }

// A script names its interpreter by a path, which is wrong if its environment was moved.
bool IsPythonScript(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::array<char, 512> head{};
  in.read(head.data(), head.size());
  const std::string_view text(head.data(), static_cast<std::size_t>(in.gcount()));
  return text.starts_with("#!") && text.find("python") != text.npos;
}

fs::path FirstPython(const fs::path& prefix, const std::string& program) {
  for (const std::string& name : {program, std::string("bin/python"), std::string("bin/python3")}) {
    if (!name.empty() && IsPythonName(fs::path(name).filename().string()) &&
        IsExecutable(prefix / name)) {
      return prefix / name;
    }
  }
  return {};
}

std::string HowToGetIt(const fs::path& prefix) {
  return fmt::format(
      "--make-environments makes it from the recorded versions, --map {} or --python-environment "
      "DIR names a different one",
      TerminalSafe(ShellWord(prefix.string() + "=DIR")));
}

// What the record's interpreter is on this PATH.
bool IsFoundOnPath(const PythonEnvironment& python, std::string_view path) {
  const fs::path name = fs::path(python.program).filename();
  while (!path.empty()) {
    const fs::path file = fs::path(path.substr(0, path.find(':'))) / name;
    path.remove_prefix(std::min(path.size(), path.find(':')));
    path.remove_prefix(std::min<std::size_t>(path.size(), 1));
    if (!IsExecutable(file)) continue;
    std::error_code error;
    return fs::canonical(file, error) == fs::path(python.interpreter) && !error;
  }
  return false;
}

void PutFirst(const std::string& folder, std::string* list) {
  *list = list->empty() ? folder : folder + ":" + *list;
}

Finding TakenElsewhere(const std::string& recorded, const fs::path& taken, std::string_view why) {
  return {.code = "python_environment",
          .subject = "Python environment",
          .observed = taken.string(),
          .limit = recorded,
          .message = fmt::format("ran in the Python environment {} ({}); recorded: {}",
                                 taken.string(), why, recorded.empty() ? "none" : recorded)};
}

// The recorded one is missing here, or has changed: makes it again.
Result<PythonPlace> Make(const Manifest& manifest, const Places& places, const std::string& why,
                         const std::function<bool()>& should_cancel) {
  PythonPlace place;
  const auto made = MakePython(manifest, places.environments, should_cancel);
  if (made.ok()) {
    place.prefix = *made;
    place.remarks.push_back(
        TakenElsewhere(manifest.environment.python->prefix, *made, "made: " + why));
    return place;
  }
  if (IsTrouble(made.error())) return made.error();
  place.obstacle =
      Obstacle{Layer::kEnvironment, fmt::format("Python environment: {}, and it cannot be "
                                                "made: {}",
                                                why, made.error().ToString())};
  return place;
}

// Whether it was made with --system-site-packages (PEP 405).
bool SeesTheSystems(const fs::path& prefix) {
  const auto text = ReadFile(prefix / "pyvenv.cfg", std::uint64_t{1} << 16);
  return text.ok() && text->find("include-system-site-packages = true") != text->npos;
}

// The command's program, if it lies in the recorded environment: the same one of this environment.
void GiveProgram(const Manifest& manifest, const PythonPlace& python, Job* job) {
  const auto& recorded = manifest.environment.python;
  std::string& word = job->command.front();
  if (word.find('/') == word.npos) return;
  const std::string inside = ProgramInside(manifest, job->workspace);
  const fs::path same = python.prefix / inside;
  const fs::path interpreter = FirstPython(python.prefix, recorded ? recorded->program : "");
  const std::string name = fs::path(inside.empty() ? word : inside).filename().string();
  if (IsPythonName(name)) {
    if (inside.empty() && !python.asked_for) return;
    word = (!inside.empty() && IsExecutable(same) ? same : interpreter).string();
    return;
  }
  if (inside.empty()) return;
  word = same.string();
  const bool is_elsewhere = !recorded || python.prefix != fs::path(recorded->prefix);
  if (is_elsewhere && IsPythonScript(same)) {
    job->command.insert(job->command.begin(), interpreter.string());
  }
}

// A variable that the drill sets itself stays unchanged.
template <class Change>
void Set(const char* name, const EnvironmentOverrides& overrides, Job* job, Change&& change) {
  if (!overrides.contains(name)) change(&job->environment[name]);
}

// The settings of its activation, if the record was in an activated one.
void GiveEnvironment(const Manifest& manifest, const PythonPlace& python,
                     const EnvironmentOverrides& overrides, Job* job) {
  const auto& recorded = manifest.environment.python;
  const std::string prefix = python.prefix.string();
  const bool isolated = !recorded || IsIsolated(recorded->kind) || python.asked_for;
  const bool activated = python.asked_for || (recorded && recorded->activated);
  const auto path = job->environment.find("PATH");
  const bool is_another = !isolated && manifest.command.front().find('/') == std::string::npos &&
                          path != job->environment.end() && !IsFoundOnPath(*recorded, path->second);
  if (activated || is_another) {
    Set("PATH", overrides, job, [&](std::string* list) { PutFirst(prefix + "/bin", list); });
  }
  if (!isolated) return;
  std::error_code error;
  const bool is_conda = fs::is_directory(python.prefix / "conda-meta", error);
  const auto name_it = [&](std::string* value) { *value = prefix; };
  // A tool of another environment, such as poetry, asks which one is meant.
  const bool is_chosen_by_tool = ProgramInside(manifest, job->workspace).empty();
  if (activated || (is_chosen_by_tool && !is_conda)) {
    Set(is_conda ? "CONDA_PREFIX" : "VIRTUAL_ENV", overrides, job, name_it);
  }
  // uv uses the environment unchanged, and installs nothing into it.
  Set("UV_NO_SYNC", overrides, job, [](std::string* value) { *value = "1"; });
  Set("UV_PROJECT_ENVIRONMENT", overrides, job, name_it);
}

// Where the recorded Python looked for modules before its own folders, and the user's.
void GiveFolders(const Manifest& manifest, const EnvironmentOverrides& overrides, Job* job) {
  const PythonEnvironment& recorded = *manifest.environment.python;
  if (!recorded.user_base.empty()) {
    Set("PYTHONUSERBASE", overrides, job, [&](std::string* value) { *value = recorded.user_base; });
  }
  if (manifest.environment.variables.contains("PYTHONPATH")) return;
  std::string list;
  for (const std::string& folder : recorded.search_path) {
    const fs::path path = folder == "." ? job->workspace : job->workspace / folder;
    list += (list.empty() ? "" : ":") + path.lexically_normal().string();
  }
  if (!list.empty()) Set("PYTHONPATH", overrides, job, [&](std::string* value) { *value = list; });
}

}  // namespace

fs::path LocatePython(const Manifest& manifest, const Places& places) {
  const auto& python = manifest.environment.python;
  if (!python) return {};
  const fs::path mapped = Mapped(places, python->prefix);
  // Where the code's folder was mapped, its environment may have stayed.
  if (!mapped.empty() && WhyNoPython(mapped).empty()) return mapped;
  return python->prefix;
}

std::string WhyNoPython(const fs::path& prefix) {
  std::error_code error;
  if (!fs::is_directory(prefix, error)) return fmt::format("{} is not here", prefix.string());
  if (!FirstPython(prefix, "").empty()) return "";
  const fs::path link = prefix / "bin/python";
  const fs::path target = fs::read_symlink(link, error);
  if (error) return fmt::format("{} has no bin/python", prefix.string());
  return fmt::format("{} leads to {}, which is not here", link.string(), target.string());
}

std::vector<std::string> OtherPackages(const Manifest& manifest, const fs::path& prefix) {
  std::vector<std::string> others;
  const auto list = manifest.environment.packages.find(kPython);
  if (list == manifest.environment.packages.end()) return others;
  PackageMap now;
  for (const fs::path& folder : PackageFoldersBelow(prefix)) AddPythonPackages(folder, {}, &now);
  for (const auto& [name, package] : now) {
    const auto then = list->second.find(name);
    if (then == list->second.end()) {
      others.push_back(fmt::format("{} {} (not recorded)", name, package.version));
    } else if (then->second.version != package.version) {
      others.push_back(
          fmt::format("{} {} (recorded {})", name, package.version, then->second.version));
    } else if (!then->second.digest.empty() && !package.digest.empty() &&
               then->second.digest != package.digest) {
      others.push_back(fmt::format("{} {} with other contents", name, package.version));
    }
  }
  // Only where nothing else can have brought it.
  const auto& python = manifest.environment.python;
  const bool alone =
      python && IsIsolated(python->kind) && python->search_path.empty() && !SeesTheSystems(prefix);
  for (const auto& [name, package] : list->second) {
    if (alone && !package.digest.empty() && !now.contains(name)) {
      others.push_back(fmt::format("no {} (recorded {})", name, package.version));
    }
  }
  return others;
}

Result<PythonPlace> ChoosePython(const Manifest& manifest, const Places& places,
                                 const std::function<bool()>& should_cancel) {
  PythonPlace place;
  if (manifest.image.kind != ImageKind::kHost) return place;
  const auto& python = manifest.environment.python;
  const std::string recorded = python ? python->prefix : "";
  if (!places.python.empty()) {
    place.prefix = places.python;
    place.asked_for = true;
    const std::string why = WhyNoPython(place.prefix);
    if (!why.empty()) {
      place.obstacle = Obstacle{Layer::kEnvironment, "--python-environment: " + why};
    } else if (place.prefix != recorded) {
      place.remarks.push_back(TakenElsewhere(recorded, place.prefix, "--python-environment"));
    }
    return place;
  }
  if (!python) return place;
  const fs::path here = LocatePython(manifest, places);
  const std::string why = WhyNoPython(here);
  if (!IsIsolated(python->kind)) {
    // An interpreter of the system: another machine has its own.
    if (why.empty()) place.prefix = here;
    return place;
  }
  if (!why.empty() && !places.environments.empty()) {
    return Make(manifest, places, why, should_cancel);
  }
  if (!why.empty()) {
    place.obstacle =
        Obstacle{Layer::kEnvironment, fmt::format("Python environment of the record, on {}: {}; {}",
                                                  ThisMachine().host, why, HowToGetIt(recorded))};
    return place;
  }
  const bool is_recorded = here == fs::path(recorded);
  if (is_recorded && !places.environments.empty()) {
    std::vector<std::string> others = OtherPackages(manifest, here);
    if (!others.empty()) {
      others.resize(std::min(others.size(), kMostPackagesNamed));
      return Make(manifest, places,
                  fmt::format("{} has {} by now", here.string(), fmt::join(others, ", ")),
                  should_cancel);
    }
  }
  place.prefix = here;
  if (!is_recorded) place.remarks.push_back(TakenElsewhere(recorded, here, "--map"));
  return place;
}

Status LinkPython(const Manifest& manifest, const PythonPlace& python, const fs::path& workspace) {
  const auto& recorded = manifest.environment.python;
  if (python.prefix.empty() || !recorded || recorded->place.empty()) return {};
  const fs::path link = fs::path(recorded->place);
  std::error_code error;
  if (fs::exists(fs::symlink_status(workspace / link, error))) return {};
  // A link of the checkout on the way leads elsewhere: then nothing is written there.
  if (!MakeDirectoriesBelow(workspace, link.parent_path()).ok()) return {};
  fs::create_directory_symlink(fs::absolute(python.prefix), workspace / link, error);
  if (error) return IoErrorFromErrno("cannot link", error.value(), (workspace / link).string());
  return {};
}

std::optional<Obstacle> MissingProgram(const Manifest& manifest, const PythonPlace& python,
                                       const fs::path& workspace) {
  if (manifest.image.kind != ImageKind::kHost || manifest.command.empty()) return std::nullopt;
  const std::string& word = manifest.command.front();
  if (word.find('/') == word.npos || fs::path(word).is_absolute()) return std::nullopt;
  std::error_code error;
  if (fs::exists(FileNamed(word, manifest, workspace), error)) return std::nullopt;
  const bool is_python = IsPythonName(fs::path(word).filename().string());
  if (!python.prefix.empty() && (is_python || !ProgramInside(manifest, workspace).empty())) {
    return std::nullopt;
  }
  if (is_python || fs::path(word).parent_path().filename() == "bin") {
    return Obstacle{
        Layer::kEnvironment,
        fmt::format("the command's '{}' is in no recorded code, and the record names no "
                    "Python environment; --python-environment DIR gives one",
                    TerminalSafe(word))};
  }
  return std::nullopt;
}

void GivePython(const Manifest& manifest, const PythonPlace& python,
                const EnvironmentOverrides& overrides, Job* job) {
  if (manifest.environment.python) GiveFolders(manifest, overrides, job);
  if (python.prefix.empty()) return;
  PythonPlace whole = python;
  whole.prefix = fs::absolute(python.prefix);
  // Who gives another PATH means the program that is first on it.
  const bool looked_up = overrides.contains("PATH") && !manifest.command.empty() &&
                         manifest.command.front().find('/') == std::string::npos;
  if (!looked_up) GiveProgram(manifest, whole, job);
  GiveEnvironment(manifest, whole, overrides, job);
}

}  // namespace rharness
