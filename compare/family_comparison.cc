// The verdict of a family and its sentences.
#include "compare/family_comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "compare/metrics/metric_set.h"

namespace rharness {
namespace {

bool Has(const MetricDecision& metric, std::string_view reason) {
  return metric.reason.find(reason) != std::string::npos;
}

std::string ShiftWords(const MetricDecision& metric) {
  if (metric.verdict == MetricVerdict::kWithin && Has(metric, "equal")) {
    return fmt::format("{} is equal bit for bit in all {} runs", metric.name, metric.pairs);
  }
  if (Has(metric, "missing") || Has(metric, "too_few_runs") || Has(metric, "non_finite")) {
    return fmt::format("{}: {}", metric.name, DescribeReason(metric.reason));
  }
  const std::string moved =
      fmt::format("{} moved by {:.3g} on average over {} runs [{:.3g}, {:.3g}]", metric.name,
                  metric.difference, metric.pairs, metric.ci_low, metric.ci_high);
  switch (metric.verdict) {
    case MetricVerdict::kWithin:
      return fmt::format("{}, shown to be within ±{:.3g}", moved, metric.margin);
    case MetricVerdict::kDrifted:
    case MetricVerdict::kNeedsConfirmation:
      return fmt::format("{} (p = {:.2g})", moved, metric.p_difference);
    case MetricVerdict::kInconclusive:
      break;
  }
  return fmt::format(
      "{}; neither a shift nor a stay within ±{:.3g} is shown{}", moved, metric.margin,
      metric.more_runs > 0 ? fmt::format(": {} more of other seeds would decide", metric.more_runs)
                           : "");
}

Finding FindingOf(const MetricDecision& metric, bool decisive) {
  return {.code = fmt::format("family_metric_{}", MetricVerdictName(metric.verdict)),
          .subject = "metric " + metric.name,
          .observed = metric.standard_error > 0.0
                          ? fmt::format("{:.4g} [{:.4g}, {:.4g}]", metric.difference, metric.ci_low,
                                        metric.ci_high)
                          : "",
          .limit = metric.margin > 0.0 ? fmt::format("±{:.4g}", metric.margin) : "no margin",
          .rule = fmt::format("paired t over {} runs, difference at {:g}, equivalence at {:g}",
                              metric.pairs, metric.alpha_drift, metric.alpha_equivalence),
          .message = ShiftWords(metric),
          .decisive = decisive};
}

// The metrics that decide, and their verdict.
Verdict Decide(const FamilyComparison& family, std::vector<bool>* decisive) {
  const std::vector<bool> significant = DecideMetricSet(family.metrics).significant;
  std::vector<bool> drifted(family.metrics.size());
  std::vector<bool> within(family.metrics.size());
  std::vector<bool> open(family.metrics.size());
  for (std::size_t i = 0; i < family.metrics.size(); ++i) {
    const MetricDecision& metric = family.metrics[i];
    if (!metric.primary) continue;
    drifted[i] = metric.verdict == MetricVerdict::kDrifted && significant[i];
    within[i] = metric.verdict == MetricVerdict::kWithin;
    open[i] = !drifted[i] && !within[i];
  }
  const auto any = [](const std::vector<bool>& which) {
    return std::ranges::find(which, true) != which.end();
  };
  if (any(drifted)) {
    *decisive = drifted;
    return Verdict::kDrifted;
  }
  *decisive = any(open) ? open : within;
  return any(within) && !any(open) ? Verdict::kEquivalent : Verdict::kInconclusive;
}

// As for metrics a quarter may be apart; more runs are no exception but the effect of the change.
bool IsMoreThanQuarter(std::size_t part, const FamilyComparison& family) {
  return 4 * part > family.runs.size();
}

Finding BeyondFinding(const FamilyComparison& family) {
  const std::size_t runs = family.beyond.size();
  return {.code = "family_curves_beyond",
          .subject = "curves",
          .observed = fmt::format("{} of {} runs", runs, family.runs.size()),
          .limit = "a quarter",
          .rule = "a family whose curves rounding does not explain is not equivalent by a metric",
          .message = fmt::format(
              "in {} of {} runs a curve is beyond what rounding explains ({}{}), whatever the "
              "metrics at the end say",
              runs, family.runs.size(),
              fmt::join(family.beyond.begin(),
                        family.beyond.begin() +
                            static_cast<std::ptrdiff_t>(std::min<std::size_t>(runs, 3)),
                        ", "),
              runs > 3 ? fmt::format(" and {} more", runs - 3) : ""),
          .decisive = true};
}

// Adds the results of its runs' curves to those of its metrics.
void AddCurves(FamilyComparison* family) {
  if (family->verdict == Verdict::kDrifted || !IsMoreThanQuarter(family->beyond.size(), *family)) {
    return;
  }
  const bool shown = IsMoreThanQuarter(family->beyond_shown, *family);
  const bool within = family->verdict == Verdict::kEquivalent;
  if (shown || within) {
    for (Finding& finding : family->findings) finding.decisive = false;
  }
  family->verdict = shown ? Verdict::kDrifted : Verdict::kInconclusive;
  family->findings.push_back(BeyondFinding(*family));
}

// By a metric or, if the metrics do not apply to the family, by a curve.
std::string ApartWords(const FamilyComparison& family) {
  std::vector<std::string> apart = family.apart;
  if (!IsMoreThanQuarter(family.beyond.size(), family)) {
    for (const std::string& run : family.beyond) {
      if (std::ranges::find(apart, run) == apart.end()) apart.push_back(run);
    }
  }
  if (apart.empty()) return "";
  if (apart.size() > 3) return fmt::format("; {} of its runs moved apart", apart.size());
  return fmt::format("; {} moved apart", fmt::join(apart, ", "));
}

// The one with this code and, if there are several (one per variable), this statement.
const Cause* Like(const Cause& cause, const Comparison& run) {
  const Cause* found = nullptr;
  for (const Cause& other : run.causes) {
    if (other.code != cause.code) continue;
    if (other.statement == cause.statement) return &other;
    // Another variable is another cause; the same pattern with other numbers is not.
    if (other.code != "variable_changed") found = &other;
  }
  return found;
}

}  // namespace

std::vector<Cause> CommonCauses(const std::vector<const Comparison*>& runs) {
  std::vector<Cause> common, weakened;
  if (runs.empty()) return common;
  for (Cause cause : runs.front()->causes) {
    const Strength strength = cause.strength;
    const bool all = std::ranges::all_of(runs, [&](const Comparison* run) {
      const Cause* like = Like(cause, *run);
      if (like == nullptr) return false;
      cause.strength = std::max(cause.strength, like->strength);
      std::erase_if(cause.evidence, [&](const std::string& one) {
        return std::ranges::find(like->evidence, one) == like->evidence.end();
      });
      return true;
    });
    if (!all) continue;
    (cause.strength == strength ? common : weakened).push_back(std::move(cause));
  }
  std::ranges::move(weakened, std::back_inserter(common));
  return common;
}

void JudgeFamily(bool all_identical, FamilyComparison* family) {
  std::vector<bool> decisive(family->metrics.size());
  family->verdict = Decide(*family, &decisive);
  family->findings.clear();
  family->more_runs = 0;
  for (std::size_t i = 0; i < family->metrics.size(); ++i) {
    family->findings.push_back(FindingOf(family->metrics[i], decisive[i]));
    if (family->verdict == Verdict::kInconclusive && decisive[i]) {
      family->more_runs = std::max(family->more_runs, family->metrics[i].more_runs);
    }
  }
  AddCurves(family);
  std::stable_partition(family->findings.begin(), family->findings.end(),
                        [](const Finding& finding) { return finding.decisive; });
  if (all_identical && family->verdict != Verdict::kDrifted) {
    family->verdict = Verdict::kIdentical;
    family->headline = fmt::format("all {} runs are equal bit for bit", family->runs.size());
    return;
  }
  const auto count = std::ranges::count_if(family->findings, &Finding::decisive);
  if (count == 0) {
    family->headline = "no primary metric says anything of its runs together";
    return;
  }
  family->headline = family->findings.front().message;
  if (count > 1) {
    family->headline +=
        fmt::format(" (and {} more {})", count - 1, count == 2 ? "reason" : "reasons");
  }
  family->headline += ApartWords(*family);
}

}  // namespace rharness
