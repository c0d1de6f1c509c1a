// From comparison and judgement to the report model.
#include "harness/drill/report_of.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/execution/rerun/rerun.h"
#include "reports/names.h"

namespace rharness {
namespace {

double InSeconds(std::chrono::nanoseconds span) { return Seconds(span).count(); }

ReportRerun DescribeRerun(const RerunEnd& end, const Evidence& evidence) {
  ReportRerun rerun{
      .index = end.index,
      .outcome = evidence.obstacle.empty() ? evidence.outcome.ToString() : "not carried out",
      .wall_seconds = InSeconds(evidence.outcome.wall),
      .cpu_seconds = InSeconds(evidence.outcome.cpu),
      .peak_memory_bytes = evidence.outcome.peak_memory_bytes,
      .state = end.state,
      .reason = end.reason,
      .stdout_path = evidence.stdout_path,
      .stderr_path = evidence.stderr_path};
  rerun.node = evidence.machine.node;
  rerun.evidence_path =
      (RerunFolder({}, evidence.run_id, evidence.rerun) / "evidence.json").string();
  return rerun;
}

}  // namespace

ReportRun BuildReportRun(const Manifest& manifest, const Comparison& comparison,
                         const std::vector<Evidence>& evidence) {
  ReportRun run{comparison};
  run.run_id = manifest.run_id;
  run.family = manifest.family;
  run.declared = manifest.determinism.declared;
  run.exact = ExactOf(comparison);
  run.recorded_seconds = manifest.duration_seconds;
  run.recorded = manifest.started;
  for (MetricDecision& metric : run.metrics) {
    if (metric.unit == "1") metric.unit.clear();  // a pure number is shown without a unit
  }
  if (run.verdict == Verdict::kIdentical) {
    run.checkpoints.clear();
    run.curves.clear();
  }
  for (std::size_t i = 0; i < run.ends.size(); ++i) {
    run.reruns.push_back(DescribeRerun(run.ends[i], evidence[i]));
  }
  return run;
}

std::string DescribeHost(const Environment& environment) {
  const Hardware& hardware = environment.hardware;
  std::string gpus = "no GPU";
  if (!hardware.gpus.empty()) {
    gpus = fmt::format("{} x {}, driver {}", hardware.gpus.size(), hardware.gpus.front().model,
                       hardware.gpu_driver);
  }
  const auto os = environment.software.find("os");
  return fmt::format("{}, {} logical cores, {}, {}",
                     hardware.cpu.model.empty() ? "unknown CPU" : hardware.cpu.model,
                     hardware.cpu.logical_cores, gpus,
                     os == environment.software.end() ? "unknown OS" : os->second);
}

}  // namespace rharness
