// The verdict ladder, and the words for verdicts.
#include "compare/verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compare/metrics/metric_set.h"

namespace rharness {
namespace {

using RerunState = RerunComparison::State;
using ExactState = ExactComparison::State;

// The rungs look at one run and either decide (true) or pass it on.
class Ladder {
 public:
  explicit Ladder(const RunComparison& run) : run_(run) {}

  Judgement Climb() {
    for (const RerunComparison& rerun : run_.reruns) {
      judgement_.findings.insert(judgement_.findings.end(), rerun.findings.begin(),
                                 rerun.findings.end());
    }
    ApplyHolm();
    if (!Infra() && !NotComparable() && !Failed() && !NonFinite() && !HardwareClass() &&
        !DeterminismViolation() && !Identical()) {
      DecideByMetrics();
    }
    std::stable_partition(judgement_.findings.begin(), judgement_.findings.end(),
                          [](const Finding& finding) { return finding.decisive; });
    return std::move(judgement_);
  }

 private:
  bool Decide(Verdict verdict, Finding finding) {
    judgement_.verdict = verdict;
    finding.decisive = true;
    judgement_.findings.push_back(std::move(finding));
    return true;
  }
  void Note(Finding finding) { judgement_.findings.push_back(std::move(finding)); }

  // A shift in one of several primary metrics must survive Holm's step-down at the family-wise
  // level.
  void ApplyHolm();
  bool DecideByFacts(FactWeight weight, std::string_view rule, std::string_view consequence);
  bool Infra();
  bool NotComparable();
  bool Failed();
  bool NonFinite();
  bool HardwareClass();
  bool DeterminismViolation();
  bool Identical();
  void DecideByMetrics();

  const ExactComparison* FirstExact(ExactState state) const;
  void NoteMetric(const MetricDecision& metric, bool decisive);
  bool IsShift(std::size_t i) const {
    return run_.metrics[i].primary && run_.metrics[i].verdict == MetricVerdict::kDrifted &&
           survives_[i];
  }

  const RunComparison& run_;
  std::vector<bool> survives_;  // per metric: its difference is significant family-wise
  Judgement judgement_;
};

bool HasReason(const MetricDecision& metric, std::string_view token) {
  std::string_view rest = metric.reason;
  while (!rest.empty()) {
    const auto comma = rest.find(',');
    std::string_view word = rest.substr(0, comma);
    while (!word.empty() && word.front() == ' ') word.remove_prefix(1);
    if (word == token) return true;
    if (comma == std::string_view::npos) return false;
    rest.remove_prefix(comma + 1);
  }
  return false;
}

double Mean(const std::vector<double>& values) {
  double mean = 0.0;
  for (const double value : values) mean += value / static_cast<double>(values.size());
  return mean;
}

void Ladder::ApplyHolm() { survives_ = DecideMetricSet(run_.metrics).significant; }

bool Ladder::Infra() {
  const bool any_came_far =
      std::any_of(run_.reruns.begin(), run_.reruns.end(),
                  [](const RerunComparison& rerun) { return rerun.state != RerunState::kInfra; });
  for (const RerunComparison& rerun : run_.reruns) {
    if (rerun.state != RerunState::kInfra) continue;
    Finding finding{.code = "infrastructure",
                    .layer = {},
                    .subject = fmt::format("rerun {}", rerun.index),
                    .rule = "a rerun that could not be carried out says nothing about the run",
                    .message = rerun.reason};
    if (any_came_far) {
      Note(std::move(finding));
    } else {
      Decide(Verdict::kInfra, std::move(finding));
    }
  }
  if (run_.reruns.empty()) {
    return Decide(Verdict::kInfra, {.code = "no_rerun",
                                    .layer = {},
                                    .subject = "run",
                                    .rule = "at least one rerun",
                                    .message = "no rerun was carried out"});
  }
  return !any_came_far;
}

// Decides for every compared rerun's fact of this weight that differs.
bool Ladder::DecideByFacts(FactWeight weight, std::string_view rule, std::string_view consequence) {
  bool decided = false;
  for (const RerunComparison& rerun : run_.reruns) {
    if (rerun.state != RerunState::kCompared) continue;
    for (const LayerComparison& layer : rerun.layers) {
      for (const FactDifference& difference : layer.differences) {
        if (difference.weight != weight) continue;
        decided = Decide(Verdict::kNotComparable,
                         {.code = fmt::format("{}_differs", LayerName(layer.layer)),
                          .layer = layer.layer,
                          .subject = difference.key,
                          .observed = difference.observed.value_or("absent"),
                          .limit = difference.recorded.value_or("absent"),
                          .rule = std::string(rule),
                          .message = fmt::format("{}{}", difference.key, consequence)});
      }
    }
  }
  return decided;
}

bool Ladder::NotComparable() {
  bool decided = false;
  for (const RerunComparison& rerun : run_.reruns) {
    if (rerun.state != RerunState::kNotComparable) continue;
    const auto layer = rerun.layer ? LayerName(*rerun.layer) : "inputs";
    decided = Decide(Verdict::kNotComparable,
                     {.code = fmt::format("{}_not_recorded", layer),
                      .layer = rerun.layer,
                      .subject = fmt::format("rerun {}", rerun.index),
                      .rule = "data, code, image and hardware must be the recorded ones",
                      .message = rerun.reason});
  }
  return DecideByFacts(FactWeight::kIdentity, "must be the recorded one",
                       " is not the recorded one") ||
         decided;
}

bool Ladder::Failed() {
  bool decided = false;
  for (const RerunComparison& rerun : run_.reruns) {
    if (rerun.state != RerunState::kFailed) continue;
    decided = Decide(Verdict::kFailed, {.code = "run_failed",
                                        .layer = {},
                                        .subject = fmt::format("rerun {}", rerun.index),
                                        .rule = "the recorded run succeeded; its rerun must too",
                                        .message = rerun.reason});
  }
  return decided;
}

bool Ladder::NonFinite() {
  bool decided = false;
  for (const MetricDecision& metric : run_.metrics) {
    if (metric.verdict != MetricVerdict::kDrifted || !HasReason(metric, "non_finite")) continue;
    decided = Decide(Verdict::kDrifted,
                     {.code = "non_finite",
                      .layer = {},
                      .subject = "metric " + metric.name,
                      .observed = "not finite",
                      .limit = fmt::format("{:.6g}", Mean(metric.history)),
                      .rule = "a metric that was finite must stay finite",
                      .message = fmt::format("{} is not finite; it was recorded as {:.6g}",
                                             metric.name, Mean(metric.history))});
  }
  return decided;
}

const ExactComparison* Ladder::FirstExact(ExactState state) const {
  for (const RerunComparison& rerun : run_.reruns) {
    if (rerun.state != RerunState::kCompared) continue;
    for (const ExactComparison& exact : rerun.exact) {
      if (exact.state == state) return &exact;
    }
  }
  return nullptr;
}

bool Ladder::HardwareClass() {
  if (FirstExact(ExactState::kDiffers) == nullptr) return false;
  return DecideByFacts(FactWeight::kClass, "bits are promised on the recorded hardware class only",
                       " is not that of the recorded hardware class, and bits differ");
}

bool Ladder::DeterminismViolation() {
  const ExactComparison* first = FirstExact(ExactState::kDiffers);
  if (!run_.declared_bitwise || first == nullptr) return false;
  Decide(Verdict::kDrifted,
         {.code = "determinism_violation",
          .layer = {},
          .subject = first->subject,
          .observed = first->detail,
          .limit = "equal bit for bit",
          .rule = "a run declared deterministic must reproduce every bit",
          .message = fmt::format("declared bitwise, but {} differs{}", first->subject,
                                 first->first_difference.empty()
                                     ? std::string()
                                     : ", first in " + first->first_difference)});
  for (const MetricDecision& metric : run_.metrics) {
    if (metric.primary) NoteMetric(metric, false);
  }
  return true;
}

bool Ladder::Identical() {
  int equal = 0;
  for (const RerunComparison& rerun : run_.reruns) {
    if (rerun.state != RerunState::kCompared) continue;
    for (const ExactComparison& exact : rerun.exact) {
      if (exact.state == ExactState::kDiffers || exact.state == ExactState::kMissing) return false;
      if (exact.state == ExactState::kEqual) ++equal;
    }
  }
  if (equal == 0) return false;
  return Decide(Verdict::kIdentical,
                {.code = "bit_equal",
                 .layer = {},
                 .subject = "run",
                 .observed = fmt::format("{} comparisons equal", equal),
                 .limit = "equal bit for bit",
                 .rule = "every declared tensor, metric and curve is equal bit for bit",
                 .message = fmt::format("all {} comparisons are equal bit for bit", equal)});
}

void Ladder::NoteMetric(const MetricDecision& metric, bool decisive) {
  std::string message;
  switch (metric.verdict) {
    case MetricVerdict::kWithin:
      message = fmt::format("{} moved by {:.3g}, shown to be within ±{:.3g}", metric.name,
                            metric.difference, metric.margin);
      break;
    case MetricVerdict::kDrifted:
    case MetricVerdict::kNeedsConfirmation:
      message = fmt::format("{} moved by {:.3g} from a mean of {:.6g} (p = {:.2g})", metric.name,
                            metric.difference, metric.mean_history, metric.p_difference);
      break;
    case MetricVerdict::kInconclusive:
      message = fmt::format("{} moved by {:.3g}; neither a shift nor equivalence is shown",
                            metric.name, metric.difference);
      if (!metric.reason.empty()) {
        message += fmt::format(" ({})", DescribeReason(metric.reason));
      }
      break;
  }
  Note({.code = fmt::format("metric_{}", MetricVerdictName(metric.verdict)),
        .layer = {},
        .subject = "metric " + metric.name,
        .observed = metric.standard_error > 0
                        ? fmt::format("{:.4g} [{:.4g}, {:.4g}]", metric.difference, metric.ci_low,
                                      metric.ci_high)
                        : fmt::format("{:.4g}", metric.difference),
        .limit = metric.margin > 0 ? fmt::format("±{:.4g}", metric.margin) : "no margin",
        .rule = fmt::format("moderated t, difference at {:g}, equivalence at {:g}",
                            metric.alpha_drift, metric.alpha_equivalence),
        .message = std::move(message),
        .decisive = decisive});
}

void Ladder::DecideByMetrics() {
  bool drifted = false;
  bool all_within = true;
  int primaries = 0;
  for (std::size_t i = 0; i < run_.metrics.size(); ++i) {
    const MetricDecision& metric = run_.metrics[i];
    if (!metric.primary) continue;
    ++primaries;
    drifted |= IsShift(i);
    all_within &= metric.verdict == MetricVerdict::kWithin;
    judgement_.needs_confirmation |= metric.verdict == MetricVerdict::kNeedsConfirmation;
    judgement_.more_reruns = std::max(judgement_.more_reruns, metric.more_reruns);
  }
  if (drifted || all_within) judgement_.needs_confirmation = false;
  if (judgement_.needs_confirmation) judgement_.more_reruns = 1;
  judgement_.verdict = drifted                       ? Verdict::kDrifted
                       : all_within && primaries > 0 ? Verdict::kEquivalent
                                                     : Verdict::kInconclusive;
  if (judgement_.verdict != Verdict::kInconclusive) judgement_.more_reruns = 0;
  for (std::size_t i = 0; i < run_.metrics.size(); ++i) {
    const MetricDecision& metric = run_.metrics[i];
    const bool decisive =
        metric.primary &&
        (drifted ? IsShift(i) : all_within || metric.verdict != MetricVerdict::kWithin);
    NoteMetric(metric, decisive);
  }
  if (primaries == 0) {
    Decide(Verdict::kInconclusive,
           {.code = "nothing_to_judge",
            .layer = {},
            .subject = "run",
            .rule = "at least one primary metric, or equal bits",
            .message = "bits differ and the manifest names no primary metric to judge by"});
  }
}

}  // namespace

std::string_view VerdictName(Verdict verdict) {
  switch (verdict) {
    case Verdict::kIdentical:
      return "identical";
    case Verdict::kEquivalent:
      return "equivalent";
    case Verdict::kDrifted:
      return "drifted";
    case Verdict::kInconclusive:
      return "inconclusive";
    case Verdict::kNotComparable:
      return "not_comparable";
    case Verdict::kFailed:
      return "failed";
    case Verdict::kInfra:
      return "infra";
  }
  Abort("unknown Verdict");
}

Result<Verdict> ParseVerdict(std::string_view name) {
  for (const Verdict verdict : kVerdicts) {
    if (VerdictName(verdict) == name) return verdict;
  }
  return InvalidInput(fmt::format("'{}' is no verdict", name));
}

int ExitCodeOf(const std::vector<Verdict>& verdicts) {
  const auto any = [&](Verdict verdict) {
    return std::find(verdicts.begin(), verdicts.end(), verdict) != verdicts.end();
  };
  if (any(Verdict::kDrifted)) return 1;
  if (any(Verdict::kFailed) || any(Verdict::kInfra)) return 4;
  if (any(Verdict::kInconclusive) || any(Verdict::kNotComparable)) return 3;
  return verdicts.empty() ? 3 : 0;
}

Judgement Judge(const RunComparison& run) { return Ladder(run).Climb(); }

}  // namespace rharness
