// The ladder of a comparison of two things: what decides, in which order, and why.
#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "compare/comparison.h"
#include "compare/comparison_predicates.h"
#include "compare/describe_checkpoint.h"

namespace rharness {
namespace {

Finding Reason(std::string code, std::string subject, std::string observed, std::string limit,
               std::string rule, std::string message, std::optional<Layer> layer = {}) {
  return {.code = std::move(code),
          .layer = layer,
          .subject = std::move(subject),
          .observed = std::move(observed),
          .limit = std::move(limit),
          .rule = std::move(rule),
          .message = std::move(message)};
}

class ComparisonLadder {
 public:
  explicit ComparisonLadder(Comparison* comparison) : c_(*comparison) {}

  void Climb() {
    NoteVacuous();
    const bool decided = Preset() || NotComparable() || NonFinite() || BeyondBand() || Shift() ||
                         BitsDiffer() || Identical() || Equivalent();
    if (!decided) Inconclusive();
    std::stable_partition(c_.findings.begin(), c_.findings.end(),
                          [](const Finding& finding) { return finding.decisive; });
    c_.headline = Headline();
  }

 private:
  bool Decide(Verdict verdict, Finding finding) {
    c_.verdict = verdict;
    finding.decisive = true;
    c_.findings.push_back(std::move(finding));
    return true;
  }

  // Whether this curve's bits count: where bits are promised a metric by step is as good as a loss.
  bool Counts(const CurveComparison& curve) const {
    return curve.kind == CurveKind::kLoss ||
           (c_.expect_bitwise && curve.kind == CurveKind::kMetric);
  }
  // Something that decides is on one side alone; the composition says so.
  bool HasMissing() const {
    return std::ranges::any_of(
        c_.findings, [](const Finding& finding) { return finding.code.starts_with("missing_"); });
  }
  bool HasFactsOnly() const {
    return c_.checkpoints.empty() && c_.curves.empty() && c_.metrics.empty();
  }

  void NoteVacuous();
  bool Preset();
  bool NotComparable();
  bool NonFinite();
  bool BeyondBand();
  bool Shift();
  bool BitsDiffer();
  bool FactsDiffer();
  bool Identical();
  bool Equivalent();
  void Inconclusive();
  std::string Headline() const;

  Comparison& c_;
};

void ComparisonLadder::NoteVacuous() {
  for (const CurveComparison& curve : c_.curves) {
    if (curve.state != CurveState::kVacuous || curve.kind == CurveKind::kResource) continue;
    c_.findings.push_back(Reason("vacuous_curve", "curve " + curve.name, curve.vacuity, {},
                                 "a curve that cannot tell never passes", curve.message));
  }
  for (const CheckpointComparison& checkpoint : c_.checkpoints) {
    if (!checkpoint.metadata.empty()) {
      c_.findings.push_back(
          Reason("metadata_differs", checkpoint.subject, checkpoint.metadata.front(), {},
                 "what is kept beside the tensors never decides",
                 fmt::format("values beside the tensors differ: {}{}", checkpoint.metadata.front(),
                             checkpoint.metadata.size() == 1
                                 ? ""
                                 : fmt::format(" (and {} more)", checkpoint.metadata.size() - 1))));
    }
    if (!IsVacuous(checkpoint.difference)) continue;
    c_.findings.push_back(Reason("vacuous_checkpoint", checkpoint.subject, "not one element", {},
                                 "a checkpoint of nothing never passes",
                                 checkpoint.subject + " holds no element: it shows nothing"));
  }
}

// What the composition could not read or line up.
bool ComparisonLadder::Preset() {
  const auto found = std::ranges::find_if(c_.findings, &Finding::decisive);
  if (found == c_.findings.end()) return false;
  c_.verdict = found->code == "run_failed" ? Verdict::kFailed : Verdict::kNotComparable;
  return true;
}

bool ComparisonLadder::NotComparable() {
  bool decided = false;
  int compared = 0;
  for (const LayerComparison& layer : c_.layers) {
    compared += layer.compared;
    for (const FactDifference& difference : layer.differences) {
      if (difference.weight != FactWeight::kIdentity) continue;
      decided = Decide(
          Verdict::kNotComparable,
          Reason(fmt::format("{}_differs", LayerName(layer.layer)), difference.key,
                 difference.observed.value_or("absent"), difference.recorded.value_or("absent"),
                 "data, code, image and seeds must be the same",
                 fmt::format("{} is not the same on both sides", difference.key), layer.layer));
    }
  }
  if (decided) return true;
  bool shared = compared > 0 || !c_.metrics.empty();
  for (const CurveComparison& curve : c_.curves) shared |= !curve.steps.empty();
  for (const CheckpointComparison& one : c_.checkpoints) shared |= !NothingShared(one);
  if (shared) return false;
  return Decide(
      Verdict::kNotComparable,
      Reason("nothing_in_common", "comparison", fmt::format("{} against {}", c_.a.kind, c_.b.kind),
             {}, "both sides must share a tensor, a curve, a metric or a fact",
             "the two sides have nothing in common that could be compared"));
}

bool ComparisonLadder::NonFinite() {
  bool decided = false;
  for (const CurveComparison& curve : c_.curves) {
    if (!curve.first_non_finite || curve.kind == CurveKind::kResource) continue;
    decided = Decide(Verdict::kDrifted,
                     Reason("non_finite", "curve " + curve.name,
                            fmt::format("not finite at step {}", *curve.first_non_finite), "finite",
                            "a curve that was finite must stay finite",
                            fmt::format("{} is not finite at step {}; it was in A", curve.name,
                                        *curve.first_non_finite)));
  }
  for (const CheckpointComparison& checkpoint : c_.checkpoints) {
    if (!checkpoint.weights || !HasNonFinite(checkpoint.difference)) continue;
    decided = Decide(
        Verdict::kDrifted,
        Reason("non_finite", checkpoint.subject, "finite on one side only", "finite on both sides",
               "a weight must not change between finite and not finite",
               fmt::format("{} changed between finite and not finite ({})",
                           DescribeNonFinite(checkpoint.difference), checkpoint.subject)));
  }
  return decided;
}

bool ComparisonLadder::BeyondBand() {
  bool decided = false;
  for (const CurveComparison& curve : c_.curves) {
    if (curve.state != CurveState::kBeyond || curve.kind != CurveKind::kLoss) continue;
    decided =
        Decide(Verdict::kDrifted, Reason("curve_beyond_band", "curve " + curve.name,
                                         fmt::format("{:.3g} times the band", curve.statistic), "1",
                                         curve.rule, curve.message));
  }
  return decided;
}

bool ComparisonLadder::Shift() {
  bool decided = false;
  for (const MetricDecision& metric : c_.metrics) {
    if (!metric.primary || metric.verdict != MetricVerdict::kDrifted) continue;
    if (!IsFinite(metric)) {
      decided = Decide(Verdict::kDrifted,
                       Reason("non_finite", "metric " + metric.name, "not finite", "finite",
                              "a metric that was finite must stay finite",
                              fmt::format("{} is not finite in B; it is {:.6g} in A", metric.name,
                                          metric.history.empty() ? 0.0 : metric.history.front())));
      continue;
    }
    decided =
        Decide(Verdict::kDrifted,
               Reason("metric_drifted", "metric " + metric.name,
                      fmt::format("{:.4g} [{:.4g}, {:.4g}]", metric.difference, metric.ci_low,
                                  metric.ci_high),
                      metric.margin > 0 ? fmt::format("±{:.4g}", metric.margin) : "no margin",
                      fmt::format("moderated t, difference at {:g}", metric.alpha_drift),
                      fmt::format("{} moved by {:.3g} from {:.6g} (p = {:.2g})", metric.name,
                                  metric.difference, metric.mean_history, metric.p_difference)));
  }
  return decided;
}

bool ComparisonLadder::BitsDiffer() {
  if (!c_.expect_bitwise) return false;
  if (HasFactsOnly()) return FactsDiffer();
  bool decided = false;
  const auto differs = [&](std::string subject, std::string observed, std::string message) {
    decided =
        Decide(Verdict::kDrifted,
               Reason("bits_differ", std::move(subject), std::move(observed), "equal bit for bit",
                      "bits were promised or asked for", std::move(message)));
  };
  for (const CheckpointComparison& checkpoint : c_.checkpoints) {
    if (IsSame(checkpoint) || IsVacuous(checkpoint.difference)) continue;
    const std::string what = DescribeBits(checkpoint);
    differs(checkpoint.subject, what, fmt::format("{}: {}", checkpoint.subject, what));
  }
  for (const CurveComparison& curve : c_.curves) {
    if (!Counts(curve) || curve.differing == 0) continue;
    differs(
        "curve " + curve.name, fmt::format("{} of {} steps", curve.differing, curve.steps.size()),
        fmt::format("{} differs in bits on {} of {} steps, first at step {}, by {:.2g} relative "
                    "at most; equal bits were expected",
                    curve.name, curve.differing, curve.steps.size(),
                    curve.first_difference.value_or(0), curve.max_rel));
  }
  for (const MetricDecision& metric : c_.metrics) {
    if (!metric.primary || IsEqual(metric) || metric.history.empty() || metric.reruns.empty()) {
      continue;
    }
    differs("metric " + metric.name, fmt::format("{}", metric.reruns.front()),
            fmt::format("{} is {} in A and {} in B", metric.name, metric.history.front(),
                        metric.reruns.front()));
  }
  return decided;
}

// Two environments or fingerprints: the facts are all there is.
bool ComparisonLadder::FactsDiffer() {
  std::size_t count = 0;
  const FactDifference* first = nullptr;
  for (const LayerComparison& layer : c_.layers) {
    count += layer.differences.size();
    if (first == nullptr && !layer.differences.empty()) first = &layer.differences.front();
  }
  if (count == 0) return false;
  return Decide(
      Verdict::kDrifted,
      Reason("facts_differ", first->key, first->observed.value_or("absent"),
             first->recorded.value_or("absent"), "every fact known on both sides must be the same",
             fmt::format("{} {}, first {}", count, count == 1 ? "fact differs" : "facts differ",
                         first->key),
             first->layer));
}

bool ComparisonLadder::Identical() {
  if (HasMissing()) return false;
  int equal = 0;
  for (const CheckpointComparison& checkpoint : c_.checkpoints) {
    if (IsVacuous(checkpoint.difference)) continue;
    if (!IsSame(checkpoint)) return false;
    ++equal;
  }
  for (const CurveComparison& curve : c_.curves) {
    if (!Counts(curve) || IsQuietlyVacuous(curve)) continue;
    if (curve.state != CurveState::kIdentical || curve.only_a + curve.only_b > 0) return false;
    ++equal;
  }
  for (const MetricDecision& metric : c_.metrics) {
    if (!metric.primary) continue;
    if (!IsEqual(metric)) return false;
    if (IsFinite(metric)) ++equal;  // equal bits of a NaN show nothing
  }
  if (HasFactsOnly()) {
    for (const LayerComparison& layer : c_.layers) {
      if (!layer.differences.empty()) return false;
      equal += layer.compared;
    }
  }
  if (equal == 0) return false;
  return Decide(
      Verdict::kIdentical,
      Reason("bit_equal", "comparison", fmt::format("{} equal", equal), "equal bit for bit",
             "everything that decides is equal bit for bit",
             HasFactsOnly() ? fmt::format("all {} facts are the same", equal)
             : equal == 1   ? "what decides is equal bit for bit"
                            : fmt::format("all {} that decide are equal bit for bit", equal)));
}

bool ComparisonLadder::Equivalent() {
  if (c_.expect_bitwise || HasMissing()) return false;
  for (const CheckpointComparison& checkpoint : c_.checkpoints) {
    // Rounding never renames or reshapes a tensor.
    if (checkpoint.weights && !HasSameStructure(checkpoint.difference)) return false;
  }
  int within = 0;
  for (const CurveComparison& curve : c_.curves) {
    if (!Counts(curve) || IsQuietlyVacuous(curve)) continue;
    const bool close = curve.state == CurveState::kIdentical || curve.state == CurveState::kWithin;
    if (!close || curve.only_a + curve.only_b > 0) return false;
    ++within;
  }
  for (const MetricDecision& metric : c_.metrics) {
    if (!metric.primary) continue;
    if (!IsEqual(metric) && metric.verdict != MetricVerdict::kWithin) return false;
    if (IsFinite(metric)) ++within;
  }
  if (within == 0) return false;
  std::string reason = fmt::format("{} within what a mere reordering of sums does", within);
  for (const CurveComparison& curve : c_.curves) {
    if (curve.kind == CurveKind::kLoss && curve.state == CurveState::kWithin) {
      reason = curve.message;
      break;
    }
  }
  return Decide(
      Verdict::kEquivalent,
      Reason("within_band", "comparison", fmt::format("{} within", within), "band or margin",
             "every curve and metric that decides is within its band or margin",
             std::move(reason)));
}

void ComparisonLadder::Inconclusive() {
  const std::size_t before = c_.findings.size();
  bool missing = false;
  for (Finding& finding : c_.findings) {
    if (!finding.code.starts_with("missing_")) continue;
    finding.decisive = missing = true;
    c_.verdict = Verdict::kInconclusive;
  }
  if (missing) return;
  const auto open = [&](std::string code, std::string subject, std::string message) {
    Decide(Verdict::kInconclusive,
           Reason(std::move(code), std::move(subject), {}, {},
                  "what decides must be equal, within or beyond", std::move(message)));
  };
  for (const CurveComparison& curve : c_.curves) {
    if (!Counts(curve)) continue;
    if (curve.state == CurveState::kUndecided || curve.state == CurveState::kMissing) {
      open("curve_undecided", "curve " + curve.name, curve.message);
    } else if (curve.state == CurveState::kVacuous && !IsQuietlyVacuous(curve)) {
      open("vacuous_curve", "curve " + curve.name, curve.message);
    } else if (curve.only_a + curve.only_b > 0 && curve.state != CurveState::kVacuous) {
      open("steps_missing", "curve " + curve.name,
           fmt::format("{}: {} steps only in A and {} only in B; the common ones do not differ "
                       "beyond their band",
                       curve.name, curve.only_a, curve.only_b));
    }
  }
  for (const MetricDecision& metric : c_.metrics) {
    if (!metric.primary || IsEqual(metric) || metric.verdict == MetricVerdict::kWithin) continue;
    open("metric_undecided", "metric " + metric.name,
         fmt::format("{} moved by {:.3g}; neither a shift nor equivalence is shown{}", metric.name,
                     metric.difference,
                     metric.reason.empty() ? "" : " (" + DescribeReason(metric.reason) + ")"));
  }
  if (c_.findings.size() > before) return;
  for (const CheckpointComparison& checkpoint : c_.checkpoints) {
    if (IsSame(checkpoint) || IsVacuous(checkpoint.difference)) continue;
    open("bits_differ", checkpoint.subject,
         fmt::format("{}: {}; nothing else says whether that matters", checkpoint.subject,
                     DescribeBits(checkpoint)));
  }
  if (c_.findings.size() > before) return;
  for (Finding& finding : c_.findings) {
    const bool curve = finding.code == "vacuous_curve" || finding.code == "vacuous_checkpoint";
    if (curve) finding.decisive = true, c_.verdict = Verdict::kInconclusive;
  }
  if (std::ranges::any_of(c_.findings, &Finding::decisive)) return;
  open("nothing_to_judge", "comparison",
       "nothing that decides could be compared: no tensor, no loss curve, no primary metric");
}

std::string ComparisonLadder::Headline() const {
  const auto decisive = std::ranges::count_if(c_.findings, &Finding::decisive);
  const auto first = std::ranges::find_if(c_.findings, &Finding::decisive);
  std::string text = first->message;
  if (decisive > 1) {
    text += fmt::format(" (and {} more {})", decisive - 1, decisive == 2 ? "reason" : "reasons");
  }
  return text;
}

}  // namespace

void JudgeComparison(Comparison* comparison) { ComparisonLadder(comparison).Climb(); }

void Tally(ComparisonSet* set) {
  set->counts.clear();
  for (const Verdict verdict : kVerdicts) set->counts[std::string(VerdictName(verdict))] = 0;
  std::vector<Verdict> verdicts;
  for (const Comparison& comparison : set->comparisons) {
    verdicts.push_back(comparison.verdict);
    ++set->counts[std::string(VerdictName(comparison.verdict))];
  }
  set->exit_code = ExitCodeOf(verdicts);
}

}  // namespace rharness
