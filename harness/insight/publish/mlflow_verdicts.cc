// Verdicts as tags and a metric. Source: mlflow/utils/validation.py of MLflow 2 and 3 (lengths).
#include "harness/insight/publish/mlflow_verdicts.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "harness/records/intake/clean.h"
#include "reports/words.h"

namespace rharness {
namespace {

constexpr std::size_t kMostTagBytes = 4'900;
constexpr std::size_t kMostReasons = 10;

std::string ReasonsOf(const ReportRun& run) {
  std::string text;
  std::size_t told = 0;
  std::size_t decisive = 0;
  for (const Finding& finding : run.findings) {
    if (!finding.decisive) continue;
    if (++decisive > kMostReasons) continue;
    ++told;
    text += (text.empty() ? "" : "; ") + CleanText(finding.message, 1000);
  }
  if (told == 0) text = run.headline;
  if (decisive > told) text += fmt::format("; and {} more", decisive - told);
  return CleanText(text, kMostTagBytes);
}

}  // namespace

std::string MlflowIdOf(const Manifest& manifest) {
  if (!manifest.origin || manifest.origin->kind != "mlflow") return "";
  const std::string& id = manifest.origin->id;
  const bool plain = std::ranges::all_of(id, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_';
  });
  return plain && id.size() <= 256 ? id : "";
}

std::vector<MlflowVerdict> MlflowVerdictsOf(const Report& report, std::string_view report_sha256,
                                            const std::map<std::string, std::string>& ids) {
  std::vector<MlflowVerdict> verdicts;
  for (const ReportRun& run : report.runs) {
    const auto id = ids.find(run.run_id);
    if (id == ids.end() || id->second.empty()) continue;
    MlflowVerdict& one = verdicts.emplace_back();
    one.run_id = run.run_id;
    one.mlflow_id = id->second;
    one.verdict = run.verdict;
    one.decided = report.ended;
    one.timestamp_ms = report.ended.time_since_epoch().count();
    if (Reproduced(run.verdict)) one.reproduced = 1.0;
    if (run.verdict == Verdict::kDrifted) one.reproduced = 0.0;
    one.tags = {{kVerdictTag, std::string(VerdictName(run.verdict))},
                {"rharness.reasons", ReasonsOf(run)},
                {"rharness.report_sha256", std::string(report_sha256)},
                {kDrillTag, CleanText(report.drill_id, 256)},
                {kDecidedTag, FormatTime(report.ended)}};
  }
  return verdicts;
}

}  // namespace rharness
