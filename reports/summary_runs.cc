// One run of a drill in few words; see summary.h.
#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "reports/summary.h"
#include "reports/text.h"

namespace rharness {

std::string ErrorOf(const ReportRun& run) {
  for (auto rerun = run.reruns.rbegin(); rerun != run.reruns.rend(); ++rerun) {
    const std::string_view tail = rerun->stderr_tail;
    const std::size_t end = tail.find_last_not_of(" \t\r\n");
    if (end == std::string_view::npos) continue;
    const std::size_t start = tail.find_last_of("\r\n", end);  // npos + 1 is the beginning
    return fmt::format("{} ({})", SafeText(tail.substr(start + 1, end - start), 300),
                       SafeText(rerun->stderr_path, 300));
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
