// Values with their grades: each setter checks the rules of a manifest.
#include "harness/records/intake/imported_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <numeric>
#include <utility>

#include "harness/base/digest.h"
#include "harness/base/shown_url.h"
#include "harness/records/intake/clean.h"
#include "harness/records/manifest/environment_secrets.h"
#include "harness/records/manifest/fields.h"
#include "harness/records/manifest/image_name.h"

namespace rharness {
namespace {

constexpr std::size_t kMostRemarks = 100;
constexpr std::size_t kMostArguments = 4096;

std::optional<std::int64_t> IntegerOf(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = error == std::errc() && end == text.data() + text.size() && !text.empty();
  return whole ? std::optional(value) : std::nullopt;
}

// The value of a setting that is a seed by its name: it ends in "seed", or is random_state.
// Some trackers keep numbers as text.
std::optional<std::int64_t> SeedIn(std::string_view name, const Json& value) {
  std::string lower(name.substr(name.find_last_of("./-:") + 1));
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if (!lower.ends_with("seed") && lower != "random_state") return std::nullopt;
  return value.kind() == Json::Kind::kString ? IntegerOf(value.AsString()) : value.ToInt64();
}

// The member of `items` with this name; makes a missing one.
template <class T>
T& Named(std::vector<T>* items, std::string_view name) {
  const auto found = std::ranges::find(*items, name, &T::name);
  if (found != items->end()) return *found;
  items->emplace_back().name = name;
  return items->back();
}

// Points by step; of several at one step the last. Returns how many gave way.
std::size_t SortPoints(std::vector<std::int64_t>* steps, std::vector<double>* values) {
  std::vector<std::size_t> order(steps->size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return (*steps)[i]; });
  std::vector<std::int64_t> sorted_steps;
  std::vector<double> sorted_values;
  for (const std::size_t i : order) {
    if (!sorted_steps.empty() && sorted_steps.back() == (*steps)[i]) {
      sorted_values.back() = (*values)[i];
      continue;
    }
    sorted_steps.push_back((*steps)[i]);
    sorted_values.push_back((*values)[i]);
  }
  const std::size_t gone = steps->size() - sorted_steps.size();
  *steps = std::move(sorted_steps);
  *values = std::move(sorted_values);
  return gone;
}

}  // namespace

Worth Exact(std::string_view from) { return {Grade::kExact, CleanText(from, 256)}; }

Worth Hint(std::string_view from, std::string_view why) {
  return {Grade::kHint, CleanText(fmt::format("{}; {}", from, why), 512)};
}

std::string RunIdOf(std::string_view kind, std::string_view id) {
  constexpr std::size_t kMost = 100;
  const std::string before = fmt::format("{}-{}", kind, id);
  std::string text = before.substr(0, kMost);
  for (char& c : text) {
    const std::array<char, 2> behind_a = {'a', c};
    if (!IsRunId({behind_a.data(), behind_a.size()})) c = '-';
  }
  if (text == before) return text;
  return fmt::format("{}-{}", text, Sha256HexOf(before).substr(0, 12));
}

ImportedRun::ImportedRun(std::string_view kind, std::string_view source, std::string_view id) {
  manifest_.run_id = RunIdOf(kind, id);
  manifest_.family = kind;
  manifest_.resources.cpus = 1;
  origin_ = {std::string(kind), CleanText(WithoutCredentials(source)), CleanText(id), {}, {}};
}

void ImportedRun::Note(std::string path, const Worth& worth) {
  // A name of the largest allowed size is part of a longer path.
  constexpr std::size_t kMostPath = 256;
  if (path.size() > kMostPath) {
    const std::string digest = Sha256HexOf(path).substr(0, 12);
    path = fmt::format("{}-{}", CleanText(path, kMostPath - digest.size() - 1), digest);
  }
  origin_.fields.push_back({std::move(path), worth.grade, worth.from});
}

void ImportedRun::Remark(std::string sentence) {
  if (origin_.remarks.size() < kMostRemarks) {
    origin_.remarks.push_back(CleanText(sentence, 1024));
  } else {
    ++further_remarks_;
  }
}

void ImportedRun::Refuse(std::string_view path, std::string_view value, std::string_view expected) {
  Remark(fmt::format("{}: {} was left out; expected {}", path, QuotedShort(value), expected));
}

void ImportedRun::SetFamily(std::string_view family, const Worth& worth) {
  const std::string name = CleanName(family);
  if (name.empty()) return;
  manifest_.family = name;
  Note("family", worth);
}

void ImportedRun::SetTimes(WallTime started, WallTime ended, const Worth& worth) {
  const auto set = [&](WallTime time, const char* path, WallTime* out) {
    if (time == WallTime{}) return;
    constexpr WallTime kEnd{std::chrono::sys_days{std::chrono::year{10000} / 1 / 1}};
    if (time < WallTime{} || time >= kEnd) {
      return Refuse(path, FormatTime(time), "a time from 1970 to 9999");
    }
    *out = time;
    Note(path, worth);
  };
  set(started, "started", &manifest_.started);
  set(ended, "ended", &manifest_.ended);
  if (manifest_.started == WallTime{} || manifest_.ended == WallTime{}) return;
  const double span = Seconds(manifest_.ended - manifest_.started).count();
  if (span < 0) return Remark("the run ended before it started");
  manifest_.duration_seconds = span;
  Note("duration_seconds", worth);
}

void ImportedRun::SetRepository(std::string_view repository, const Worth& worth) {
  const std::string text = CleanText(WithoutCredentials(repository));
  if (text.empty()) return;
  const bool url = text.find(':') != text.npos;
  const auto path = CleanPath(text);
  if (text.starts_with('-') || text.find("::") != text.npos || (!url && !path && text != ".")) {
    return Refuse("code.repository", repository, "a URL or a folder");
  }
  manifest_.code.repository = url || text == "." ? text : *path;
  Note("code.repository", worth);
}

void ImportedRun::SetCommit(std::string_view commit, const Worth& worth) {
  if (commit.empty()) return;
  const auto hex = CleanHex(commit);
  if (!hex) return Refuse("code.commit", commit, "hexadecimal digits");
  manifest_.code.commit = *hex;
  const bool whole = hex->size() == 40 || hex->size() == 64;
  Note("code.commit", whole ? worth : Hint(worth.from, "not a full commit"));
}

void ImportedRun::SetDirty(bool dirty, std::string_view diff_sha256, const Worth& worth) {
  manifest_.code.dirty = dirty;
  manifest_.code.diff_sha256 = CleanHex(diff_sha256).value_or("");
  Note("code.dirty", worth);
}

void ImportedRun::AddCodeFile(std::string_view path, std::string_view sha256, const Worth& worth) {
  const auto relative = CleanRelativePath(path);
  if (!relative) return Refuse("code.files", path, "a relative path that stays in its folder");
  auto& files = manifest_.code.files;
  if (std::ranges::find(files, *relative, &CodeFile::path) != files.end()) return;
  Note(fmt::format("code.files[{}]", files.size()), worth);
  files.push_back({*relative, CleanHex(sha256).value_or("")});
}

void ImportedRun::SetImage(std::string_view reference, const Worth& worth) {
  if (reference.empty()) return;
  const auto at = reference.find('@');
  const std::string_view name = reference.substr(0, at);
  const std::string_view digest = at == name.npos ? "" : reference.substr(at + 1);
  Image image;
  image.kind = ImageKind::kOci;
  SplitImageName(name, &image);
  if (!IsCleanWord(name) || name.find("://") != name.npos || image.repository.empty() ||
      (!digest.empty() && !IsCleanWord(digest))) {
    return Refuse("image", reference, "an image's name in a registry");
  }
  image.digest = digest;
  const bool pinned = digest.starts_with("sha256:") && IsSha256Hex(digest.substr(7));
  manifest_.image = std::move(image);
  Note("image", pinned ? worth : Hint(worth.from, "without a digest; a tag can be moved"));
}

void ImportedRun::AddData(DataItem item, const Worth& worth) {
  const std::string name = CleanName(item.name);
  const auto path = CleanPath(item.path.empty() ? item.name : item.path);
  if (name.empty() || !path) {
    return Refuse("data", name.empty() ? item.name : item.path, "a name and a path");
  }
  if (!data_names_.insert(name).second) {
    return Remark(fmt::format("data: a second item {} was left out", QuotedShort(name)));
  }
  item.name = name;
  item.path = *path;
  item.location = CleanPath(item.location).value_or("");
  if (item.kind != DataKind::kFile && item.kind != DataKind::kDirectory)
    item.kind = DataKind::kNotStated;
  item.sha256 = CleanHex(item.sha256).value_or("");
  item.other_digest = CleanText(item.other_digest, 256);
  Note(fmt::format("data[{}]", manifest_.data.size()),
       item.sha256.size() == 64 ? worth : Hint(worth.from, "without a SHA-256 of its content"));
  manifest_.data.push_back(std::move(item));
}

void ImportedRun::SetCommand(std::vector<std::string> command, const Worth& worth) {
  if (command.empty()) return;
  const auto bad = std::ranges::find_if(command, [](const std::string& argument) {
    return CleanText(argument, 1 << 16) != argument;
  });
  if (bad != command.end() || command.front().empty() || command.size() > kMostArguments) {
    return Refuse("command", bad != command.end() ? *bad : command.front(),
                  "a program and at most 4096 arguments without control characters");
  }
  manifest_.command = std::move(command);
  Note("command", worth);
}

void ImportedRun::SetWorkingDirectory(std::string_view folder, const Worth& worth) {
  if (folder.empty() || folder == ".") return;
  const auto path = CleanRelativePath(folder);
  if (!path) return Refuse("working_directory", folder, "a folder below the repository's");
  manifest_.working_directory = *path;
  Note("working_directory", worth);
}

void ImportedRun::SetHyperparameter(std::string_view name, Json value, const Worth& worth) {
  const std::string clean = CleanName(name);
  if (clean.empty()) return Refuse("hyperparameters", name, "a name");
  if (const auto seed = SeedIn(clean, value)) {
    SetSeed(clean, std::to_string(*seed),
            Hint(worth.from, "the source does not name its generator"));
    value = Json(*seed);
  }
  value = WithoutSecrets(clean, std::move(value));
  manifest_.hyperparameters[clean] = std::move(value);
  Note("hyperparameters." + clean, worth);
}

void ImportedRun::SetSeed(std::string_view name, std::string_view value, const Worth& worth) {
  const std::string clean = CleanName(name);
  const auto seed = IntegerOf(value);
  if (clean.empty() || !seed) return Refuse("seeds", value, "an integer of 64 bits");
  const bool is_new = manifest_.seeds.insert_or_assign(clean, *seed).second;
  if (is_new) manifest_.rng_sources.push_back(clean);
  Note("seeds." + clean, worth);
}

void ImportedRun::SetVariable(std::string_view name, std::string_view value, const Worth& worth) {
  const std::string clean = CleanName(name);
  if (clean.empty()) return Refuse("environment.variables", name, "a name");
  manifest_.environment.variables[clean] = Withheld(clean, CleanText(value));
  Note("environment.variables." + clean, worth);
}

void ImportedRun::SetSoftware(std::string_view name, std::string_view version, const Worth& worth) {
  const std::string clean = CleanName(name);
  if (clean.empty() || version.empty()) return;
  manifest_.environment.software[clean] = CleanText(version, 256);
  Note("environment.software." + clean, worth);
}

void ImportedRun::SetCpu(std::string_view model, std::string_view architecture,
                         const Worth& worth) {
  Cpu& cpu = manifest_.environment.hardware.cpu;
  cpu.model = CleanText(model, 256);
  cpu.architecture = CleanText(architecture, 64);
  if (!cpu.model.empty() || !cpu.architecture.empty()) Note("environment.hardware.cpu", worth);
}

void ImportedRun::AddGpu(std::string_view model, std::uint64_t memory_bytes, const Worth& worth) {
  auto& gpus = manifest_.environment.hardware.gpus;
  constexpr std::size_t kMostGpus = 1024;
  if (gpus.size() >= kMostGpus) return Remark("more than 1024 GPUs; the others were left out");
  Note(fmt::format("environment.hardware.gpus[{}]", gpus.size()), worth);
  Gpu& gpu = gpus.emplace_back();
  gpu.model = CleanText(model, 256);
  gpu.memory_bytes = memory_bytes;
  manifest_.resources.gpus = static_cast<int>(gpus.size());
}

void ImportedRun::SetGpuDriver(std::string_view version, const Worth& worth) {
  if (version.empty()) return;
  manifest_.environment.hardware.gpu_driver = CleanText(version, 256);
  Note("environment.hardware.gpu_driver", worth);
}

void ImportedRun::SetNodes(double nodes, const Worth& worth, double tasks_per_node,
                           const Worth& tasks_worth) {
  const auto is_count = [](double value) { return value >= 1.0 && value == std::trunc(value); };
  if (!is_count(nodes) || (tasks_per_node != 0.0 && !is_count(tasks_per_node))) return;
  const double tasks = std::max(1.0, tasks_per_node);
  if (nodes * tasks <= 1.0) return;
  if (nodes > kMostGangNodes || nodes * tasks > kMostGangTasks) {
    return Remark(
        fmt::format("{} nodes with {} tasks each are more than a run may have; they were "
                    "left out",
                    nodes, tasks));
  }
  manifest_.gang = Gang{.nodes = static_cast<int>(nodes),
                        .tasks_per_node = static_cast<int>(tasks),
                        .start = GangStart::kOnce,
                        .workspace = GangWorkspace::kShared,
                        .rendezvous = {},
                        .parts = {}};
  Note("gang.nodes", worth);
  if (tasks_per_node != 0.0) Note("gang.tasks_per_node", tasks_worth);
}

void ImportedRun::SetFlag(std::string_view name, std::string_view value, const Worth& worth) {
  const std::string clean = CleanName(name);
  if (clean.empty()) return;
  manifest_.determinism.flags[clean] = CleanText(value, 256);
  Note("determinism.flags." + clean, worth);
}

void ImportedRun::AddMetric(std::string_view name, double value, const Worth& worth) {
  const std::string clean = CleanName(name);
  if (clean.empty()) return Refuse("metrics", name, "a name");
  Named(&manifest_.metrics, clean).value = value;
  Note("metrics." + clean, worth);
}

void ImportedRun::AddCurve(std::string_view name, std::vector<std::int64_t> steps,
                           std::vector<double> values, const Worth& worth) {
  const std::string clean = CleanName(name);
  if (clean.empty() || steps.size() != values.size()) {
    return Refuse("curves", name, "a name, and a value a step");
  }
  if (steps.empty()) return;
  if (const std::size_t gone = SortPoints(&steps, &values); gone > 0) {
    Remark(fmt::format("curve {}: {} {} at a step that has a later one; the last one counts",
                       QuotedShort(clean), gone, gone == 1 ? "value" : "values"));
  }
  Curve& curve = Named(&manifest_.curves, clean);
  curve.steps = std::move(steps);
  curve.values = std::move(values);
  Note("curves." + clean, worth);
}

void ImportedRun::AddArtifact(Artifact artifact, const Worth& worth) {
  const auto path = CleanRelativePath(artifact.path);
  if (!path) return Refuse("artifacts", artifact.path, "a relative path that stays in its folder");
  if (!artifact_paths_.insert(*path).second) {
    return Remark(fmt::format("artifacts: a second {} was left out", QuotedShort(*path)));
  }
  artifact.path = *path;
  artifact.location = CleanPath(artifact.location).value_or("");
  artifact.sha256 = CleanHex(artifact.sha256).value_or("");
  Note(fmt::format("artifacts[{}]", manifest_.artifacts.size()),
       artifact.sha256.empty() ? Hint(worth.from, "its content was not hashed") : worth);
  manifest_.artifacts.push_back(std::move(artifact));
}

}  // namespace rharness
