// From comparison and judgement to the report model.
#include "harness/drill/report_of.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/drill/compare_rerun.h"
#include "harness/drill/rerun.h"

namespace rharness {
namespace {

std::string_view StateName(RerunComparison::State state) {
  switch (state) {
    case RerunComparison::State::kCompared:
      return "compared";
    case RerunComparison::State::kNotComparable:
      return "not_comparable";
    case RerunComparison::State::kFailed:
      return "failed";
    case RerunComparison::State::kInfra:
      return "infra";
  }
  Abort("unknown RerunComparison::State");
}

double InSeconds(std::chrono::nanoseconds span) { return Seconds(span).count(); }

bool AnyDiffers(const std::vector<ExactComparison>& exact) {
  return std::any_of(exact.begin(), exact.end(), [](const ExactComparison& one) {
    return one.state == ExactComparison::State::kDiffers;
  });
}

ReportRerun DescribeRerun(const RerunComparison& comparison, const Evidence& evidence) {
  ReportRerun rerun{
      .index = comparison.index,
      .outcome = evidence.obstacle.empty() ? evidence.outcome.ToString() : "not carried out",
      .wall_seconds = InSeconds(evidence.outcome.wall),
      .cpu_seconds = InSeconds(evidence.outcome.cpu),
      .peak_memory_bytes = evidence.outcome.peak_memory_bytes,
      .state = std::string(StateName(comparison.state)),
      .reason = comparison.reason};
  rerun.evidence_path =
      (RerunFolder({}, evidence.run_id, evidence.rerun) / "evidence.json").string();
  return rerun;
}

}  // namespace

std::array<LayerComparison, 5> MergeLayers(const std::vector<RerunComparison>& reruns) {
  std::array<LayerComparison, 5> merged;
  for (std::size_t i = 0; i < kLayers.size(); ++i) merged[i].layer = kLayers[i];
  for (const RerunComparison& rerun : reruns) {
    for (std::size_t i = 0; i < kLayers.size(); ++i) {
      const LayerComparison& layer = rerun.layers[i];
      if (layer.compared > merged[i].compared) {
        merged[i].compared = layer.compared;
        merged[i].only_recorded = layer.only_recorded;
      }
      if (layer.state == LayerState::kDiffers && merged[i].state != LayerState::kDiffers) {
        merged[i].state = LayerState::kDiffers;
        merged[i].differences = layer.differences;
      } else if (layer.state == LayerState::kSame && merged[i].state == LayerState::kUnknown) {
        merged[i].state = LayerState::kSame;
      }
    }
  }
  return merged;
}

ReportRun BuildReportRun(const Manifest& manifest, const RunComparison& comparison,
                         const Judgement& judgement, const std::vector<Evidence>& evidence) {
  ReportRun run{.run_id = manifest.run_id,
                .family = manifest.family,
                .verdict = judgement.verdict,
                .declared = manifest.determinism.declared,
                .reasons = judgement.findings,
                .layers = MergeLayers(comparison.reruns),
                .metrics = comparison.metrics,
                .more_reruns = judgement.more_reruns,
                .recorded_seconds = manifest.duration_seconds,
                .recorded = manifest.started};
  for (MetricDecision& metric : run.metrics) {
    if (metric.unit == "1") metric.unit.clear();  // a pure number is shown without a unit
  }
  if (!judgement.findings.empty()) run.headline = judgement.findings.front().message;
  for (std::size_t i = 0; i < comparison.reruns.size(); ++i) {
    run.reruns.push_back(DescribeRerun(comparison.reruns[i], evidence[i]));
    // The report shows one rerun's exact comparisons: the first that differs, else the first.
    const auto& exact = comparison.reruns[i].exact;
    if (exact.empty() || !(run.exact.empty() || (!AnyDiffers(run.exact) && AnyDiffers(exact)))) {
      continue;
    }
    run.exact = exact;
    run.compared = DescribeCompared(comparison.reruns[i]);
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
