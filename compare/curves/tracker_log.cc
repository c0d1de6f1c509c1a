// From a tracker's own records to curves; see tracker_log.h.
#include "compare/curves/tracker_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "compare/curves/curve_builder.h"
#include "compare/curves/curve_files.h"
#include "compare/curves/mlflow_metrics.h"
#include "compare/curves/wandb_log.h"
#include "compare/curves/wandb_metrics.h"
#include "harness/base/clean_text.h"
#include "harness/base/files.h"
#include "harness/base/source_folder.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostTrackerRemarks = 20;
constexpr std::size_t kMostNamedRuns = 5;

bool IsMlflowRunId(std::string_view name) {
  constexpr std::size_t kDigits = 32;
  return name.size() == kDigits && std::ranges::all_of(name, [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

// Sentences with their place, a bounded number.
class TrackerRemarks {
 public:
  TrackerRemarks(const std::string& where, std::vector<std::string>* out)
      : where_(where), out_(*out) {}
  void Say(const std::string& sentence) {
    if (++count_ <= kMostTrackerRemarks) out_.push_back(where_ + ": " + sentence);
    if (count_ == kMostTrackerRemarks + 1)
      out_.push_back(where_ + ": further remarks are left out");
  }

 private:
  const std::string& where_;
  std::vector<std::string>& out_;
  std::size_t count_ = 0;
};

Error SeveralRuns(const std::set<std::string>& runs, const std::string& where) {
  std::string names;
  std::size_t named = 0;
  for (const std::string& run : runs) {
    if (++named > kMostNamedRuns) break;
    names += (names.empty() ? "" : ", ") + TerminalSafe(run.substr(0, 200));
  }
  if (runs.size() > kMostNamedRuns) {
    names += fmt::format(" and {} more", runs.size() - kMostNamedRuns);
  }
  return InvalidInput(fmt::format("holds several runs ({}); expected the one that is meant", names),
                      where);
}

template <class Steps, class Values>
Status AddTrackerCurve(const std::string& name, const Steps& step_of, const Values& value_of,
                       std::size_t count, const std::string& where, CurveBuilder* curves) {
  const auto curve = curves->IndexOf(name);
  if (!curve.ok()) return InvalidInput(curve.error().message, where);
  for (std::size_t i = 0; i < count; ++i) {
    if (auto wrong = curves->Add(*curve, step_of(i), {value_of(i), kFullPrecision})) {
      return InvalidInput(*wrong, where);
    }
  }
  return {};
}

Result<TrackerLog> LogOfMlflow(MlflowMetrics metrics, const std::string& where, TrackerLog log) {
  CurveBuilder curves(&log.remarks);
  for (auto& [name, points] : metrics) {
    if (points.empty() || IsMlflowSystemMetric(name)) continue;
    OrderMlflowPoints(&points);
    RETURN_IF_ERROR(AddTrackerCurve(
        name, [&own = points](std::size_t i) { return own[i].step; },
        [&own = points](std::size_t i) { return own[i].value; }, points.size(), where, &curves));
  }
  ASSIGN_OR_RETURN(log.curves, std::move(curves).Finish(where));
  return log;
}

Result<SqliteFile> OpenMlflowDatabase(std::string bytes, const std::string& where) {
  ASSIGN_OR_RETURN(SqliteFile database, SqliteFile::OfBytes(std::move(bytes), where));
  if (IsMlflowTables(database)) return database;
  return InvalidInput("is an SQLite file without MLflow's tables", where);
}

Result<std::vector<std::string>> RunsWithMetrics(const SqliteFile& database) {
  std::vector<std::string> runs;
  RETURN_IF_ERROR(database.ForRows(
      "SELECT DISTINCT m.run_uuid FROM metrics m JOIN runs r ON r.run_uuid = m.run_uuid "
      "LEFT JOIN experiments e ON e.experiment_id = r.experiment_id "
      "WHERE r.lifecycle_stage <> 'deleted' AND coalesce(e.lifecycle_stage, '') <> 'deleted' "
      "AND m.key NOT LIKE 'system/%' ORDER BY 1",
      std::nullopt, [&](const SqliteFile::Row& row) -> Status {
        runs.push_back(row.Text(0));
        return {};
      }));
  return runs;
}

// Of the files below a folder: those that are trackers' logs.
struct TrackerFiles {
  std::vector<fs::path> wandb, mlflow;
};

Status FindTrackerFiles(const SourceFolder& source, std::size_t most, TrackerFiles* found) {
  return source.ForEachFile([&](const std::string& relative, EntryKind kind) -> Result<bool> {
    if (kind == EntryKind::kFile && IsWandbLogName(relative)) found->wandb.emplace_back(relative);
    // The source may be the run's own folder.
    if (kind == EntryKind::kFile && MlflowMetricFileOf(source.path() / relative)) {
      found->mlflow.emplace_back(relative);
    }
    return --most > 0;
  });
}

}  // namespace

std::optional<MlflowMetricFile> MlflowMetricFileOf(const fs::path& file) {
  fs::path before;
  std::string last;
  for (auto part = file.begin(); part != file.end(); ++part) {
    if (*part == "metrics" && IsMlflowRunId(last) && std::next(part) != file.end()) {
      return MlflowMetricFile{before, file.lexically_relative(before / "metrics").string()};
    }
    before /= *part;
    last = part->string();
  }
  return std::nullopt;
}

Result<TrackerLog> ReadMlflowFiles(const std::vector<fs::path>& files, const ReadTrackerFile& read,
                                   const std::string& where) {
  TrackerLog log;
  TrackerRemarks remarks(where, &log.remarks);
  MlflowMetrics metrics;
  std::set<std::string> runs;
  std::size_t points = 0;
  for (const fs::path& file : files) {
    const auto named = MlflowMetricFileOf(file);
    if (!named || IsMlflowSystemMetric(named->metric)) continue;
    runs.insert(named->run.string());
    if (runs.size() > 1) continue;
    ASSIGN_OR_RETURN(const std::string text, read(file));
    metrics[named->metric] = ParseMlflowMetricFile(text, &points, [&](const std::string& why) {
      remarks.Say(TerminalSafe(named->metric) + ": " + why);
    });
  }
  if (runs.size() > 1) return SeveralRuns(runs, where);
  return LogOfMlflow(std::move(metrics), where, std::move(log));
}

Result<TrackerLog> ReadMlflowDatabase(std::string bytes, const std::string& where,
                                      const CountsRun& counts) {
  ASSIGN_OR_RETURN(const SqliteFile database, OpenMlflowDatabase(std::move(bytes), where));
  ASSIGN_OR_RETURN(const std::vector<std::string> runs, RunsWithMetrics(database));
  std::set<std::string> written;
  for (const std::string& run : runs) {
    if (!counts || counts(run)) written.insert(run);
  }
  if (runs.empty()) return InvalidInput("holds no run with metrics", where);
  if (written.empty()) return NotFound("holds no run with metrics that is new", where);
  if (written.size() > 1) return SeveralRuns(written, where);
  TrackerLog log;
  TrackerRemarks remarks(where, &log.remarks);
  MlflowMetrics metrics;
  RETURN_IF_ERROR(
      ReadMlflowMetricRows(database, *written.begin(), &metrics,
                           [&](const std::string& sentence) { remarks.Say(sentence); }));
  return LogOfMlflow(std::move(metrics), where, std::move(log));
}

Result<std::vector<std::string>> MlflowRunsIn(std::string bytes, const std::string& where) {
  ASSIGN_OR_RETURN(const SqliteFile database, OpenMlflowDatabase(std::move(bytes), where));
  return RunsWithMetrics(database);
}

Result<TrackerLog> ReadWandbRunLog(std::string_view text, const std::string& where) {
  TrackerLog log;
  TrackerRemarks remarks(where, &log.remarks);
  WandbMetrics metrics;
  RETURN_IF_ERROR(ReadWandbLog(
      text, where,
      [&](std::string_view record, std::size_t offset) {
        if (AddWandbMetrics(record, &metrics)) return;
        remarks.Say(fmt::format("byte {}: a record that cannot be read whole", offset));
      },
      [&](const std::string& sentence) { remarks.Say(sentence); }));
  if (metrics.other_values > 0) {
    remarks.Say(fmt::format("values that are no numbers (texts, pictures, tables), left out: {}",
                            metrics.other_values));
  }
  if (metrics.points > kMostWandbPoints) {
    remarks.Say(fmt::format("the run has {} values; those after the first {} were left out",
                            metrics.points, kMostWandbPoints));
  }
  CurveBuilder curves(&log.remarks);
  for (const auto& [name, curve] : metrics.history) {
    RETURN_IF_ERROR(AddTrackerCurve(
        name, [&own = curve](std::size_t i) { return own.steps[i]; },
        [&own = curve](std::size_t i) { return own.values[i]; }, curve.steps.size(), where,
        &curves));
  }
  log.summary = WandbSummaryNumbers(metrics);
  if (metrics.history.empty() && !log.summary.empty()) return log;
  ASSIGN_OR_RETURN(log.curves, std::move(curves).Finish(where));
  return log;
}

bool IsWandbLogName(const fs::path& file) { return file.extension() == ".wandb"; }

bool HoldsTrackerLog(const fs::path& folder) {
  constexpr std::size_t kMostFiles = 2000;
  const auto source = SourceFolder::Open(folder.string());
  if (!source.ok()) return false;
  TrackerFiles found;
  return FindTrackerFiles(*source, kMostFiles, &found).ok() &&
         !(found.wandb.empty() && found.mlflow.empty());
}

Result<TrackerLog> LoadTrackerFolder(const fs::path& folder) {
  constexpr std::size_t kMostFiles = 1'000'000;
  const std::string where = folder.string();
  ASSIGN_OR_RETURN(const SourceFolder source, SourceFolder::Open(where));
  TrackerFiles found;
  RETURN_IF_ERROR(FindTrackerFiles(source, kMostFiles, &found));
  const auto read = [&](const fs::path& file) {
    return source.folder().ReadFile(file.lexically_relative(source.path()), kMaxCurveFileBytes);
  };
  if (found.wandb.size() > 1) {
    return SeveralRuns({found.wandb.begin(), found.wandb.end()}, where);
  }
  if (!found.wandb.empty()) {
    ASSIGN_OR_RETURN(const std::string text, read(source.path() / found.wandb.front()));
    return ReadWandbRunLog(text, (folder / found.wandb.front()).string());
  }
  if (found.mlflow.empty()) return NotFound("holds no log of MLflow or W&B", where);
  for (fs::path& file : found.mlflow) file = source.path() / file;
  return ReadMlflowFiles(found.mlflow, read, where);
}

}  // namespace rharness
