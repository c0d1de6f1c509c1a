// A group against reference convergence points, as the official checker decides.
#include "compare/results/rcp.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <utility>

#include "compare/results/rcp_statistics.h"

namespace rharness {
namespace {

constexpr double kNotConvergedCount = 1e9;

std::optional<double> TrimmedMean(const std::vector<double>& values, int rejected) {
  if (values.size() < 2 * static_cast<std::size_t>(rejected) + 1) return std::nullopt;
  return OlympicMeanAsChecked(values, rejected);
}

// As Python's round(x, 3): to the nearest decimal of the exact value, ties to even.
double RoundToThousandth(double value) {
  return std::strtod(fmt::format("{:.3f}", value).c_str(), nullptr);
}

// The checker's count of a converged run; empty if the log does not count in this unit.
std::optional<double> CountIn(ConvergenceUnit unit, const MllogRun& run) {
  if (unit == ConvergenceUnit::kSteps) return run.converged_at_step;
  if (unit != run.unit) return std::nullopt;
  return unit == ConvergenceUnit::kEpochs ? RoundToThousandth(*run.converged_at)
                                          : *run.converged_at;
}

Result<std::vector<double>> SubmissionCounts(const ResultGroup& group, ConvergenceUnit unit) {
  std::vector<double> counts;
  for (const MllogRun& run : group.runs) {
    const std::optional<double> count =
        run.converged_at ? CountIn(unit, run) : std::optional(kNotConvergedCount);
    if (!count) {
      return InvalidInput(fmt::format("counts {}, the reference points count {}",
                                      ConvergenceUnitName(run.unit), ConvergenceUnitName(unit)),
                          run.file);
    }
    counts.push_back(*count);
  }
  return counts;
}

// Runs that did not converge count as the slowest, so they fill the upper places of the trimming.
std::optional<double> ScoreMinutes(const ResultGroup& group, int rejected) {
  std::vector<double> minutes;
  for (const MllogRun& run : group.runs) {
    if (run.converged_at && !run.run_seconds) return std::nullopt;
    minutes.push_back(run.converged_at ? *run.run_seconds / 60.0
                                       : std::numeric_limits<double>::max());
  }
  return TrimmedMean(minutes, rejected);
}

struct Match {
  RcpCase which = RcpCase::kMissingRecord;
  std::optional<RcpRecord> record;
};

Match FindRecord(std::int64_t batch_size, const RcpSet& set, bool use_pruned) {
  const RcpRecord* low = nullptr;
  const RcpRecord* high = nullptr;
  for (const RcpRecord& record : set.records) {
    if (use_pruned && record.pruned) continue;
    if (record.batch_size == batch_size) return {RcpCase::kFound, record};
    if (record.batch_size < batch_size) low = &record;
    if (record.batch_size > batch_size && high == nullptr) high = &record;
  }
  if (low != nullptr && high != nullptr) {
    return {RcpCase::kInterpolated, InterpolateRcp(set.rules, batch_size, *low, *high)};
  }
  if (high != nullptr) return {RcpCase::kSmallestRecord, *high};
  return {};
}

void Evaluate(const MlperfBenchmark& rules, const RcpOptions& options, RcpDecision* decision) {
  const RcpRecord& record = *decision->record;
  const double allowance = options.rules_from_5_0 ? rules.extra_allowance : 0.0;
  const double max_speedup =
      allowance > 0.0 ? record.mean / (record.min_mean - allowance) : record.max_speedup;
  decision->min_mean = record.mean / max_speedup;
  if (!decision->submission_mean) {
    decision->message = "too few runs for an olympic mean";
  } else {
    const double mean = *decision->submission_mean;
    decision->pass = mean >= decision->min_mean;
    decision->speedup = record.mean / mean;
    decision->normalisation = std::max(1.0, decision->speedup);
    decision->message = fmt::format(
        "mean {:.10g} against a reference mean of {:.10g}; at least {:.10g} is accepted", mean,
        record.mean, decision->min_mean);
  }
  if (decision->pass || decision->which != RcpCase::kSmallestRecord) return;
  decision->which = RcpCase::kMissingRecord;
  decision->message += fmt::format("; a record of batch size {} is due", decision->batch_size);
}

}  // namespace

std::string_view RcpCaseName(RcpCase which) {
  switch (which) {
    case RcpCase::kFound:
      return "found";
    case RcpCase::kInterpolated:
      return "interpolated";
    case RcpCase::kSmallestRecord:
      return "smallest_record";
    case RcpCase::kMissingRecord:
      return "missing_record";
    case RcpCase::kMixedBatchSizes:
      return "mixed_batch_sizes";
    case RcpCase::kNotConverged:
      break;
  }
  return "not_converged";
}

Result<RcpDecision> CheckRcp(const ResultGroup& group, const RcpSet& set,
                             const RcpOptions& options) {
  if (group.benchmark != set.rules.name) {
    return InvalidInput(fmt::format("the results are of {}, the reference points of {}",
                                    group.benchmark, set.rules.name),
                        group.name);
  }
  const MlperfBenchmark& rules = set.rules;
  RcpDecision decision;
  decision.batch_size = group.global_batch_size;
  decision.runs = static_cast<int>(group.runs.size());
  decision.runs_expected = rules.submission_runs;
  decision.not_converged = group.not_converged;
  decision.may_not_converge = rules.may_not_converge;
  for (const MllogRun& run : group.runs) {
    if (run.global_batch_size == group.global_batch_size && run.benchmark == group.benchmark) {
      continue;
    }
    decision.which = RcpCase::kMixedBatchSizes;
    decision.message = "the runs differ in benchmark or batch size";
    return decision;
  }
  if (group.not_converged > rules.may_not_converge) {
    decision.which = RcpCase::kNotConverged;
    decision.message = fmt::format("{} runs did not converge; {} may", group.not_converged,
                                   rules.may_not_converge);
    return decision;
  }
  ASSIGN_OR_RETURN(const std::vector<double> counts, SubmissionCounts(group, set.unit));
  decision.submission_mean = TrimmedMean(counts, rules.rejected_each_side);
  decision.score_minutes = ScoreMinutes(group, rules.rejected_each_side);
  Match match = FindRecord(group.global_batch_size, set, options.use_pruned);
  decision.which = match.which;
  decision.record = std::move(match.record);
  if (!decision.record) {
    decision.message =
        fmt::format("no record reaches batch size {}; one is due", group.global_batch_size);
    return decision;
  }
  Evaluate(rules, options, &decision);
  if (decision.pass && decision.score_minutes) {
    decision.normalised_score_minutes = *decision.score_minutes * decision.normalisation;
  }
  return decision;
}

}  // namespace rharness
