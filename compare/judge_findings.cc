// Findings of the ladder, in words; see judge_findings.h.
#include "compare/judge_findings.h"

#include <fmt/format.h>

#include <algorithm>

#include "compare/comparison_predicates.h"
#include "compare/describe_checkpoint.h"

namespace rharness {
namespace {

// What of B is spoken of: the reruns of a record, or one of two things.
std::string_view Now(const Comparison& comparison) {
  return comparison.is_rerun ? "the rerun" : "B";
}

std::string_view Before(const Comparison& comparison) {
  return comparison.is_rerun ? "the record" : "A";
}

std::vector<Finding> FindUnreported(const Comparison& comparison) {
  std::vector<Finding> findings;
  if (!comparison.is_rerun) return findings;
  const auto missing = [&](std::string code, std::string subject) {
    std::string message = fmt::format("a rerun did not report {}", subject);
    findings.push_back(FindingReason(std::move(code), std::move(subject), "absent", "present",
                                     "what was declared must be on both sides",
                                     std::move(message)));
  };
  for (const CurveComparison& curve : comparison.curves) {
    if (curve.state != CurveState::kMissing || curve.kind == CurveKind::kResource) continue;
    missing("missing_curve", "curve " + curve.name);
  }
  for (const MetricDecision& metric : comparison.metrics) {
    if (IsMissing(metric)) missing("missing_metric", "metric " + metric.name);
  }
  return findings;
}

// The run's own value, else the mean of its kind.
double ValueBefore(const MetricDecision& metric) {
  if (metric.recorded) return *metric.recorded;
  double mean = 0.0;
  for (const double value : metric.history) {
    mean += value / static_cast<double>(metric.history.size());
  }
  return mean;
}

Finding BitsFinding(const Comparison& comparison, std::string subject, std::string observed,
                    std::string message) {
  const bool declared = comparison.declared_bitwise;
  return FindingReason(declared ? "determinism_violation" : "bits_differ", std::move(subject),
                       std::move(observed), "equal bit for bit",
                       declared ? "a run declared deterministic must reproduce every bit"
                                : "bits were declared or required",
                       (declared ? "declared bitwise, but " : "") + std::move(message));
}

// Of a run that is held to its own record.
std::string PairedMessage(const MetricDecision& metric) {
  std::string moved =
      fmt::format("{} moved by {:.3g} from its record", metric.name, metric.difference);
  switch (metric.verdict) {
    case MetricVerdict::kWithin:
      if (IsEqual(metric)) moved = metric.name + " is equal to its record bit for bit";
      // The same for all its runs: the shift of each is shown beside it.
      if (metric.reason.find("with_family") != std::string::npos) {
        return fmt::format("{} of its family of {} runs is shown to be within ±{:.3g}", metric.name,
                           metric.pairs, metric.margin);
      }
      return fmt::format("{}, shown to be within ±{:.3g}", moved, metric.margin);
    case MetricVerdict::kDrifted:
    case MetricVerdict::kNeedsConfirmation:
      if (metric.reason.find("with_family") != std::string::npos) {
        return fmt::format("{} moved in its family of {} runs (p = {:.2g})", metric.name,
                           metric.pairs, metric.p_difference);
      }
      if (metric.variance_basis == "seeds") {
        return fmt::format("{}, {:.6g}: farther than another seed would carry it (p = {:.2g})",
                           moved, *metric.recorded, metric.p_difference);
      }
      if (metric.variance_basis == "rounding") {
        return fmt::format(
            "{}, {:.6g}: farther than rounding carries it by replicates (p = {:.2g})", moved,
            *metric.recorded, metric.p_difference);
      }
      return fmt::format("{}, {:.6g}, apart from {} other runs of its family (p = {:.2g})", moved,
                         *metric.recorded, metric.pairs, metric.p_difference);
    case MetricVerdict::kInconclusive:
      break;
  }
  return fmt::format("{}; neither a shift nor equivalence is shown{}", moved,
                     metric.reason.empty() ? "" : " (" + DescribeReason(metric.reason) + ")");
}

bool IsPaired(const MetricDecision& metric) { return metric.pairs > 0 && metric.recorded; }

std::string MetricMessage(const MetricDecision& metric) {
  const bool equal_open = metric.verdict == MetricVerdict::kInconclusive && IsEqual(metric);
  if (IsPaired(metric) && !equal_open) return PairedMessage(metric);
  switch (metric.verdict) {
    case MetricVerdict::kWithin:
      if (metric.recorded && IsEqual(metric)) {
        return fmt::format("{} is equal to its record bit for bit, and within ±{:.3g} of its kind",
                           metric.name, metric.margin);
      }
      return fmt::format("{} moved by {:.3g}, shown to be within ±{:.3g}", metric.name,
                         metric.difference, metric.margin);
    case MetricVerdict::kDrifted:
    case MetricVerdict::kNeedsConfirmation:
      return fmt::format("{} moved by {:.3g} from {}{:.6g} (p = {:.2g})", metric.name,
                         metric.difference, metric.history.size() > 1 ? "a mean of " : "",
                         metric.mean_history, metric.p_difference);
    case MetricVerdict::kInconclusive:
      break;
  }
  if (IsMissing(metric)) {
    return fmt::format("{}: {}", metric.name, DescribeReason(metric.reason));
  }
  if (IsEqual(metric)) {
    return fmt::format("{} is equal bit for bit, which says little beside weights that differ",
                       metric.name);
  }
  return fmt::format("{} moved by {:.3g}; neither a shift nor equivalence is shown{}", metric.name,
                     metric.difference,
                     metric.reason.empty() ? "" : " (" + DescribeReason(metric.reason) + ")");
}

}  // namespace

Finding FindingReason(std::string code, std::string subject, std::string observed,
                      std::string limit, std::string rule, std::string message,
                      std::optional<Layer> layer) {
  return {.code = std::move(code),
          .layer = layer,
          .subject = std::move(subject),
          .observed = std::move(observed),
          .limit = std::move(limit),
          .rule = std::move(rule),
          .message = std::move(message)};
}

std::vector<Finding> FindAsides(const Comparison& comparison) {
  std::vector<Finding> findings = FindUnreported(comparison);
  for (const CurveComparison& curve : comparison.curves) {
    if (curve.state != CurveState::kVacuous || curve.kind == CurveKind::kResource) continue;
    findings.push_back(FindingReason("vacuous_curve", "curve " + curve.name, curve.vacuity, {},
                                     "an uninformative curve never passes", curve.message));
  }
  for (const CheckpointComparison& checkpoint : comparison.checkpoints) {
    if (!checkpoint.metadata.empty()) {
      const std::size_t more = checkpoint.metadata.size() - 1;
      findings.push_back(FindingReason(
          "metadata_differs", checkpoint.subject, checkpoint.metadata.front(), {},
          "values kept beside the tensors never decide",
          fmt::format("values beside the tensors differ: {}{}", checkpoint.metadata.front(),
                      more == 0 ? "" : fmt::format(" (and {} more)", more))));
    }
    for (const std::string& damage : checkpoint.damaged) {
      findings.push_back(
          FindingReason("damaged", checkpoint.subject, "another checksum", "that of the file",
                        "bytes that differ should be those that were written", damage));
    }
    if (!checkpoint.asides.empty()) {
      const std::size_t more = checkpoint.asides.size() - 1;
      findings.push_back(FindingReason(
          "passed_over", checkpoint.subject, "not read", {},
          "a file whose name does not belong to a checkpoint never decides",
          checkpoint.asides.front() + (more == 0 ? "" : fmt::format(" (and {} more)", more))));
    }
    for (const std::string& part : checkpoint.not_compared) {
      findings.push_back(FindingReason(
          "not_compared", checkpoint.subject, "not equal", "equal bytes",
          "files that are loaded with the tensors, or not read, must be equal", part));
    }
    if (!checkpoint.non_finite.empty()) {
      findings.push_back(
          FindingReason("non_finite_weights", checkpoint.subject, "not finite", "finite",
                        "weights that are not finite show nothing, however equal they are",
                        fmt::format("{}: {}", checkpoint.subject, checkpoint.non_finite)));
    }
    if (!IsVacuous(checkpoint.difference) || !checkpoint.not_compared.empty()) continue;
    findings.push_back(FindingReason("vacuous_checkpoint", checkpoint.subject, "not one element",
                                     {}, "a checkpoint of nothing never passes",
                                     checkpoint.subject + " holds no element: it shows nothing"));
  }
  return findings;
}

Finding FactFinding(const FactDifference& difference, std::string rule,
                    std::string_view consequence) {
  return FindingReason(fmt::format("{}_differs", LayerName(difference.layer)), difference.key,
                       difference.observed.value_or("absent"),
                       difference.recorded.value_or("absent"), std::move(rule),
                       fmt::format("{}{}", difference.key, consequence), difference.layer);
}

std::vector<Finding> FindNonFinite(const Comparison& comparison) {
  std::vector<Finding> findings;
  for (const MetricDecision& metric : comparison.metrics) {
    const bool lost = metric.verdict == MetricVerdict::kDrifted &&
                      !std::ranges::all_of(metric.reruns, IsMeasured);
    if (!lost) continue;
    findings.push_back(FindingReason(
        "non_finite", "metric " + metric.name, "not finite",
        fmt::format("{:.6g}", ValueBefore(metric)), "a metric that was finite must stay finite",
        fmt::format("{} is not finite in {}; it is {:.6g} in {}", metric.name, Now(comparison),
                    ValueBefore(metric), Before(comparison))));
  }
  for (const CurveComparison& curve : comparison.curves) {
    if (!curve.first_non_finite || curve.stopped_after) continue;
    if (curve.kind == CurveKind::kResource) continue;
    findings.push_back(
        FindingReason("non_finite", "curve " + curve.name,
                      fmt::format("not finite at step {}", *curve.first_non_finite), "finite",
                      "a curve that was finite must stay finite",
                      fmt::format("{} is not finite at step {}; it was in {}", curve.name,
                                  *curve.first_non_finite, Before(comparison))));
  }
  for (const CheckpointComparison& checkpoint : comparison.checkpoints) {
    if (!checkpoint.weights || !HasNonFinite(checkpoint.difference)) continue;
    findings.push_back(FindingReason(
        "non_finite", checkpoint.subject, "not finite on a side", "the same on both sides",
        "a weight must not become infinite or not-a-number, nor another of these",
        fmt::format("{} changed to, from or among infinities and not-a-number ({})",
                    DescribeNonFinite(checkpoint.difference), checkpoint.subject)));
  }
  return findings;
}

std::vector<Finding> FindDifferingBits(const Comparison& comparison) {
  std::vector<Finding> findings;
  for (const CheckpointComparison& checkpoint : comparison.checkpoints) {
    if (IsSame(checkpoint) || IsVacuous(checkpoint.difference) || !checkpoint.matters) continue;
    const std::string what = DescribeBits(checkpoint);
    findings.push_back(BitsFinding(comparison, checkpoint.subject, what,
                                   fmt::format("{}: {}", checkpoint.subject, what)));
  }
  for (const CurveComparison& curve : comparison.curves) {
    if (curve.kind == CurveKind::kResource || curve.differing == 0) continue;
    findings.push_back(BitsFinding(
        comparison, "curve " + curve.name,
        fmt::format("{} of {} steps", curve.differing, curve.steps.size()),
        fmt::format("{} differs in bits on {} of {} steps, first at step {}, by {:.2g} relative at "
                    "most; equal bits were expected",
                    curve.name, curve.differing, curve.steps.size(),
                    curve.first_difference.value_or(0), curve.max_rel)));
  }
  for (const CurveComparison& curve : comparison.curves) {
    // A log may stop early; a curve of a run that is declared deterministic may not.
    if (!comparison.declared_bitwise || curve.kind == CurveKind::kResource || curve.differing > 0 ||
        curve.steps.empty() || !curve.MissesSteps()) {
      continue;
    }
    const std::string what = fmt::format("{} steps in {} alone, {} in {} alone", curve.only_a,
                                         Before(comparison), curve.only_b, Now(comparison));
    findings.push_back(BitsFinding(comparison, "curve " + curve.name, what,
                                   fmt::format("{} has {}", curve.name, what)));
  }
  if (comparison.tokens && comparison.tokens->differing > 0) {
    findings.push_back(BitsFinding(comparison, "log-probabilities", "other log-probabilities",
                                   BitsWords(*comparison.tokens)));
  }
  for (const MetricDecision& metric : comparison.metrics) {
    const bool counts = metric.primary || comparison.declared_bitwise;
    if (!counts || IsEqual(metric) || metric.history.empty() || metric.reruns.empty()) continue;
    if (metric.variance_basis == kSequencesBasis) continue;  // their bits: above
    if (metric.variance_basis == kItemsBasis) {
      const std::string other = metric.reason == "other_answers" ? "other answers" : "other scores";
      findings.push_back(BitsFinding(comparison, "metric " + metric.name, other,
                                     metric.name + ": items have " + other));
      continue;
    }
    const double before = metric.recorded.value_or(metric.history.front());
    const auto other =
        std::ranges::find_if(metric.reruns, [&](double value) { return !SameBits(value, before); });
    if (other == metric.reruns.end()) continue;  // a missing one has its own finding
    const double now = *other;
    findings.push_back(BitsFinding(comparison, "metric " + metric.name, fmt::format("{}", now),
                                   fmt::format("{} is {} in {} and {} in {}", metric.name, before,
                                               Before(comparison), now, Now(comparison))));
  }
  return findings;
}

Finding EqualFinding(const Comparison& comparison, int count, bool facts) {
  return FindingReason(
      "bit_equal", comparison.is_rerun ? "run" : "comparison", fmt::format("{} equal", count),
      "equal bit for bit", "every tensor, metric and curve is equal bit for bit",
      comparison.tokens ? BitsWords(*comparison.tokens)
      : facts           ? fmt::format("{} are the same",
                            count == 1 ? "the facts" : fmt::format("all {} facts", count))
                : count == 1 ? "everything compared is equal bit for bit"
                        : fmt::format("all {} that were compared are equal bit for bit", count));
}

std::vector<Finding> FindDifferingFacts(const Comparison& comparison) {
  std::size_t count = 0;
  const FactDifference* first = nullptr;
  for (const LayerComparison& layer : comparison.layers) {
    count += layer.differences.size();
    if (first == nullptr && !layer.differences.empty()) first = &layer.differences.front();
  }
  if (count == 0) return {};
  return {FindingReason("facts_differ", first->key, first->observed.value_or("absent"),
                        first->recorded.value_or("absent"),
                        "every fact known on both sides must be the same",
                        fmt::format("{} {}, first {}", count,
                                    count == 1 ? "fact differs" : "facts differ", first->key),
                        first->layer)};
}

std::string_view TestOf(const MetricDecision& metric) {
  if (metric.variance_basis == kItemsBasis) return "pairs of items";
  return metric.pairs > 0 ? "paired t" : "moderated t";
}

Finding MetricFinding(const MetricDecision& metric) {
  if (metric.variance_basis == kSequencesBasis) return KlFinding(metric);
  return FindingReason(
      fmt::format("metric_{}", MetricVerdictName(metric.verdict)), "metric " + metric.name,
      IsTested(metric)
          ? fmt::format("{:.4g} [{:.4g}, {:.4g}]", metric.difference, metric.ci_low, metric.ci_high)
          : fmt::format("{:.4g}", metric.difference),
      metric.margin > 0 ? fmt::format("±{:.4g}", metric.margin) : "no margin",
      fmt::format("{}, difference at {:g}, equivalence at {:g}", TestOf(metric), metric.alpha_drift,
                  metric.alpha_equivalence),
      MetricMessage(metric));
}

std::string UnjudgedWords(const Comparison& comparison) {
  constexpr std::size_t kMostNamed = 3;
  std::vector<std::string> named;
  std::size_t count = 0;
  for (const MetricDecision& metric : comparison.metrics) {
    if (!IsUnjudged(metric, comparison) || metric.reruns.empty()) continue;
    if (++count > kMostNamed) continue;
    const double before = ValueBefore(metric);
    const auto other =
        std::ranges::find_if(metric.reruns, [&](double now) { return !SameBits(now, before); });
    named.push_back(fmt::format("{} ({:.6g}, then {:.6g})", metric.name, before,
                                other == metric.reruns.end() ? metric.reruns.front() : *other));
  }
  if (count == 0) return "";
  return fmt::format("; metrics that differ and do not decide: {}{}", fmt::join(named, ", "),
                     count > named.size() ? fmt::format(" and {} more", count - named.size()) : "");
}

bool KeepsOpen(const Finding& finding) {
  return finding.code.starts_with("missing_") || finding.code == "not_compared" ||
         finding.code == "non_finite_weights" || finding.code == kWeightsContradictLosses;
}

void SetWhatIsMissing(Comparison* comparison) {
  Comparison& c = *comparison;
  for (const MetricDecision& metric : c.metrics) {
    if (!metric.primary || IsEqual(metric)) continue;
    c.needs_confirmation |= metric.verdict == MetricVerdict::kNeedsConfirmation;
    c.more_reruns = std::max(c.more_reruns, metric.more_reruns);
    // Sequences are no runs.
    if (!IsOfUnits(metric)) c.more_runs = std::max(c.more_runs, metric.more_runs);
  }
  if (!c.needs_confirmation) return;
  c.more_reruns = 1;
  c.more_runs = 0;
}

Finding EqualButFinding(const CheckpointComparison& file, int count) {
  return FindingReason(
      "equal_but_files", file.subject, "other bytes", {},
      "a file that may differ by its role decides nothing, and is not identical",
      fmt::format("all that decides is equal bit for bit ({}); {} has other bytes, as "
                  "it may by its role",
                  count, file.subject));
}

bool AllEqual(const Comparison& comparison, int* equal) {
  for (const CheckpointComparison& checkpoint : comparison.checkpoints) {
    if (IsVacuous(checkpoint.difference) || !checkpoint.matters) continue;
    if (!IsSame(checkpoint)) return false;
    ++*equal;
  }
  for (const CurveComparison& curve : comparison.curves) {
    if (curve.kind == CurveKind::kResource || IsQuietlyVacuous(curve)) continue;
    if (curve.state != CurveState::kIdentical || curve.MissesSteps()) return false;
    ++*equal;
  }
  for (const MetricDecision& metric : comparison.metrics) {
    if (!IsEqual(metric)) return false;
    if (IsFinite(metric)) ++*equal;  // equal bits of a NaN show nothing
  }
  return true;
}

}  // namespace rharness
