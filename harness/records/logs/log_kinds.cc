// Names of kinds, and kinds by content.
#include "harness/records/logs/log_kinds.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "compare/curves/curve_files.h"
#include "compare/curves/printed_number.h"
#include "compare/curves/tensorboard.h"
#include "compare/curves/tracker_log.h"
#include "compare/weights/xgboost_model.h"
#include "harness/records/logs/evaluation_results.h"
#include "harness/records/logs/run_log.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

constexpr std::array<RunLogKind, 13> kKinds = {{
    {kOwnLog, "rharness's own JSON: {\"metrics\": {...}, \"curves\": {...}}"},
    {kTrainerLog, "a Hugging Face Trainer's folder: trainer_state.json, all_results.json"},
    {kTensorBoardLog, "event files of TensorBoard, one or a folder"},
    {kTableLog, "a table with a header line, commas or tabs (Lightning, Keras)"},
    {kLinesLog, "JSON Lines with a step"},
    {kArraysLog, "JSON of one array a metric (a history of Keras)"},
    {kResultsLog, "JSON of one number a metric (all_results.json)"},
    {kHarnessLog, "results of lm-evaluation-harness (results_DATE.json)"},
    {kInspectLog, "logs of Inspect (.eval, .json), one a task"},
    {kHelmLog, "stats.json of HELM, one a run entry"},
    {kMlflowLog, "MLflow's local store of one run: mlflow.db, or mlruns/"},
    {kWandbLog, "the log of W&B's client (run-ID.wandb) of one run, or its folder wandb/"},
    {kMllogLog, "an MLPerf log"},
}};

bool IsFlatResults(std::string_view text) {
  const auto json = ParseJsonWithNonFinite(text, "");
  if (!json.ok() || !json->IsObject()) return false;
  bool number = false;
  for (const auto& [name, value] : json->AsObject()) {
    if (value.IsObject() || value.IsArray() || name == "schema") return false;
    number = number || value.ToDouble().has_value();
  }
  return number;
}

}  // namespace

std::span<const RunLogKind> RunLogKinds() { return kKinds; }

// Of each file of a folder that may have many: nothing is made of most names.
bool MayBeRunLog(std::string_view file) {
  const std::string_view name = file.substr(file.rfind('/') + 1);
  // The items of an evaluation lie beside its results.
  if (name.starts_with("samples_")) return false;
  constexpr std::array<std::string_view, 9> kEndings = {
      ".json", ".jsonl", ".ndjson", ".csv", ".tsv", ".eval", ".wandb", ".db", ".sqlite"};
  const auto ends = [&](std::string_view ending) { return name.ends_with(ending); };
  return std::ranges::any_of(kEndings, ends) || IsEventFileName(name) ||
         (file.find("metrics/") != file.npos && MlflowMetricFileOf(file));
}

std::string_view KindOfHead(std::string_view head) {
  // A model; one that begins with its version may be many things.
  if (LooksLikeXgboost(head) && head.find("\"learner\"") != head.npos) return {};
  if (LooksLikeHarnessResults(head)) return kHarnessLog;
  if (LooksLikeInspectJson(head) || LooksLikeInspectArchive(head)) return kInspectLog;
  if (LooksLikeHelmStats(head)) return kHelmLog;
  const auto format = DetectCurveFormat(head);
  // A run's own file may have arrays of its own beside its metrics.
  const bool arrays = format == CurveFormat::kJsonArrays;
  if (format && !(arrays && head.find("\"metrics\"") != head.npos)) {
    switch (*format) {
      case CurveFormat::kRunMetrics:
        return kOwnLog;
      case CurveFormat::kTrainerState:
        return kTrainerLog;
      case CurveFormat::kEventFile:
        return kTensorBoardLog;
      case CurveFormat::kCsv:
        return kTableLog;
      case CurveFormat::kJsonLines:
        return kLinesLog;
      case CurveFormat::kMllog:
        return kMllogLog;
      case CurveFormat::kDatabase:
        return kMlflowLog;
      case CurveFormat::kWandbLog:
        return kWandbLog;
      case CurveFormat::kJsonArrays:
      case CurveFormat::kMegatronGolden:
        return kArraysLog;
    }
  }
  const auto json = ParseJson(head, "");
  const Json* metrics = json.ok() && json->IsObject() ? json->Find(kOwnLog) : nullptr;
  if (metrics != nullptr && metrics->IsObject() && json->Find("schema") == nullptr) return kOwnLog;
  if (format) return kOwnLog;  // too long to be parsed here
  return IsFlatResults(head) ? kResultsLog : std::string_view();
}

std::optional<fs::path> FolderOwnedBy(const fs::path& log, std::string_view kind) {
  if (kind != kWandbLog && kind != kHelmLog) return std::nullopt;
  return log.parent_path();
}

bool IsBelow(const fs::path& file, const fs::path& folder) {
  return folder.empty() || file.string().starts_with(folder.string() + "/");
}

std::optional<std::int64_t> CheckpointStep(std::string_view folder) {
  constexpr std::string_view kPrefix = "checkpoint-";
  if (!folder.starts_with(kPrefix)) return std::nullopt;
  folder.remove_prefix(kPrefix.size());
  std::int64_t step = 0;
  const auto [end, error] = std::from_chars(folder.data(), folder.data() + folder.size(), step);
  const bool whole = error == std::errc() && end == folder.data() + folder.size();
  return whole ? std::optional(step) : std::nullopt;
}

}  // namespace rharness
