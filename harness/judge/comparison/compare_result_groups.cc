// Two groups of MLPerf results as a comparison: same, equivalent or shifted, and the official
// checker's decision.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compare/results/compare_results.h"
#include "harness/judge/comparison/compare_subjects.h"

namespace rharness {
namespace {

Verdict VerdictOf(GroupOutcome outcome) {
  switch (outcome) {
    case GroupOutcome::kSame:
      return Verdict::kIdentical;
    case GroupOutcome::kEquivalent:
      return Verdict::kEquivalent;
    case GroupOutcome::kShifted:
      return Verdict::kDrifted;
    case GroupOutcome::kUndecided:
      return Verdict::kInconclusive;
    case GroupOutcome::kNotComparable:
      return Verdict::kNotComparable;
  }
  Abort("unknown GroupOutcome");
}

// Settings as facts: hyperparameters are code, settings derived from the machine are environment.
void AddSettings(const GroupComparison& groups, Comparison* comparison) {
  std::vector<Fact> a, b;
  for (const SettingDifference& difference : groups.differences) {
    const Layer layer = difference.hyperparameter ? Layer::kCode : Layer::kEnvironment;
    const std::string key =
        (difference.hyperparameter ? "hyperparameter." : "setting.") + difference.key;
    a.push_back({layer, key, difference.reference, FactWeight::kContext});
    b.push_back({layer, key, difference.candidate, FactWeight::kContext});
  }
  comparison->layers = CompareFacts(a, b);
}

// The means over the runs, for the reader to look at: they never decide. Where positions are
// fractions, steps are millionths of them, as in curves that are read from a log.
CurveComparison AsCurve(const CommonCurve& common) {
  const bool fractions = std::ranges::any_of(
      common.positions, [](double position) { return position != std::floor(position); });
  const std::string unit = (fractions ? "millionths of " : "") + common.unit;
  CurveComparison curve{
      .name = common.name + ", mean of the runs" + (fractions ? ", by " + unit : ""),
      .kind = CurveKind::kMetric,
      .state = CurveState::kUndecided,
      .basis = "none",
      .a = common.reference_mean,
      .b = common.candidate_mean};
  for (std::size_t i = 0; i < common.positions.size(); ++i) {
    curve.steps.push_back(std::llround(common.positions[i] * (fractions ? 1e6 : 1.0)));
    const double apart = std::abs(common.candidate_mean[i] - common.reference_mean[i]);
    if (apart > 0) {
      ++curve.differing;
      if (!curve.first_difference) curve.first_difference = curve.steps.back();
    }
    if (apart > curve.max_abs) {
      curve.max_abs = apart;
      const double size = std::abs(common.reference_mean[i]);
      curve.max_rel = size > 0.0 ? apart / size : 0.0;  // of nothing there is no share
      curve.max_step = curve.steps.back();
    }
  }
  curve.message = fmt::format("{}: means over the runs at {} common evaluations, by {}",
                              common.name, common.positions.size(), unit);
  return curve;
}

Status AddRcp(const ResultGroup& group, std::string_view side, const RcpSet& set,
              Comparison* comparison) {
  const auto decision = CheckRcp(group, set);
  if (!decision.ok()) return decision.error();
  comparison->findings.push_back(
      {.code = decision->pass ? "rcp_pass" : "rcp_fail",
       .layer = {},
       .subject = fmt::format("{} {}", side, group.name),
       .observed =
           decision->submission_mean ? fmt::format("{:.6g}", *decision->submission_mean) : "",
       .limit = fmt::format("at least {:.6g}", decision->min_mean),
       .rule = "MLPerf reference convergence points, as the official checker decides",
       .message = fmt::format("{}: {}", side, decision->message)});
  return {};
}

// Uninformative groups: no run reached the target, or an evaluation is not finite. Their agreement
// is no pass.
std::string WhyVacuous(const ResultGroup& group, std::string_view side) {
  if (group.converged.empty()) {
    return fmt::format("no run of {} ({}) reached the target", side, group.name);
  }
  for (const MllogRun& run : group.runs) {
    for (const MllogCurve& curve : run.curves) {
      const auto wrong = std::ranges::find_if(
          curve.evaluations, [](const auto& one) { return !std::isfinite(one.value); });
      if (wrong == curve.evaluations.end()) continue;
      return fmt::format("{} of {} ({}) is not finite at line {} of {}", curve.name, side,
                         group.name, wrong->line, run.file);
    }
  }
  return {};
}

void RefuseVacuous(const ResultGroup& group, std::string_view side, Comparison* comparison) {
  const std::string why = WhyVacuous(group, side);
  if (why.empty() || !Reproduced(comparison->verdict)) return;
  comparison->verdict = Verdict::kInconclusive;
  comparison->headline = why;
  for (Finding& finding : comparison->findings) finding.decisive = false;
  comparison->findings.insert(comparison->findings.begin(),
                              {.code = "vacuous_results",
                               .layer = {},
                               .subject = group.name,
                               .observed = {},
                               .limit = {},
                               .rule = "results that show nothing never pass",
                               .message = why,
                               .decisive = true});
}

std::string HeadlineOf(const GroupComparison& groups) {
  const auto decisive = std::ranges::find_if(groups.findings, &Finding::decisive);
  if (decisive != groups.findings.end()) return decisive->message;
  return fmt::format("samples to target differ by a factor of {:.4f} [{:.4f}, {:.4f}]: {}",
                     groups.ratio, groups.ratio_low, groups.ratio_high,
                     GroupOutcomeName(groups.outcome));
}

}  // namespace

Status CompareResultGroups(const ResultGroup& a, const ResultGroup& b,
                           const std::vector<Subject>& replicates, const CompareOptions& options,
                           Comparison* comparison) {
  std::vector<const ResultGroup*> others;
  for (const Subject& replicate : replicates) {
    if (replicate.results) others.push_back(&*replicate.results);
  }
  ResultRules rules;
  if (!others.empty()) rules.prior = FitGroupPrior(others);
  if (rules.prior.df == 0 && options.rcp) rules.prior = FitRcpPrior(*options.rcp);
  GroupComparison groups = CompareGroups(a, b, rules);
  comparison->verdict = VerdictOf(groups.outcome);
  comparison->headline = HeadlineOf(groups);
  comparison->expect_bitwise = false;
  AddSettings(groups, comparison);
  if (!groups.convergence.name.empty()) comparison->metrics.push_back(groups.convergence);
  std::ranges::move(groups.evaluations, std::back_inserter(comparison->metrics));
  for (const CommonCurve& curve : groups.curves) comparison->curves.push_back(AsCurve(curve));
  std::ranges::move(groups.findings, std::back_inserter(comparison->findings));
  RefuseVacuous(a, "A", comparison);
  RefuseVacuous(b, "B", comparison);
  if (!options.rcp) return {};
  RETURN_IF_ERROR(AddRcp(a, "A", *options.rcp, comparison));
  return AddRcp(b, "B", *options.rcp, comparison);
}

}  // namespace rharness
