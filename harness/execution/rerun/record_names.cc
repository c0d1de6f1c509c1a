// What names say: the words in a metric's, the program in a command; see record_find.h.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "harness/base/clean_text.h"
#include "harness/execution/rerun/record_find.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

// Names of programs that say nothing about what they train.
constexpr std::array<std::string_view, 8> kCommonPrograms = {
    "train", "main", "run", "finetune", "fine_tune", "training", "trainer", "__main__"};

constexpr auto kLowerWords = std::to_array<std::string_view>(
    {"loss", "error", "err", "perplexity", "ppl", "mse", "rmse", "mae", "mape", "nll", "wer", "cer",
     "fid", "bpb", "bpc", "logloss", "divergence", "regret",
     // Of XGBoost (eval_metric in its parameter reference) and LightGBM.
     "rmsle", "mphe", "merror", "mlogloss", "nloglik", "deviance", "kullback"});
constexpr auto kHigherWords = std::to_array<std::string_view>(
    {"accuracy", "acc",   "correct",  "f1",       "auc",     "auroc",  "precision", "recall",
     "bleu",     "rouge", "rouge1",   "rougel",   "score",   "reward", "iou",       "miou",
     "map",      "ndcg",  "mrr",      "r2",       "psnr",    "ssim",   "top1",      "top5",
     "em",       "exact", "matthews", "spearman", "pearson", "return", "aucpr"});

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

void MarkFound(std::string_view path, std::string_view from, Recording* out) {
  out->found.fields.push_back({CleanText(path), Grade::kHint, CleanText(from)});
}

bool IsSourceName(std::string_view path) {
  constexpr auto kEndings = std::to_array<std::string_view>(
      {".py",  ".pyi", ".ipynb", ".mk",  ".smk",  ".sh",  ".bash", ".R", ".jl",
       ".pl",  ".lua", ".rb",    ".js",  ".cc",   ".cu",  ".cpp",  ".c", ".h",
       ".hpp", ".cfg", ".yaml",  ".yml", ".toml", ".ini", ".so"});
  constexpr auto kNames = std::to_array<std::string_view>(
      {"Makefile", "makefile", "GNUmakefile", "Snakefile", "justfile"});
  const std::string_view name = path.substr(path.rfind('/') + 1);
  return std::ranges::find(kNames, name) != kNames.end() ||
         std::ranges::any_of(kEndings,
                             [&](std::string_view ending) { return path.ends_with(ending); });
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

void DeclareByName(const std::string& name, double value, Recording* out) {
  Metric metric;
  metric.name = name;
  metric.unit = "1";
  metric.direction = DirectionByName(name);
  metric.primary = true;
  const double size = std::abs(value);
  const bool share = metric.direction == MetricDirection::kHigher && size <= 1.0;
  metric.margin = share || size == 0.0 ? 0.01 : 0.01 * size;
  MarkFound(fmt::format("metrics.{}", name),
            fmt::format("its name says that {} is better; the margin {:.4g} is {}",
                        MetricDirectionName(metric.direction), *metric.margin,
                        share || size == 0.0 ? "that of a share" : "1 % of its value"),
            out);
  out->found.metrics.push_back(std::move(metric));
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
  if (best != nullptr) DeclareByName(best->first, best->second, out);
}

std::string FamilyByName(const std::vector<std::string>& command, const fs::path& folder) {
  std::vector<std::string> words;
  for (const std::string& argument : command) {
    const bool script = !words.empty() && (words.back() == "-c" || words.back() == "-lc");
    std::istringstream split(argument);
    if (!script) words.push_back(argument);
    for (std::string word; script && split >> word;) words.push_back(std::move(word));
  }
  std::string stem;
  for (std::size_t i = 0; i < words.size() && stem.empty(); ++i) {
    const bool module = i > 0 && words[i - 1] == "-m";
    if (module || words[i].ends_with(".py") || words[i].ends_with(".sh")) {
      stem = fs::path(words[i]).stem().string();
    }
  }
  if (stem.empty()) stem = fs::path(command.front()).stem().string();
  const bool common = std::ranges::find(kCommonPrograms, stem) != kCommonPrograms.end();
  const std::string own = common ? folder.filename().string() : stem;
  return own.empty() || own == "/" ? stem : own;
}

}  // namespace rharness
