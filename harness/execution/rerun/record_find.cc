// Observed files, written files and set seeds as parts of a recording; see record_find.h.
#include "harness/execution/rerun/record_find.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <system_error>

#include "compare/weights/checkpoint_folder.h"
#include "compare/weights/orbax.h"
#include "compare/weights/side_files.h"
#include "harness/base/digest.h"
#include "harness/base/files.h"
#include "harness/base/log.h"
#include "harness/base/source_folder.h"
#include "harness/execution/rerun/record_kept.h"
#include "harness/execution/rerun/record_logs.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 22> kCodeEndings = {
    ".py", ".pyi", ".sh", ".bash", ".R",   ".jl",  ".pl",   ".lua", ".rb",   ".js",  ".cc",
    ".cu", ".cpp", ".c",  ".h",    ".hpp", ".cfg", ".yaml", ".yml", ".toml", ".ini", ".so"};
// Names of programs that say nothing about what they train.
constexpr std::array<std::string_view, 8> kCommonPrograms = {
    "train", "main", "run", "finetune", "fine_tune", "training", "trainer", "__main__"};

bool IsPythonProgram(std::string_view program) {
  return fs::path(program).filename().string().starts_with("python");
}

void MarkFound(std::string path, std::string from, Recording* out) {
  out->found.fields.push_back({std::move(path), Grade::kHint, std::move(from)});
}

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

bool IsCodeName(std::string_view path) {
  return std::ranges::any_of(kCodeEndings,
                             [&](std::string_view ending) { return path.ends_with(ending); });
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
  item.kind = fs::is_directory(place, ignored) ? "directory" : "file";
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

// Data by their folders: a folder of many files is one item.
void AddAllData(const RecordRequest& request, const fs::path& folder,
                const std::vector<std::string>& paths, Recording* out) {
  std::map<std::string, std::vector<std::string>> by_folder;
  for (const std::string& path : paths) {
    by_folder[fs::path(path).parent_path().string()].push_back(path);
  }
  for (const auto& [parent, files] : by_folder) {
    if (files.size() > kMostFound && !parent.empty()) {
      AddData(request, folder, parent, fmt::format("the run read {} files of it", files.size()),
              out);
      continue;
    }
    for (const std::string& path : files) AddData(request, folder, path, "the run read it", out);
  }
}

// A checkpoint among the files that a run wrote.
struct FoundCheckpoint {
  fs::path path;  // of the file that stands for it
  std::ptrdiff_t depth = 0;
  fs::file_time_type written;
};

bool StandsForCheckpoint(const fs::path& path) {
  const std::string name = path.filename().string();
  if (SideFileOf(path) == SideFile::kContext) return false;
  const bool part = path.parent_path().filename().string().starts_with("ocdbt.process_");
  if (IsOrbaxIndex(name)) return !part;
  return name == ".metadata" || name.ends_with(".index.json") || name.ends_with(".index") ||
         IsCheckpointName(name) || MayBeCheckpointName(name);
}

// Arrays are data or predictions as often as weights: they count where nothing else is there.
bool IsArrayFile(const fs::path& path) {
  return path.extension() == ".npy" || path.extension() == ".npz";
}

std::vector<FoundCheckpoint> CandidatesIn(const fs::path& folder, const OutputIdentities& before) {
  std::vector<FoundCheckpoint> found;
  const auto source = SourceFolder::Open(folder.string());
  if (!source.ok()) return found;
  std::error_code ignored;
  (void)source->ForEachFile([&](const std::string& relative, EntryKind kind) -> Result<bool> {
    const fs::path path(relative);
    if (kind != EntryKind::kFile || !StandsForCheckpoint(path)) return true;
    const auto known = before.find(relative);
    if (known != before.end() && IdentityOfFile(folder / relative) == known->second) return true;
    found.push_back({path, std::distance(path.begin(), path.end()),
                     fs::last_write_time(folder / path, ignored)});
    return true;
  });
  const bool other = std::ranges::any_of(
      found, [](const FoundCheckpoint& candidate) { return !IsArrayFile(candidate.path); });
  if (other) std::erase_if(found, [](const FoundCheckpoint& one) { return IsArrayFile(one.path); });
  return found;
}

// The first of a preference: near to the run's folder, and then new.
bool IsBefore(const FoundCheckpoint& a, const FoundCheckpoint& b) {
  if (a.depth != b.depth) return a.depth < b.depth;
  if (a.written != b.written) return a.written > b.written;
  return a.path < b.path;
}

constexpr auto kLowerWords = std::to_array<std::string_view>(
    {"loss", "error", "err", "perplexity", "ppl", "mse", "rmse", "mae", "mape", "nll", "wer", "cer",
     "fid", "bpb", "bpc", "logloss", "divergence", "regret"});
constexpr auto kHigherWords = std::to_array<std::string_view>(
    {"accuracy", "acc",      "f1",       "auc",     "auroc",  "precision", "recall", "bleu",
     "rouge",    "rouge1",   "rougel",   "score",   "reward", "iou",       "miou",   "map",
     "ndcg",     "mrr",      "r2",       "psnr",    "ssim",   "top1",      "top5",   "em",
     "exact",    "matthews", "spearman", "pearson", "return"});

// "val", "loss" of "val/loss".
std::vector<std::string> MetricWords(std::string_view name) {
  std::vector<std::string> words(1);
  for (const char c : name) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (letter) {
      words.back() += static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
    } else if (!words.back().empty()) {
      words.emplace_back();
    }
  }
  return words;
}

// How well a metric says what a run is for: measured on held-out data, and a score before a loss.
int RankOf(std::string_view name, MetricDirection direction) {
  const std::vector<std::string> words = MetricWords(name);
  const auto has = [&](std::string_view word) {
    return std::ranges::find(words, word) != words.end();
  };
  int rank = direction == MetricDirection::kHigher ? 0 : 1;
  if (has("test")) return rank;
  if (has("eval") || has("val") || has("validation") || has("valid") || has("dev")) return rank + 2;
  return rank + (has("train") ? 6 : 4);
}

}  // namespace

RecordRequest WithFinding(RecordRequest request) {
  if (!request.find) return request;
  if (IsPythonProgram(request.command.front()) && request.observe) request.python_hooks = true;
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
    const bool code = IsCodeName(path) && !fs::path(path).is_absolute();
    if (code ? code_stated || in_commit : data_stated) {
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
  out->observation->inputs = std::move(left);
}

std::vector<Artifact> FindOutputs(const fs::path& folder, const OutputIdentities& before,
                                  Recording* out) {
  std::vector<FoundCheckpoint> found = CandidatesIn(folder, before);
  std::ranges::sort(found, IsBefore);
  std::vector<std::string> others;
  std::optional<fs::path> taken;
  for (const FoundCheckpoint& candidate : found) {
    // Shards of an index, and items of a step, are parts of what was taken.
    const bool same = taken && (candidate.path.string().starts_with(taken->parent_path().string()));
    if (taken && same &&
        (IsOrbaxIndex(taken->filename().string()) ||
         taken->filename().string().ends_with(".json"))) {
      continue;
    }
    const auto opened = OpenCheckpoint(folder / candidate.path);
    if (!opened.ok() || (*opened)->tensors().empty()) continue;
    if (taken) {
      others.push_back(candidate.path.string());
    } else {
      taken = candidate.path;
    }
  }
  if (!taken) return {};
  constexpr std::size_t kNamed = 5;
  const std::size_t more = others.size() - std::min(others.size(), kNamed);
  others.resize(others.size() - more);
  MarkFound("artifacts[0]",
            fmt::format("the run wrote it{}{}{}",
                        others.empty() ? "" : "; not taken: ", fmt::join(others, ", "),
                        more == 0 ? "" : fmt::format(" and {} more", more)),
            out);
  Artifact artifact;
  artifact.role = "weights";
  artifact.path = taken->string();
  return {artifact};
}

void FindRandomness(const RecordRequest& request, Recording* out) {
  if (!out->observation || !request.seeds.empty() || !request.rng_sources.empty()) return;
  for (const auto& [source, values] : out->observation->seeds) {
    std::int64_t seed = 0;
    const std::string& first = values.front();
    const char* const end = first.data() + first.size();
    const auto read = std::from_chars(first.data(), end, seed);
    const bool whole = values.size() == 1 && read.ec == std::errc() && read.ptr == end;
    if (whole) {
      out->found.seeds[source] = seed;
      MarkFound(fmt::format("seeds.{}", source), "the run set it", out);
    } else {
      out->found.rng_sources.push_back(source);
      MarkFound(fmt::format("rng_sources.{}", source), fmt::format("the run set {}", first), out);
    }
  }
  if (!out->observation->seeds.empty()) return;
  // Whether it draws at all is not known: that it may is the claim that costs nothing.
  out->found.rng_sources.push_back("unknown");
  MarkFound("rng_sources.unknown", "no seed and no generator was seen", out);
}

MetricDirection DirectionByName(std::string_view name) {
  for (const std::string& word : MetricWords(name)) {
    if (std::ranges::find(kLowerWords, word) != kLowerWords.end()) return MetricDirection::kLower;
    if (std::ranges::find(kHigherWords, word) != kHigherWords.end()) {
      return MetricDirection::kHigher;
    }
  }
  return MetricDirection::kNotStated;
}

void ProposeMetrics(const RecordRequest& request, Recording* out) {
  if (!request.metrics.empty()) return;
  const std::pair<const std::string, double>* best = nullptr;
  int rank = 0;
  for (const auto& metric : out->metrics.metrics) {
    const MetricDirection direction = DirectionByName(metric.first);
    if (!IsRanked(direction) || !std::isfinite(metric.second)) continue;
    const int own = RankOf(metric.first, direction);
    if (best != nullptr && own >= rank) continue;
    best = &metric;
    rank = own;
  }
  if (best == nullptr) return;
  Metric metric;
  metric.name = best->first;
  metric.unit = "1";
  metric.direction = DirectionByName(metric.name);
  metric.primary = true;
  const double size = std::abs(best->second);
  const bool share = metric.direction == MetricDirection::kHigher && size <= 1.0;
  metric.margin = share || size == 0.0 ? 0.01 : 0.01 * size;
  MarkFound(fmt::format("metrics.{}", metric.name),
            fmt::format("its name says that {} is better; the margin {:.4g} is {}",
                        MetricDirectionName(metric.direction), *metric.margin,
                        share || size == 0.0 ? "that of a share" : "1 % of its value"),
            out);
  out->found.metrics.push_back(std::move(metric));
}

void FindFamily(const RecordRequest& request, const fs::path& folder, Recording* out) {
  if (!request.family.empty()) return;
  out->found.family = FamilyByName(request.command, folder);
  MarkFound("family", "the name of the program, or of its folder", out);
}

std::string FamilyByName(const std::vector<std::string>& command, const fs::path& folder) {
  std::string stem;
  for (std::size_t i = 0; i < command.size() && stem.empty(); ++i) {
    const bool module = i > 0 && command[i - 1] == "-m";
    if (module || command[i].ends_with(".py") || command[i].ends_with(".sh")) {
      stem = fs::path(command[i]).stem().string();
    }
  }
  if (stem.empty()) stem = fs::path(command.front()).stem().string();
  const bool common = std::ranges::find(kCommonPrograms, stem) != kCommonPrograms.end();
  const std::string own = common ? folder.filename().string() : stem;
  return own.empty() || own == "/" ? stem : own;
}

}  // namespace rharness
