// The report of a drill for the textfile collector of Prometheus' node exporter: few label values,
// never a run id.
#include "reports/metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include "reports/model.h"
#include "reports/names.h"
#include "reports/prometheus.h"
#include "reports/summary.h"
#include "reports/text.h"

namespace rharness {
namespace {

constexpr std::string_view kLastSuccess = "rharness_last_success_timestamp_seconds";

double Timestamp(WallTime time) {
  return std::chrono::duration<double>(time.time_since_epoch()).count();
}

struct FamilyCounts {
  int runs = 0;
  int drifted = 0;
  int compared = 0;  // identical, equivalent or drifted
};

std::map<std::string, FamilyCounts> CountFamilies(const Report& report) {
  std::map<std::string, FamilyCounts> families;
  for (const ReportRun& run : report.runs) {
    auto at = families.find(run.family);
    if (at == families.end()) {
      const bool room = families.size() < kMostFamilySeries;
      at = families.try_emplace(room ? run.family : "(other)").first;
    }
    ++at->second.runs;
    if (run.verdict == Verdict::kDrifted) ++at->second.drifted;
    if (run.verdict == Verdict::kDrifted || Reproduced(run.verdict)) ++at->second.compared;
  }
  return families;
}

void FamilySeries(const Report& report, PrometheusSeries* out) {
  const auto families = CountFamilies(report);
  if (families.empty()) return;
  const auto series = [&](std::string_view name, std::string_view help, auto value) {
    out->Head(name, help);
    for (const auto& [family, counts] : families) {
      out->Sample(name, fmt::format("family=\"{}\"", PrometheusLabel(family)), value(counts));
    }
  };
  const auto ratio = [](int part, int whole) {
    return whole == 0 ? std::nan("") : static_cast<double>(part) / whole;
  };
  series("rharness_family_runs", "Runs of the last drill by family.",
         [](const FamilyCounts& f) { return static_cast<double>(f.runs); });
  series("rharness_drift_ratio",
         "Drifted runs among the compared (identical, equivalent, drifted), by family; NaN when "
         "none was.",
         [&](const FamilyCounts& f) { return ratio(f.drifted, f.compared); });
  series("rharness_undecided_ratio",
         "Runs of the last drill that were not compared among all runs, by family.",
         [&](const FamilyCounts& f) { return ratio(f.runs - f.compared, f.runs); });
}

void RerunSeries(const Report& report, PrometheusSeries* out) {
  std::map<std::string_view, int> states;
  for (const auto& [state, name] : kRerunStateNames) states.emplace(name, 0);
  double cpu_seconds = 0.0;
  for (const ReportRun& run : report.runs) {
    for (const ReportRerun& rerun : run.reruns) {
      ++states[NameIn(kRerunStateNames, rerun.state)];
      cpu_seconds += rerun.cpu_seconds;
    }
  }
  out->Head("rharness_reruns", "Reruns of the last drill by how far they came.");
  for (const auto& [state, count] : states) {
    out->Sample("rharness_reruns", fmt::format("state=\"{}\"", state), count);
  }
  out->Gauge("rharness_reruns_cpu_seconds", "CPU time of all reruns of the last drill.",
             cpu_seconds);
}

// Position of the last-success value in a textfile; npos for none.
struct LastSuccess {
  std::size_t at = std::string_view::npos;
  std::size_t size = 0;
  std::string_view labels;  // with their braces; empty: none
  double seconds = 0.0;     // 0 if the value is no finite number
};

LastSuccess FindLastSuccess(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at, end - at);
    const std::size_t start = at;
    at = end + 1;
    if (!line.starts_with(kLastSuccess)) continue;
    const std::size_t space = line.rfind(' ');
    if (space == std::string_view::npos || space < kLastSuccess.size()) continue;
    const std::string_view value = line.substr(space + 1);
    LastSuccess found{start + space + 1, value.size(),
                      line.substr(kLastSuccess.size(), space - kLastSuccess.size()), 0.0};
    double seconds = 0.0;
    const auto parsed = std::from_chars(value.data(), value.data() + value.size(), seconds);
    if (parsed.ec == std::errc() && std::isfinite(seconds)) found.seconds = seconds;
    return found;
  }
  return {};
}

}  // namespace

std::string WriteMetrics(const Report& report) {
  PrometheusSeries out(report.history);
  out.Head("rharness_build_info", "Version of rharness that wrote this file; always 1.");
  out.Sample("rharness_build_info", fmt::format("version=\"{}\"", PrometheusLabel(report.version)),
             1);
  const bool success = report.exit_code == 0 && !report.interrupted;
  const std::optional<WallTime> last = success ? report.ended : report.last_success;
  out.Gauge("rharness_last_run_timestamp_seconds", "End of the last drill, Unix time.",
            Timestamp(report.ended));
  out.Gauge(kLastSuccess,
            "End of the last drill of this history in which every run reproduced, Unix time; 0 "
            "when none is known.",
            last ? Timestamp(*last) : 0.0);
  out.Gauge("rharness_duration_seconds", "Wall time of the last drill.",
            std::chrono::duration<double>(report.ended - report.started).count());
  out.Gauge("rharness_exit_code", "Exit code of the last drill; 0 when every run reproduced.",
            report.exit_code);
  out.Gauge("rharness_interrupted", "1 when the last drill was stopped before its end.",
            report.interrupted ? 1 : 0);
  out.Head("rharness_runs", "Runs of the last drill by verdict.");
  for (const Verdict verdict : kVerdicts) {
    const auto count = report.counts.find(std::string(VerdictName(verdict)));
    out.Sample("rharness_runs", fmt::format("verdict=\"{}\"", VerdictName(verdict)),
               count == report.counts.end() ? 0 : count->second);
  }
  out.Head("rharness_families", "Families of the last drill by their common verdict.");
  for (const Verdict verdict : kVerdicts) {
    const auto count = std::ranges::count(report.families, verdict, &FamilyComparison::verdict);
    out.Sample("rharness_families", fmt::format("verdict=\"{}\"", VerdictName(verdict)),
               static_cast<double>(count));
  }
  const auto one_way = std::ranges::count_if(
      report.siblings, [](const SiblingGroup& group) { return !group.note.empty(); });
  out.Gauge("rharness_sibling_groups",
            "Groups of runs whose curves one change moved and the last drill judged together.",
            static_cast<double>(report.siblings.size()));
  out.Gauge("rharness_sibling_groups_one_way", "Those of them that moved one way.",
            static_cast<double>(one_way));
  RerunSeries(report, &out);
  FamilySeries(report, &out);
  return out.Take();
}

std::string CarryLastSuccess(std::string metrics, std::string_view previous) {
  const LastSuccess before = FindLastSuccess(previous);
  const LastSuccess now = FindLastSuccess(metrics);
  // A file that named no history yet is taken for one of this history.
  if (!before.labels.empty() && before.labels != now.labels) return metrics;
  if (now.at == std::string_view::npos || before.seconds <= now.seconds) return metrics;
  const std::size_t at = now.at, size = now.size;
  metrics.replace(at, size, PrometheusValue(before.seconds));
  return metrics;
}

}  // namespace rharness
