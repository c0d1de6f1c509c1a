// Fuzzes the MLPerf log reader: no crash, no undefined behaviour, and what it accepts keeps the
// promises of its header; an accepted run also makes a group that compares with itself.
//
// Run: rharness-mllog-fuzz -max_total_time=90 -dict=mllog.dict CORPUS mllog_seeds
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "compare/results/compare_results.h"
#include "compare/results/mllog.h"

namespace rharness {
namespace {

void Require(bool holds) {
  if (!holds) std::abort();
}

void CheckAccepted(const MllogRun& run) {
  Require(!run.benchmark.empty() && run.global_batch_size > 0);
  Require(run.converged_at.has_value() == (run.status == MllogStatus::kSuccess));
  if (run.converged_at) Require(*run.converged_at > 0.0 && std::isfinite(*run.converged_at));
  if (run.run_seconds) Require(*run.run_seconds >= 0.0);
  bool converged_is_evaluated = !run.converged_at;
  for (const MllogCurve& curve : run.curves) {
    Require(!curve.name.empty() && !curve.evaluations.empty());
    double before = -1.0;
    for (const MllogEvaluation& one : curve.evaluations) {
      Require(one.position > before && one.line > 0);
      before = one.position;
      converged_is_evaluated |= run.converged_at == one.position;
    }
  }
  Require(converged_is_evaluated);
}

void CheckGroup(const MllogRun& run) {
  const auto group = BuildResultGroup("fuzz", {run});
  Require(group.ok() && group->coherent);
  const GroupComparison comparison = CompareGroups(*group, *group, {});
  Require(comparison.differences.empty());
  Require(comparison.outcome == GroupOutcome::kSame || run.seeds.empty() || run.curves.empty());
}

}  // namespace
}  // namespace rharness

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto run = rharness::ParseMllog(text, "fuzz");
  if (run.ok()) {
    rharness::CheckAccepted(*run);
    rharness::CheckGroup(*run);
  } else {
    const rharness::Error& error = run.error();
    rharness::Require(error.where.starts_with("fuzz") && !error.message.empty());
  }
  return 0;
}
