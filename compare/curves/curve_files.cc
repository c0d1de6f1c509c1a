// Curve files: the format by content, then its reader.
#include "compare/curves/curve_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "compare/curves/curve_readers.h"
#include "compare/curves/printed_number.h"
#include "compare/curves/tensorboard.h"
#include "compare/curves/tracker_log.h"
#include "harness/base/files.h"
#include "harness/base/source_folder.h"

namespace rharness {

namespace {

// For a broken document the parser's own error is more telling than "no curves".
Status CheckJson(std::string_view text, std::string_view file) {
  const auto json = ParseJsonWithNonFinite(text, file);
  if (!json.ok()) return json.error();
  return {};
}

// A run may have logged a summary and no curve.
Result<std::vector<CurveSeries>> CurvesOf(Result<TrackerLog> log, std::string_view file,
                                          std::vector<std::string>* remarks) {
  if (!log.ok()) return log.error();
  if (log->curves.empty()) {
    return InvalidInput("no curve; expected numbers by step, found a summary alone",
                        std::string(file));
  }
  if (remarks != nullptr) std::ranges::move(log->remarks, std::back_inserter(*remarks));
  return std::move(log->curves);
}

}  // namespace

std::string_view CurveFormatName(CurveFormat format) {
  switch (format) {
    case CurveFormat::kMegatronGolden:
      return "Megatron golden values";
    case CurveFormat::kRunMetrics:
      return "run metrics";
    case CurveFormat::kTrainerState:
      return "trainer_state.json";
    case CurveFormat::kJsonArrays:
      return "JSON arrays";
    case CurveFormat::kJsonLines:
      return "JSON Lines";
    case CurveFormat::kCsv:
      return "CSV";
    case CurveFormat::kMllog:
      return "MLPerf log";
    case CurveFormat::kEventFile:
      return "event file of TensorBoard";
    case CurveFormat::kDatabase:
      return "MLflow's database";
    case CurveFormat::kWandbLog:
      return "W&B's log";
  }
  Abort("unknown CurveFormat");
}

Result<std::vector<CurveSeries>> ParseCurves(std::string_view text, std::string_view file,
                                             std::vector<std::string>* remarks,
                                             std::string_view step) {
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  if (text.find_first_not_of(" \t\r\n") == text.npos) {
    return InvalidInput("empty; expected curves as JSON, JSON Lines, CSV or an MLPerf log",
                        std::string(file));
  }
  if (text.size() > kMaxCurveFileBytes) {
    return InvalidInput(
        fmt::format("{} bytes; at most {} are read", text.size(), kMaxCurveFileBytes),
        std::string(file));
  }
  const auto format = DetectCurveFormat(text);
  if (!format) {
    if (text[text.find_first_not_of(" \t\r\n")] == '{') {
      RETURN_IF_ERROR(CheckJson(text, file));
    }
    return InvalidInput(
        "expected curves: Megatron golden values, {\"curves\": ...}, JSON arrays, JSON Lines with "
        "steps, CSV with a header line, an MLPerf log, or an event file of TensorBoard",
        std::string(file));
  }
  switch (*format) {
    case CurveFormat::kMegatronGolden:
      return ParseMegatronGolden(text, file);
    case CurveFormat::kRunMetrics:
      return ParseRunMetricCurves(text, file);
    case CurveFormat::kTrainerState:
      return ParseTrainerState(text, file);
    case CurveFormat::kJsonArrays:
      return ParseJsonArrays(text, file, remarks);
    case CurveFormat::kJsonLines:
      return ParseJsonLines(text, file, remarks, step);
    case CurveFormat::kCsv:
      return ParseCsv(text, file, remarks, step);
    case CurveFormat::kMllog:
      return ParseMllogCurves(text, file);
    case CurveFormat::kEventFile:
      return ParseEventFile(text, file, remarks);
    case CurveFormat::kDatabase:
      return CurvesOf(ReadMlflowDatabase(std::string(text), std::string(file)), file, remarks);
    case CurveFormat::kWandbLog:
      return CurvesOf(ReadWandbRunLog(text, std::string(file)), file, remarks);
  }
  Abort("unknown CurveFormat");
}

Result<std::vector<CurveSeries>> LoadCurves(const std::filesystem::path& path,
                                            std::vector<std::string>* remarks) {
  // Event files may be large, and are read in one pass.
  std::error_code error;
  bool events = std::filesystem::is_directory(path, error);
  if (!events) {
    ASSIGN_OR_RETURN(const SourceFolder source, SourceFolder::Open(path.string()));
    ASSIGN_OR_RETURN(const std::string head, source.ReadHead(source.file()));
    events = LooksLikeEventFile(head);
  } else if (!HoldsEventFiles(path) && HoldsTrackerLog(path)) {
    return CurvesOf(LoadTrackerFolder(path), path.string(), remarks);
  }
  if (events) {
    ASSIGN_OR_RETURN(EventCurves read, LoadEventCurves(path));
    if (remarks != nullptr) std::ranges::move(read.remarks, std::back_inserter(*remarks));
    return std::move(read.curves);
  }
  ASSIGN_OR_RETURN(const std::string text, ReadFile(path, kMaxCurveFileBytes));
  return ParseCurves(text, path.string(), remarks);
}

}  // namespace rharness
