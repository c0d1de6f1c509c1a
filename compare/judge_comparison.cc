// The one ladder: the criteria, their order, and the reasons.
#include <fmt/format.h>

#include <algorithm>

#include "compare/comparison.h"
#include "compare/comparison_predicates.h"
#include "compare/describe_checkpoint.h"
#include "compare/judge_findings.h"
#include "compare/metrics/metric_set.h"

namespace rharness {
namespace {

using EndState = RerunEnd::State;

// The rungs look at the comparison and either decide (true) or pass it on.
class Ladder {
 public:
  explicit Ladder(Comparison* comparison)
      : c_(*comparison), significant_(DecideMetricSet(comparison->metrics).significant) {}

  void Climb() {
    Note(FindAsides(c_));
    if (!c_.expect_bitwise) Note(FindContradiction(c_));
    const bool decided = Preset() || Infra() || NotComparable() || Failed() || NonFinite() ||
                         StartOrClass() || BitsDiffer() || Shift() || Identical() || Equivalent();
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
  bool DecideAll(Verdict verdict, std::vector<Finding> findings) {
    for (Finding& finding : findings) Decide(verdict, std::move(finding));
    return !findings.empty();
  }
  void Note(std::vector<Finding> findings) {
    std::ranges::move(findings, std::back_inserter(c_.findings));
  }

  bool HasOpen() const { return std::ranges::any_of(c_.findings, KeepsOpen); }
  // Two environments. Records without outputs are not: their facts show nothing of a result.
  bool HasFactsOnly() const {
    return !c_.is_rerun && !IsRecord(c_.a.kind) && c_.a.kind == c_.b.kind &&
           c_.checkpoints.empty() && c_.curves.empty() && c_.metrics.empty();
  }
  // The error rates of a test are stated for this family; curves left open then only advise.
  bool HasTestedMetric() const {
    return std::ranges::any_of(c_.metrics, [](const MetricDecision& metric) {
      return metric.primary && IsTested(metric);
    });
  }
  bool IsShift(std::size_t i) const {
    const MetricDecision& metric = c_.metrics[i];
    return metric.primary && metric.verdict == MetricVerdict::kDrifted && significant_[i] &&
           !IsEqual(metric);
  }

  // A shift that is shown of a metric without a stated margin: it is no drift, and no pass.
  bool IsShownAside(std::size_t i) const {
    const MetricDecision& metric = c_.metrics[i];
    const bool moved = metric.verdict == MetricVerdict::kDrifted ||
                       metric.verdict == MetricVerdict::kNeedsConfirmation;
    return moved && significant_[i] && IsUnjudged(metric, c_);
  }

  bool Preset();
  bool Infra();
  bool DecideByFacts(FactWeight weight, std::string_view rule, std::string_view consequence);
  // By every finding with this code.
  bool DecideByCode(std::string_view code);
  bool NotComparable();
  bool Failed();
  bool NonFinite() { return DecideAll(Verdict::kDrifted, FindNonFinite(c_)); }
  bool StartOrClass();
  bool BitsDiffer();
  bool Shift();
  // Beyond its band, without equally strong evidence to the contrary; see comparison.h.
  bool IsDrift(const CurveComparison& curve) const {
    return Decides(curve) && curve.state == CurveState::kBeyond &&
           (IsShownBeyond(curve) || !IsWithinDeclaredMargins(c_));
  }
  bool Identical();
  bool Equivalent();
  bool MetricsWithin(int* within) const;
  void Inconclusive();
  void LeaveOpen();
  void NoteMetrics(MetricVerdict but);
  void NoteBands();
  void NoteOpenCurves();
  std::string Headline() const;

  Comparison& c_;
  const std::vector<bool> significant_;  // per metric: its difference counts family-wise
};

// What the composition could not read or line up.
bool Ladder::Preset() {
  const auto found = std::ranges::find_if(c_.findings, &Finding::decisive);
  if (found == c_.findings.end()) return false;
  c_.verdict = Verdict::kNotComparable;
  return true;
}

bool Ladder::Infra() {
  if (c_.ends.empty()) {
    return c_.is_rerun &&
           Decide(Verdict::kInfra, FindingReason("no_rerun", "run", {}, {}, "at least one rerun",
                                                 "no rerun was carried out"));
  }
  const bool any_came_far = std::ranges::any_of(
      c_.ends, [](const RerunEnd& end) { return end.state != EndState::kInfra; });
  for (const RerunEnd& end : c_.ends) {
    if (end.state != EndState::kInfra) continue;
    Finding finding =
        FindingReason("infra", fmt::format("rerun {}", end.index), {}, {},
                      "a rerun that did not take place shows nothing about the run", end.reason);
    finding.decisive = !any_came_far;
    c_.findings.push_back(std::move(finding));
  }
  if (!any_came_far) c_.verdict = Verdict::kInfra;
  return !any_came_far;
}

// Decides by every fact of this weight that differs.
bool Ladder::DecideByFacts(FactWeight weight, std::string_view rule, std::string_view consequence) {
  bool decided = false;
  for (const LayerComparison& layer : c_.layers) {
    for (const FactDifference& difference : layer.differences) {
      if (difference.weight != weight) continue;
      decided =
          Decide(Verdict::kNotComparable, FactFinding(difference, std::string(rule), consequence));
    }
  }
  return decided;
}

bool Ladder::DecideByCode(std::string_view code) {
  bool decided = false;
  for (Finding& finding : c_.findings) {
    if (finding.code == code) finding.decisive = decided = true;
  }
  if (decided) c_.verdict = Verdict::kNotComparable;
  return decided;
}

bool Ladder::NotComparable() {
  bool decided = false;
  for (const RerunEnd& end : c_.ends) {
    if (end.state != EndState::kNotComparable) continue;
    decided = Decide(
        Verdict::kNotComparable,
        FindingReason(fmt::format("{}_not_recorded", end.layer ? LayerName(*end.layer) : "inputs"),
                      fmt::format("rerun {}", end.index), {}, {},
                      "data, code, image and hardware must be the recorded ones", end.reason,
                      end.layer));
  }
  decided = DecideByCode(kOtherEvalSet) || decided;
  if (c_.is_rerun) {
    return DecideByFacts(FactWeight::kIdentity, "must be the recorded one",
                         " is not the recorded one") ||
           decided;
  }
  return DecideByFacts(FactWeight::kIdentity, "data, code, image and seeds must be the same",
                       " is not the same on both sides") ||
         decided || DecideAll(Verdict::kNotComparable, FindNothingInCommon(c_));
}

bool Ladder::Failed() {
  bool decided = false;
  for (const RerunEnd& end : c_.ends) {
    if (end.state != EndState::kFailed) continue;
    decided = Decide(Verdict::kFailed,
                     FindingReason("run_failed", fmt::format("rerun {}", end.index), {}, {},
                                   "the recorded run succeeded; its rerun must too", end.reason));
  }
  return decided;
}

bool Ladder::StartOrClass() {
  if (HasFactsOnly() || !AnyBitsDiffer(c_)) return false;
  if (DecideByCode(kStartNotRecorded)) return true;
  return DecideByFacts(FactWeight::kClass, "bits are promised on the recorded hardware class only",
                       " is not that of the recorded hardware class, and bits differ");
}

bool Ladder::BitsDiffer() {
  if (!c_.expect_bitwise) return false;
  if (HasFactsOnly()) return DecideAll(Verdict::kDrifted, FindDifferingFacts(c_));
  if (!DecideAll(Verdict::kDrifted, FindDifferingBits(c_))) return false;
  // No statistics can excuse it, but they show how much it matters.
  NoteBands();
  for (const MetricDecision& metric : c_.metrics) {
    if (metric.primary && IsTested(metric)) c_.findings.push_back(MetricFinding(metric));
  }
  return true;
}

void Ladder::NoteBands() {
  for (const CurveComparison& curve : c_.curves) {
    if (Decides(curve) && curve.state == CurveState::kBeyond) {
      c_.findings.push_back(BandFinding(curve));
    }
  }
}

// Inconclusive curves beside tested metrics are reported all the same.
void Ladder::NoteOpenCurves() {
  for (const CurveComparison& curve : c_.curves) {
    if (curve.kind == CurveKind::kResource) continue;
    if (auto finding = OpenCurveFinding(curve)) c_.findings.push_back(std::move(*finding));
  }
}

void Ladder::NoteMetrics(MetricVerdict but) {
  for (const MetricDecision& metric : c_.metrics) {
    if (metric.primary && metric.verdict == but) continue;
    if (metric.primary || !IsEqual(metric)) c_.findings.push_back(MetricFinding(metric));
  }
}

bool Ladder::Shift() {
  bool decided = false;
  // Metrics first: their error rates are stated.
  for (std::size_t i = 0; i < c_.metrics.size(); ++i) {
    if (IsShift(i)) decided = Decide(Verdict::kDrifted, MetricFinding(c_.metrics[i]));
  }
  const bool once = IsSeenOnce(c_);
  for (const CurveComparison& curve : c_.curves) {
    if (!IsDrift(curve)) continue;
    // What was seen in one rerun is confirmed by another before it is claimed.
    if (!once) decided = Decide(Verdict::kDrifted, BandFinding(curve));
    c_.needs_confirmation = once || !c_.is_rerun;
  }
  if (!decided) return false;
  NoteMetrics(MetricVerdict::kDrifted);
  if (once) NoteBands();
  c_.needs_confirmation &= !once;
  if (c_.needs_confirmation) c_.findings.push_back(SinglePairFinding());
  return true;
}

bool Ladder::Identical() {
  int equal = 0;
  if (HasOpen() || !AllEqual(c_, &equal)) return false;
  if (HasFactsOnly()) {
    for (const LayerComparison& layer : c_.layers) {
      if (!layer.differences.empty()) return false;
      equal += layer.compared;
    }
  }
  if (equal == 0) equal = EqualResources(c_);
  if (equal == 0) return false;
  const auto file = std::ranges::find_if(c_.checkpoints, MayDiffer);
  if (file != c_.checkpoints.end()) {
    return Decide(Verdict::kEquivalent, EqualButFinding(*file, equal));
  }
  return Decide(Verdict::kIdentical, EqualFinding(c_, equal, HasFactsOnly()));
}

bool Ladder::MetricsWithin(int* within) const {
  for (std::size_t i = 0; i < c_.metrics.size(); ++i) {
    const MetricDecision& metric = c_.metrics[i];
    if (IsShownAside(i)) return false;
    if (!metric.primary) continue;
    const bool shown = metric.verdict == MetricVerdict::kWithin;
    if (!shown && !IsEqual(metric)) return false;
    // A single value that happens to be equal shows nothing if the weights differ.
    if (IsFinite(metric) && (shown || !WeightsDiffer(c_))) ++*within;
  }
  return true;
}

bool Ladder::Equivalent() {
  if (c_.expect_bitwise || HasOpen()) return false;
  int within = 0;
  for (const CheckpointComparison& checkpoint : c_.checkpoints) {
    if (!checkpoint.weights) continue;
    // Rounding never renames or reshapes a tensor.
    if (!HasSameStructure(checkpoint.difference)) return false;
    // Equality of some files of the weights shows nothing about a run whose other files differ.
    const bool same = IsSame(checkpoint) && !IsVacuous(checkpoint.difference);
    if (same && !WeightsDiffer(c_)) ++within;
  }
  if (!CurvesWithin(c_, HasTestedMetric(), &within) || !MetricsWithin(&within) || within == 0)
    return false;
  bool said = false;
  for (const MetricDecision& metric : c_.metrics) {
    if (!metric.primary || metric.verdict != MetricVerdict::kWithin || !IsTested(metric)) continue;
    said = Decide(Verdict::kEquivalent, MetricFinding(metric));
  }
  if (said) {
    NoteMetrics(MetricVerdict::kWithin);
    NoteOpenCurves();
    return true;
  }
  if (!FindChangedAdvisers(c_).empty()) return false;
  std::string message = AnyBitsDiffer(c_)
                            ? fmt::format("{} within what their bases leave room for", within)
                            : fmt::format("{} that decide are equal bit for bit", within);
  for (const CurveComparison& curve : c_.curves) {
    if (!Decides(curve) || curve.state != CurveState::kWithin) continue;
    message = curve.message;
    break;
  }
  NoteMetrics(MetricVerdict::kWithin);
  return Decide(
      Verdict::kEquivalent,
      FindingReason("within_band", "comparison", fmt::format("{} within", within), "band or margin",
                    "every curve and metric that decides is within its band or margin",
                    std::move(message)));
}

void Ladder::Inconclusive() {
  c_.verdict = Verdict::kInconclusive;
  LeaveOpen();
  SetWhatIsMissing(&c_);
  for (const MetricDecision& metric : c_.metrics) {
    if (metric.verdict == MetricVerdict::kWithin || (!metric.primary && IsTested(metric))) {
      c_.findings.push_back(MetricFinding(metric));
    }
  }
}

// Names the open questions, the strongest kind of reason first; always names at least one.
void Ladder::LeaveOpen() {
  bool open = false;
  const auto name = [&](Finding finding) {
    open = Decide(Verdict::kInconclusive, std::move(finding));
  };
  for (Finding& finding : c_.findings) {
    if (KeepsOpen(finding)) finding.decisive = open = true;
  }
  for (const CurveComparison& curve : c_.curves) {
    if (LeavesBand(curve)) name(UnexplainedFinding(curve, IsDrift(curve)));
  }
  if (open) return;
  for (const CurveComparison& curve : c_.curves) {
    const bool counts = Decides(curve) || (c_.expect_bitwise && curve.kind == CurveKind::kMetric);
    if (!counts || HasTestedMetric()) continue;
    if (auto finding = OpenCurveFinding(curve)) name(std::move(*finding));
  }
  for (std::size_t i = 0; i < c_.metrics.size(); ++i) {
    const MetricDecision& metric = c_.metrics[i];
    const bool is_open = metric.verdict != MetricVerdict::kWithin && !IsEqual(metric);
    if (!(metric.primary ? is_open : IsShownAside(i))) continue;
    c_.needs_confirmation |= metric.verdict == MetricVerdict::kNeedsConfirmation;
    name(MetricFinding(metric));
  }
  if (open) return;
  for (const CheckpointComparison& checkpoint : c_.checkpoints) {
    if (IsSame(checkpoint) || IsVacuous(checkpoint.difference)) continue;
    name(FindingReason("bits_differ", checkpoint.subject, {}, {},
                       "what decides must be equal, within or beyond",
                       fmt::format("{}: {}; nothing else says whether that matters",
                                   checkpoint.subject, DescribeBits(checkpoint))));
  }
  if (open) return;
  for (Finding& finding : FindChangedAdvisers(c_)) name(std::move(finding));
  if (open) return;
  for (Finding& finding : c_.findings) {
    if (!finding.code.starts_with("vacuous_")) continue;
    finding.decisive = open = true;
  }
  if (open) return;
  name(FindingReason("nothing_to_judge", c_.is_rerun ? "run" : "comparison", {}, {},
                     "a tensor, a loss curve or a primary metric must be there to decide by",
                     "nothing that decides could be compared: no tensor, no loss curve, no primary "
                     "metric"));
}

std::string Ladder::Headline() const {
  const auto decisive = std::ranges::count_if(c_.findings, &Finding::decisive);
  const auto first = std::ranges::find_if(c_.findings, &Finding::decisive);
  std::string text = first->message;
  if (decisive > 1) {
    text += fmt::format(" (and {} more {})", decisive - 1, decisive == 2 ? "reason" : "reasons");
  }
  return c_.verdict == Verdict::kEquivalent ? text + UnjudgedWords(c_) : text;
}

}  // namespace

void JudgeComparison(Comparison* comparison) { Ladder(comparison).Climb(); }

}  // namespace rharness
