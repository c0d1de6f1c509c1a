// One run of a drill in few words; see summary.h.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string_view>

#include "reports/summary.h"
#include "reports/text.h"

namespace rharness {

namespace {

// The last line; where it is indented, as a frame of a stack is, the last one before it that names
// an error. Without blanks at its ends.
std::string_view TellingLine(std::string_view tail) {
  std::string_view last;
  while (!tail.empty()) {
    const std::size_t end = tail.find_last_not_of(" \t\r\n");
    if (end == std::string_view::npos) break;
    const std::size_t start = tail.find_last_of("\r\n", end) + 1;  // npos + 1 is the beginning
    const std::string_view line = tail.substr(start, end + 1 - start);
    const std::size_t indent = line.find_first_not_of(" \t");
    if (last.empty() && indent == 0) return line;
    if (last.empty()) last = line.substr(indent);
    if (indent == 0 && (line.find("Error") != line.npos || line.find("error") != line.npos)) {
      return line;
    }
    tail = tail.substr(0, start);
  }
  return last;
}

}  // namespace

void SetFolder(Report* report, const std::filesystem::path& folder) {
  for (ReportRun& run : report->runs) run.folder = folder.string();
}

std::string ErrorOf(const ReportRun& run) {
  for (auto rerun = run.reruns.rbegin(); rerun != run.reruns.rend(); ++rerun) {
    const std::string_view line = TellingLine(rerun->stderr_tail);
    if (line.empty()) continue;
    if (rerun->stderr_path.empty()) return SafeText(line, 300);
    const auto path = (std::filesystem::path(run.folder) / rerun->stderr_path).lexically_normal();
    return fmt::format("{} ({})", SafeText(line, 300), SafeText(path.string(), 300));
  }
  for (auto rerun = run.reruns.rbegin(); rerun != run.reruns.rend(); ++rerun) {
    if (!rerun->reason.empty()) return SafeText(rerun->reason, 300);
  }
  return SafeText(run.headline, 300);
}

double RerunSeconds(const ReportRun& run) {
  double seconds = 0.0;
  for (const ReportRerun& rerun : run.reruns) seconds += rerun.wall_seconds;
  return seconds;
}

std::string RerunTime(const ReportRun& run) {
  return run.reruns.empty() ? "–" : FormatDuration(Seconds(RerunSeconds(run)));
}

std::string ComparedInShort(const ReportRun& run) {
  std::vector<std::string> parts;
  if (!run.exact.empty()) {
    const auto equal = std::count_if(run.exact.begin(), run.exact.end(), [](const auto& exact) {
      return exact.state == ExactComparison::State::kEqual;
    });
    parts.push_back(fmt::format("{}/{} bit-equal", equal, run.exact.size()));
  }
  if (!run.metrics.empty() && run.verdict != Verdict::kIdentical) {
    const auto within = std::count_if(run.metrics.begin(), run.metrics.end(), [](const auto& m) {
      return m.verdict == MetricVerdict::kWithin;
    });
    parts.push_back(fmt::format("{}/{} in margin", within, run.metrics.size()));
  }
  return parts.empty() ? "nothing" : fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace rharness
