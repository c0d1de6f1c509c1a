// Which log, and what was taken of it.
#include "harness/execution/rerun/record_logs.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <utility>
#include <vector>

#include "harness/base/clean_text.h"
#include "harness/base/log.h"
#include "harness/base/source_folder.h"
#include "harness/execution/rerun/record_find.h"
#include "harness/records/logs/run_log.h"
#include "harness/records/manifest/admission.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostFiles = 200'000;

// "12 curves and 3 metrics".
std::string SizeOf(const RunMetrics& read) {
  const auto counted = [](std::size_t count, std::string_view noun) {
    return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
  };
  return fmt::format("{} and {}", counted(read.metrics.size(), "metric"),
                     counted(read.curves.size(), "curve"));
}

// The path of the log among what the run wrote, with a remark on what was taken.
Result<std::string> FindMetrics(const HeldFolder& folder, const CountsAsWritten& counts, bool find,
                                Recording* out) {
  ASSIGN_OR_RETURN(const FoundLogs found, FindRunLogs(folder, counts));
  std::vector<std::string> others;
  for (std::size_t i = 1; i < found.logs.size(); ++i) {
    others.push_back(fmt::format("{}:{}", found.logs[i].kind, found.logs[i].path.string()));
  }
  for (const fs::path& path : found.others) others.push_back(path.string());
  const std::string not_taken = fmt::format("{}", fmt::join(others, ", "));
  if (found.logs.empty()) {
    return NotFound(others.empty()
                        ? "the run wrote no log with metrics"
                        : fmt::format("the run wrote several logs ({}), and none is preferred; "
                                      "name one, or a folder below that of the run "
                                      "(--metrics PATH)",
                                      not_taken));
  }
  const std::string rest = others.empty() ? "" : "; not read: " + not_taken;
  if (find) {
    out->found.fields.push_back({"metrics_path", Grade::kHint,
                                 CleanText(fmt::format("the run wrote it; it is read as {}{}",
                                                       found.logs.front().kind, rest))});
  } else {
    out->remarks.push_back(
        fmt::format("metrics are read from {} ({}), which --metrics auto found{}",
                    found.logs.front().path.string(), found.logs.front().kind, rest));
  }
  return found.logs.front().path.string();
}

}  // namespace

std::optional<std::string> IdentityOfFile(const fs::path& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return std::nullopt;
  return fmt::format("{}:{}:{}:{}.{}:{}.{}", info.st_dev, info.st_ino, info.st_size,
                     info.st_mtim.tv_sec, info.st_mtim.tv_nsec, info.st_ctim.tv_sec,
                     info.st_ctim.tv_nsec);
}

void IdentifyLogs(const std::string& metrics_path, const fs::path& folder,
                  OutputIdentities* identities) {
  const fs::path below = metrics_path == kFindMetrics ? fs::path(".") : fs::path(metrics_path);
  const auto held = HeldFolder::Open(folder);
  // The runs of a file that holds several have no state of their own: they are there, or not.
  const auto identify = [&](const std::string& path) {
    (*identities)[path] = IdentityOfFile(folder / path);
    if (!held.ok()) return;
    for (const fs::path& run : RunsInLog(*held, path)) (*identities)[run.string()] = std::nullopt;
  };
  std::error_code error;
  if (!fs::is_directory(folder / below, error)) return identify(metrics_path);
  const auto source = SourceFolder::Open((folder / below).string());
  if (!source.ok()) return;
  std::size_t left = kMostFiles;
  // What cannot be listed now cannot be listed after the run either, which then says so.
  (void)source->ForEachFile([&](const std::string& relative, EntryKind) -> Result<bool> {
    // Folders of data have files by the ten thousand, and no name of these.
    if (metrics_path == kFindMetrics && !MayBeRunLog(relative) && !StandsForCheckpoint(relative) &&
        !relative.ends_with(".jsonl")) {
      return true;
    }
    identify((below / relative).lexically_normal().string());
    return --left > 0;
  });
}

Status MeasureMetrics(const RecordRequest& request, const fs::path& folder,
                      const OutputIdentities& before, Recording* out) {
  ASSIGN_OR_RETURN(const HeldFolder held, HeldFolder::Open(folder));
  const auto counts = [&](const fs::path& relative) {
    const std::string path = relative.lexically_normal().string();
    const auto known = before.find(path);
    return known == before.end() || IdentityOfFile(folder / path) != known->second;
  };
  out->metrics_path = request.metrics_path;
  if (request.metrics_path == kFindMetrics) {
    ASSIGN_OR_RETURN(out->metrics_path, FindMetrics(held, counts, request.find, out));
  }
  ASSIGN_OR_RETURN(RunLog log, ReadRunLog(held, out->metrics_path, counts, ReadLogAs::kItsContent,
                                          request.metrics_step));
  if (!request.metrics_kind.empty() && log.kind != request.metrics_kind) {
    return InvalidInput(fmt::format("is read as {}; expected {}", log.kind, request.metrics_kind),
                        out->metrics_path);
  }
  const auto old = before.find(fs::path(out->metrics_path).lexically_normal().string());
  if (log.kind != RunLogKinds().front().name && old != before.end() && old->second) {
    out->remarks.push_back(
        fmt::format("{} was there before the run, which wrote to it: a rerun begins without it",
                    out->metrics_path));
  }
  SalvagedMetrics& salvaged = log.read;
  out->metrics = std::move(salvaged.metrics);
  out->unread_metrics = std::move(salvaged.unread);
  out->remarks.insert(out->remarks.end(), salvaged.left_out.begin(), salvaged.left_out.end());
  LogInfo(fmt::format("{}: {}, read as {}", out->metrics_path, SizeOf(out->metrics), log.kind));
  for (const Metric& metric : request.metrics) {
    if (out->metrics.metrics.contains(metric.name)) continue;
    out->missing_outputs.push_back(fmt::format("metric '{}' {}: it is not in {}", metric.name,
                                               kNotRecorded, out->metrics_path));
  }
  return {};
}

}  // namespace rharness
