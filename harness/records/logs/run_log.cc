// Logs by content, and what is taken of them.
#include "harness/records/logs/run_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "compare/curves/curve_files.h"
#include "compare/curves/printed_number.h"
#include "compare/curves/tensorboard.h"
#include "harness/base/source_folder.h"
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

std::string NamesOf(const std::vector<std::string>& names) {
  const std::vector<std::string> first(
      names.begin(),
      names.begin() + static_cast<std::ptrdiff_t>(std::min(names.size(), kMostNamed)));
  const std::size_t more = names.size() - first.size();
  return fmt::format("{}{}", fmt::join(first, ", "),
                     more > 0 ? fmt::format(" and {} more", more) : "");
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
    for (const auto& [name, value] : json.AsObject()) {
      const auto number = PrintedOf(value);
      if (!number || value.IsNull() || name == "epoch" || !IsTaken(name)) continue;
      out_.metrics.metrics[name] = number->value;
    }
    return {};
  }

  // {"results": {TASK: {"METRIC,FILTER": value}}} as "TASK/METRIC", without standard errors.
  Status Harness(std::string_view text, std::string_view file) {
    ASSIGN_OR_RETURN(const Json json, ParseJsonWithNonFinite(text, file));
    const Json* tasks = json.IsObject() ? json.Find("results") : nullptr;
    if (tasks == nullptr || !tasks->IsObject()) {
      return InvalidInput("expected an object with results by task", std::string(file));
    }
    for (const auto& [task, values] : tasks->AsObject()) {
      if (!values.IsObject()) continue;
      for (const auto& [key, value] : values.AsObject()) {
        const auto comma = key.rfind(',');
        if (comma == key.npos || key.substr(0, comma).ends_with("_stderr")) continue;
        const bool none = key.substr(comma + 1) == "none";
        const std::string name = task + "/" + (none ? key.substr(0, comma) : key);
        const auto number = PrintedOf(value);
        if (number && !value.IsNull() && IsTaken(name)) out_.metrics.metrics[name] = number->value;
      }
    }
    return {};
  }

  void Say(std::string sentence) { out_.left_out.push_back(std::move(sentence)); }

  SalvagedMetrics Take() && {
    if (!resources_.empty()) {
      Say(fmt::format("{}: times, rates and memory are not compared: {}", file_,
                      NamesOf(resources_)));
    }
    if (!unnamed_.empty()) {
      Say(fmt::format("{}: names of more than 256 bytes or with control characters: {}", file_,
                      NamesOf(unnamed_)));
    }
    if (!too_long_.empty()) {
      Say(fmt::format("{}: more than {} points, only the last value is kept: {}", file_,
                      kMostPoints, NamesOf(too_long_)));
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
            ReadLogAs as)
      : source_(source), path_(path), counts_(counts), as_(as) {}

  Result<RunLog> ReadFile(const std::string& name) const {
    const std::string shown = ShownName(name);
    ASSIGN_OR_RETURN(const std::string head, source_.ReadHead(name));
    const std::string_view kind = as_ == ReadLogAs::kOwn ? kOwnLog : KindOfHead(head);
    if (kind == kTensorBoardLog) return ReadEvents({name});
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
      RETURN_IF_ERROR(taking.Harness(text, shown));
    } else {
      std::vector<std::string> remarks;
      ASSIGN_OR_RETURN(std::vector<CurveSeries> curves, ParseCurves(text, shown, &remarks));
      for (std::string& remark : remarks) taking.Say(std::move(remark));
      taking.Curves(std::move(curves));
    }
    log.read = std::move(taking).Take();
    return log;
  }

  Result<RunLog> ReadFolder() const {
    std::map<std::int64_t, std::string> states;  // by the step of their checkpoint
    std::vector<fs::path> events;
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
          } else if (files.size() < kMostCandidates && MayBeRunLog(file)) {
            files.push_back(relative);
          }
          return true;
        }));
    if (!states.empty()) return ReadTrainer(states.rbegin()->second);
    if (!events.empty()) return ReadEvents(std::move(events));
    return ReadOnlyOne(files);
  }

 private:
  std::string ShownName(const std::string& name) const {
    return source_.file().empty() ? (path_ / name).string() : path_.string();
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

  Result<RunLog> ReadOnlyOne(const std::vector<std::string>& files) const {
    std::vector<std::string> logs;
    for (const std::string& file : files) {
      ASSIGN_OR_RETURN(const std::string head, source_.ReadHead(file));
      if (!KindOfHead(head).empty()) logs.push_back(file);
    }
    if (logs.empty()) {
      return NotFound(
          "holds no log that the run wrote; expected trainer_state.json, event files of "
          "TensorBoard, a table (.csv, .tsv), JSON Lines or JSON",
          path_.string());
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
};

}  // namespace

Result<RunLog> ReadRunLog(const HeldFolder& folder, const fs::path& path,
                          const CountsAsWritten& counts, ReadLogAs as) {
  ASSIGN_OR_RETURN(const SourceFolder source, SourceFolder::OpenBelow(folder, path));
  const LogReader reader(source, path, counts, as);
  return source.file().empty() ? reader.ReadFolder() : reader.ReadFile(source.file());
}

}  // namespace rharness
