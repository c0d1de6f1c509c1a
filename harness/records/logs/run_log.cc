// Logs by content, and what is taken of them.
#include "harness/records/logs/run_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "compare/curves/curve_builder.h"
#include "compare/curves/curve_files.h"
#include "compare/curves/printed_number.h"
#include "compare/curves/tensorboard.h"
#include "compare/curves/tracker_log.h"
#include "harness/base/source_folder.h"
#include "harness/base/sqlite_file.h"
#include "harness/records/logs/evaluation_results.h"
#include "harness/records/logs/log_kinds.h"
#include "harness/records/manifest/fields.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kResultsFile = "all_results.json";
constexpr std::uint64_t kMostLogBytes = std::uint64_t{256} << 20;
// A manifest holds them as text.
constexpr std::size_t kMostPoints = 1'000'000;
constexpr std::size_t kMostNamed = 5;
constexpr std::size_t kMostResources = 20;
constexpr std::size_t kFirstBytes = 16;
constexpr std::string_view kMeanOfAll = " (mean of all values)";

std::string NamesOf(const std::vector<std::string>& names, std::size_t most = kMostNamed) {
  const std::vector<std::string> first(
      names.begin(), names.begin() + static_cast<std::ptrdiff_t>(std::min(names.size(), most)));
  const std::size_t more = names.size() - first.size();
  return fmt::format("{}{}", fmt::join(first, ", "),
                     more > 0 ? fmt::format(" and {} more", more) : "");
}

double MeanOf(const std::vector<double>& values) {
  double sum = 0.0;
  double count = 0.0;
  for (const double value : values) {
    if (!std::isfinite(value)) continue;
    sum += value;
    count += 1.0;
  }
  return count > 0.0 ? sum / count : 0.0;
}

// Brings what the readers of formats return into the form of a run's own file.
class Taking {
 public:
  explicit Taking(std::string file) : file_(std::move(file)) {}

  void Curves(std::vector<CurveSeries> curves) {
    std::ranges::sort(curves, {}, &CurveSeries::name);
    for (CurveSeries& curve : curves) {
      if (!IsTaken(curve.name) || curve.values.empty()) continue;
      out_.metrics.metrics[curve.name] = curve.values.back();
      if (curve.values.size() < 2) continue;
      points_ += curve.values.size();
      if (points_ > kMostPoints) {
        // In place of the points: any that differs moves their mean.
        out_.metrics.metrics[curve.name + std::string(kMeanOfAll)] = MeanOf(curve.values);
        too_long_.push_back(curve.name);
        points_ -= curve.values.size();
        continue;
      }
      out_.metrics.curves.push_back(
          {std::move(curve.name), std::move(curve.steps), std::move(curve.values)});
    }
  }

  // One number a metric: later than any curve.
  Status Results(std::string_view text, std::string_view file) {
    ASSIGN_OR_RETURN(const Json json, ParseJsonWithNonFinite(text, file));
    if (!json.IsObject()) {
      return InvalidInput(fmt::format("expected an object, found {}", json.KindName()),
                          std::string(file));
    }
    NoNumbers others;
    for (const auto& [name, value] : json.AsObject()) {
      if (value.IsNull() || name == "epoch" || !IsTaken(name)) continue;
      const auto number = NumberOf(value);
      if (number) out_.metrics.metrics[name] = number->value;
      if (!number) others.emplace(name, NounOf(value));
    }
    if (!others.empty()) Say(NotCompared(file, others));
    return {};
  }

  // The same of values that were read, `before` each name.
  void Values(const std::map<std::string, double>& values, const std::string& before = "") {
    for (const auto& [name, value] : values) {
      if (IsTaken(before + name)) out_.metrics.metrics[before + name] = value;
    }
  }

  void Tracker(TrackerLog log) {
    for (std::string& remark : log.remarks) Say(std::move(remark));
    Curves(std::move(log.curves));
    Values(log.summary);
  }

  void Say(std::string sentence) { out_.left_out.push_back(std::move(sentence)); }

  SalvagedMetrics Take() && {
    if (!resources_.empty()) {
      Say(fmt::format("{}: times, rates and memory are not compared: {}", file_,
                      NamesOf(resources_, kMostResources)));
    }
    if (!unnamed_.empty()) {
      Say(fmt::format("{}: names of more than 256 bytes or with control characters: {}", file_,
                      NamesOf(unnamed_)));
    }
    if (!too_long_.empty()) {
      Say(fmt::format(
          "{}: more than {} points: the curve is not compared, but its last value and the mean of "
          "its finite values: {}",
          file_, kMostPoints, NamesOf(too_long_)));
    }
    return std::move(out_);
  }

 private:
  bool IsTaken(const std::string& name) {
    if (!IsName(name)) {
      unnamed_.push_back(QuoteForError(name));
      return false;
    }
    if (KindOfCurve(name) != CurveKind::kResource) return true;
    resources_.push_back(name);
    return false;
  }

  const std::string file_;
  SalvagedMetrics out_;
  std::size_t points_ = 0;
  std::vector<std::string> resources_;
  std::vector<std::string> unnamed_;
  std::vector<std::string> too_long_;
};

class LogReader {
 public:
  LogReader(const SourceFolder& source, const fs::path& path, const CountsAsWritten& counts,
            ReadLogAs as, const std::string& step)
      : source_(source), path_(path), counts_(counts), as_(as), step_(step) {}

  Result<RunLog> ReadFile(const std::string& name) const {
    const std::string shown = ShownName(name);
    ASSIGN_OR_RETURN(const std::string head, source_.ReadHead(name));
    const std::string_view kind = as_ == ReadLogAs::kOwn ? kOwnLog : KindOfHead(head);
    if (kind == kTensorBoardLog) return ReadEvents({name});
    if (IsOneOfMany(kind)) return ReadEvaluations(kind, {name});
    ASSIGN_OR_RETURN(const std::string text, source_.folder().ReadFile(name, kMostLogBytes));
    RunLog log{.kind = kind.empty() ? kOwnLog : kind, .path = path_, .read = {}};
    if (log.kind == kOwnLog) {
      ASSIGN_OR_RETURN(log.read, SalvageRunMetrics(text, shown));
      return log;
    }
    Taking taking(shown);
    if (kind == kResultsLog) {
      RETURN_IF_ERROR(taking.Results(text, shown));
    } else if (kind == kHarnessLog) {
      ASSIGN_OR_RETURN(const EvaluationResults results, ParseHarnessResults(text, shown));
      taking.Values(results.values);
    } else if (kind == kMlflowLog) {
      ASSIGN_OR_RETURN(TrackerLog read, ReadMlflowDatabase(text, shown, [&](const auto& run) {
                         return !counts_ || counts_(BelowPath(name) / run);
                       }));
      taking.Tracker(std::move(read));
    } else if (kind == kWandbLog) {
      // Its own name is new in each run, and what is left out is said in the same words.
      ASSIGN_OR_RETURN(TrackerLog read, ReadWandbRunLog(text, path_.string()));
      taking.Tracker(std::move(read));
    } else {
      std::vector<std::string> remarks;
      ASSIGN_OR_RETURN(std::vector<CurveSeries> curves, ParseCurves(text, shown, &remarks, step_));
      for (std::string& remark : remarks) taking.Say(std::move(remark));
      taking.Curves(std::move(curves));
    }
    log.read = std::move(taking).Take();
    return log;
  }

  Result<RunLog> ReadFolder() const {
    std::map<std::int64_t, std::string> states;  // by the step of their checkpoint
    std::vector<fs::path> events, mlflow;
    std::vector<std::string> files;
    RETURN_IF_ERROR(
        source_.ForEachFile([&](const std::string& relative, EntryKind kind) -> Result<bool> {
          if (kind != EntryKind::kFile || (counts_ && !counts_(path_ / relative))) return true;
          const fs::path file(relative);
          const auto step = CheckpointStep(file.parent_path().string());
          if (file.filename() == kStateFile && (step || !file.has_parent_path())) {
            states[step.value_or(std::numeric_limits<std::int64_t>::max())] = relative;
          } else if (IsEventFileName(file.filename().string())) {
            events.push_back(file);
          } else if (MlflowMetricFileOf(path_ / file)) {
            mlflow.push_back(path_ / file);
          } else if (files.size() < kMostCandidates && MayBeRunLog(file.native())) {
            files.push_back(relative);
          }
          return true;
        }));
    if (!states.empty()) return ReadTrainer(states.rbegin()->second);
    if (!events.empty()) return ReadEvents(std::move(events));
    if (!mlflow.empty()) return ReadMlflow(mlflow);
    return ReadOnlyOne(files);
  }

 private:
  std::string ShownName(const std::string& name) const { return BelowPath(name).string(); }

  // Below the folder that the path is relative to.
  fs::path BelowPath(const std::string& name) const {
    return source_.file().empty() ? path_ / name : path_;
  }

  Result<RunLog> ReadTrainer(const std::string& state) const {
    const std::string shown = ShownName(state);
    ASSIGN_OR_RETURN(const std::string text, source_.folder().ReadFile(state, kMostLogBytes));
    Taking taking(path_.string());
    ASSIGN_OR_RETURN(std::vector<CurveSeries> curves, ParseCurves(text, shown));
    taking.Curves(std::move(curves));
    if (!counts_ || counts_(path_ / kResultsFile)) {
      const auto results = source_.folder().ReadFile(kResultsFile, kMostLogBytes);
      if (results.ok()) {
        RETURN_IF_ERROR(taking.Results(*results, ShownName(std::string(kResultsFile))));
      } else if (results.error().code != ErrorCode::kNotFound) {
        return results.error();
      }
    }
    return RunLog{kTrainerLog, path_, std::move(taking).Take()};
  }

  Result<RunLog> ReadEvents(std::vector<fs::path> files) const {
    ASSIGN_OR_RETURN(EventCurves read, ReadEventFiles(std::move(files), [&](const fs::path& file) {
                       return source_.folder().OpenFile(file);
                     }));
    Taking taking(path_.string());
    for (std::string& remark : read.remarks) taking.Say(std::move(remark));
    taking.Curves(std::move(read.curves));
    return RunLog{kTensorBoardLog, path_, std::move(taking).Take()};
  }

  Result<RunLog> ReadMlflow(const std::vector<fs::path>& files) const {
    const auto read = [&](const fs::path& file) {
      return source_.folder().ReadFile(file.lexically_relative(path_), kMostLogBytes);
    };
    ASSIGN_OR_RETURN(TrackerLog log, ReadMlflowFiles(files, read, path_.string()));
    Taking taking(path_.string());
    taking.Tracker(std::move(log));
    return RunLog{kMlflowLog, path_, std::move(taking).Take()};
  }

  Result<EvaluationResults> ReadEvaluation(const std::string& name) const {
    const std::string shown = ShownName(name);
    ASSIGN_OR_RETURN(const std::string head, source_.ReadHead(name));
    if (LooksLikeInspectArchive(head)) return ReadInspectArchive(source_.folder(), name, shown);
    ASSIGN_OR_RETURN(const std::string text, source_.folder().ReadFile(name, kMostLogBytes));
    return LooksLikeHelmStats(head) ? ParseHelmStats(text, shown) : ParseInspectLog(text, shown);
  }

  // HELM's files do not say their run entry, but their folders do.
  Result<RunLog> ReadEvaluations(std::string_view kind,
                                 const std::vector<std::string>& names) const {
    Taking taking(path_.string());
    std::set<std::string> seen;
    for (const std::string& name : names) {
      ASSIGN_OR_RETURN(EvaluationResults results, ReadEvaluation(name));
      for (std::string& remark : results.remarks) taking.Say(std::move(remark));
      const std::string entry =
          kind == kHelmLog ? BelowPath(name).parent_path().filename().string() : std::string();
      const std::string before = entry.empty() ? "" : entry + "/";
      for (const auto& [metric, value] : results.values) {
        if (seen.insert(before + metric).second) continue;
        return InvalidInput(fmt::format("holds several logs with {} ({}); expected one a task",
                                        QuoteForError(before + metric), NamesOf(names)),
                            path_.string());
      }
      taking.Values(results.values, before);
    }
    return RunLog{kind, path_, std::move(taking).Take()};
  }

  Result<RunLog> ReadOnlyOne(const std::vector<std::string>& files) const {
    std::vector<std::pair<std::string, std::string_view>> candidates;
    std::vector<fs::path> owned;
    for (const std::string& file : files) {
      ASSIGN_OR_RETURN(const std::string head, source_.ReadHead(file));
      const std::string_view kind = KindOfHead(head);
      if (!kind.empty()) candidates.emplace_back(file, kind);
      if (const auto folder = FolderOwnedBy(file, kind)) owned.push_back(*folder);
    }
    std::vector<std::string> logs;
    std::set<std::string_view> kinds;
    for (const auto& [file, kind] : candidates) {
      const bool is_part = !FolderOwnedBy(file, kind) &&
                           std::ranges::any_of(owned, [&name = file](const fs::path& folder) {
                             return IsBelow(name, folder);
                           });
      if (is_part) continue;
      logs.push_back(file);
      kinds.insert(kind);
    }
    if (logs.empty()) {
      return NotFound(
          "holds no log that the run wrote; expected trainer_state.json, event files of "
          "TensorBoard, a table (.csv, .tsv), JSON Lines, JSON, or the records of a tracker or an "
          "evaluation harness",
          path_.string());
    }
    if (kinds.size() == 1 && IsOneOfMany(*kinds.begin())) {
      return ReadEvaluations(*kinds.begin(), logs);
    }
    if (logs.size() > 1) {
      return InvalidInput(
          fmt::format("holds several logs ({}); expected the one that is meant", NamesOf(logs)),
          path_.string());
    }
    return ReadFile(logs.front());
  }

  const SourceFolder& source_;
  const fs::path path_;
  const CountsAsWritten& counts_;
  const ReadLogAs as_;
  const std::string& step_;
};

}  // namespace

std::vector<fs::path> RunsInLog(const HeldFolder& folder, const fs::path& log) {
  std::vector<fs::path> runs;
  const auto source = SourceFolder::OpenBelow(folder, log);
  if (!source.ok() || source->file().empty()) return runs;
  const auto head = source->ReadHead(source->file(), kFirstBytes);
  if (!head.ok() || !LooksLikeSqlite(*head)) return runs;
  auto bytes = source->folder().ReadFile(source->file(), kMostLogBytes);
  if (!bytes.ok()) return runs;
  const auto ids = MlflowRunsIn(std::move(*bytes), log.string());
  if (!ids.ok()) return runs;
  for (const std::string& id : *ids) runs.push_back(log / id);
  return runs;
}

Result<RunLog> ReadRunLog(const HeldFolder& folder, const fs::path& path,
                          const CountsAsWritten& counts, ReadLogAs as, const std::string& step) {
  ASSIGN_OR_RETURN(const SourceFolder source, SourceFolder::OpenBelow(folder, path));
  const LogReader reader(source, path, counts, as, step);
  ASSIGN_OR_RETURN(RunLog log,
                   source.file().empty() ? reader.ReadFolder() : reader.ReadFile(source.file()));
  if (step.empty() || log.kind == kTableLog || log.kind == kLinesLog) return log;
  return InvalidInput(fmt::format("is read as {}, whose steps need no name; step={} is for tables "
                                  "and JSON Lines",
                                  log.kind, step),
                      path.string());
}

}  // namespace rharness
