// Signatures: taking them from a comparison, and holding one to another.
#include "harness/experiments/isolate/signature.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cmath>

#include "harness/base/files.h"
#include "reports/text.h"

namespace rharness {
namespace {

constexpr double kMatters = 0.01;   // of the record, if a metric has no margin
constexpr double kFarEnough = 0.5;  // of what the target moved

// Durations and addresses differ from run to run.
std::string WithoutNumbers(const std::string& text) {
  std::string out;
  for (const char c : text) {
    const bool digit = std::isdigit(static_cast<unsigned char>(c)) != 0;
    if (digit && !out.empty() && out.back() == '#') continue;
    out += digit ? '#' : c;
  }
  return out;
}

// "/x/runs/mlp/1/workspace/model.pt" as "model.pt": the workspace differs between reruns.
std::string WithoutPlaces(std::string text) {
  constexpr std::string_view kPlace = "/workspace/";
  for (std::size_t at = 0; (at = text.find(kPlace, at)) != text.npos;) {
    const std::size_t space = text.rfind(" /", at);
    const std::size_t begin = space == text.npos ? 0 : space + 1;
    if (text[begin] != '/') {
      at += kPlace.size();
      continue;
    }
    text.erase(begin, at + kPlace.size() - begin);
    at = begin;
  }
  return text;
}

// An exit code distinguishes failures; the time of a stop does not.
std::string FailureOf(const std::string& reason) {
  if (reason.find("exited with") != std::string::npos) return reason;
  return WithoutNumbers(WithoutPlaces(reason));
}

void AddTensors(const CheckpointComparison& checkpoint, std::set<std::string>* changed) {
  const auto add = [&](const std::string& name) {
    changed->insert(fmt::format("{}: {}", checkpoint.subject, name));
  };
  const CheckpointDifference& difference = checkpoint.difference;
  for (const TensorDifference& tensor : difference.differing) add(tensor.name);
  for (const auto* names : {&difference.only_a, &difference.only_b, &difference.shape_or_dtype}) {
    for (const std::string& name : *names) add(name);
  }
  const bool unnamed = difference.differing.empty() && difference.only_a.empty() &&
                       difference.only_b.empty() && difference.shape_or_dtype.empty();
  if (!difference.bit_equal && unnamed && !difference.vacuous) add("(some tensor)");
}

void AddMetric(const MetricDecision& metric, bool bits, Signature* signature) {
  if (metric.reruns.empty()) return;
  const auto finite = [](double value) { return std::isfinite(value); };
  if (!std::ranges::all_of(metric.reruns, finite)) {
    if (std::ranges::all_of(metric.history, finite)) {
      signature->changed.insert(fmt::format("metric {}: not finite", metric.name));
    }
    return;
  }
  const double recorded = metric.recorded.value_or(metric.mean_history);
  double difference = -recorded;
  for (const double value : metric.reruns) {
    difference += value / static_cast<double>(metric.reruns.size());
  }
  signature->differences[metric.name] = difference;
  if (bits && difference != 0.0) signature->changed.insert(fmt::format("metric {}", metric.name));
  const bool judged = metric.verdict == MetricVerdict::kDrifted ||
                      metric.verdict == MetricVerdict::kNeedsConfirmation;
  const double matters = metric.margin > 0.0 ? metric.margin : kMatters * std::abs(recorded);
  if (difference != 0.0 && (judged || std::abs(difference) > matters)) {
    signature->moved[metric.name] = difference;
  }
}

void AddCurve(const CurveComparison& curve, bool bits, Signature* signature) {
  if (curve.first_non_finite) {
    signature->changed.insert(fmt::format("curve {}: not finite", curve.name));
  }
  const bool differs = curve.differing > 0 || curve.only_a > 0 || curve.only_b > 0;
  if (bits && differs) signature->changed.insert(fmt::format("curve {}", curve.name));
  if (curve.state != CurveState::kBeyond) return;
  signature->curves[curve.name] = curve.shift > 0.0 ? 1 : curve.shift < 0.0 ? -1 : 0;
}

std::string WhyNotJudged(const Comparison& judged) {
  for (const RerunEnd& end : judged.ends) {
    const bool compared =
        end.state == RerunEnd::State::kCompared || end.state == RerunEnd::State::kFailed;
    if (!compared) return end.reason;
  }
  return {};
}

}  // namespace

Signature SignatureOf(const Comparison& judged, bool bits) {
  Signature signature;
  signature.not_judged = WhyNotJudged(judged);
  if (!signature.not_judged.empty()) return signature;
  for (const RerunEnd& end : judged.ends) {
    if (end.state != RerunEnd::State::kFailed) continue;
    signature.failure = FailureOf(end.reason);
    signature.failure_text = WithoutPlaces(end.reason);
  }
  if (!signature.failure.empty()) return signature;
  for (const CheckpointComparison& checkpoint : judged.checkpoints) {
    if (bits && checkpoint.weights) AddTensors(checkpoint, &signature.changed);
  }
  // Where weights differ, which of the numbers taken from them come out the same is chance.
  const bool numbers = bits && signature.changed.empty();
  for (const MetricDecision& metric : judged.metrics) AddMetric(metric, numbers, &signature);
  for (const CurveComparison& curve : judged.curves) {
    if (curve.kind != CurveKind::kResource) AddCurve(curve, numbers, &signature);
  }
  const bool nothing =
      judged.checkpoints.empty() && judged.metrics.empty() && judged.curves.empty();
  if (nothing) signature.not_judged = "the record has nothing to compare a rerun with";
  return signature;
}

TrialAnswer Relate(const Signature& target, const Signature& seen) {
  if (!seen.not_judged.empty()) return TrialAnswer::kSkipped;
  if (!seen.failure.empty()) {
    return seen.failure == target.failure ? TrialAnswer::kReproduces : TrialAnswer::kOther;
  }
  const TrialAnswer absent = seen.Empty() ? TrialAnswer::kDoesNot : TrialAnswer::kPartly;
  if (!target.failure.empty()) return absent;
  if (!std::ranges::includes(target.changed, seen.changed)) return TrialAnswer::kOther;
  bool whole = seen.changed == target.changed;
  for (const auto& [metric, amount] : seen.moved) {
    const auto wanted = target.moved.find(metric);
    if (wanted != target.moved.end() && std::signbit(wanted->second) == std::signbit(amount)) {
      continue;
    }
    // For a metric of the target a small step in the other direction is no difference of its own.
    const bool small =
        wanted != target.moved.end() && std::abs(amount) < kFarEnough * std::abs(wanted->second);
    if (!small) return TrialAnswer::kOther;
  }
  for (const auto& [metric, amount] : target.moved) {
    const auto found = seen.differences.find(metric);
    if (found == seen.differences.end()) return TrialAnswer::kSkipped;
    whole = whole && found->second / amount >= kFarEnough;
  }
  for (const auto& [curve, direction] : seen.curves) {
    const auto wanted = target.curves.find(curve);
    if (wanted == target.curves.end() || wanted->second * direction < 0) return TrialAnswer::kOther;
  }
  // An empty target has no difference that could be seen again.
  whole = whole && !target.Empty() && seen.curves.size() == target.curves.size();
  return whole ? TrialAnswer::kReproduces : absent;
}

std::vector<std::string> DescribeSignature(const Signature& signature) {
  if (!signature.not_judged.empty()) return {signature.not_judged};
  std::vector<std::string> lines;
  const bool told = !signature.failure_text.empty();
  if (!signature.failure.empty()) {
    lines.push_back(told ? signature.failure_text : signature.failure);
  }
  std::map<std::string, std::vector<std::string>> tensors;  // by checkpoint
  for (const std::string& one : signature.changed) {
    const auto colon = one.find(": ");
    const bool tensor =
        colon != one.npos && !one.starts_with("metric ") && !one.starts_with("curve ");
    if (tensor) tensors[one.substr(0, colon)].push_back(one.substr(colon + 2));
  }
  for (const auto& [checkpoint, names] : tensors) {
    lines.push_back(fmt::format("{} of {} differ{}, first {}", Counted(names.size(), "tensor"),
                                checkpoint, names.size() == 1 ? "s" : "", names.front()));
  }
  for (const auto& [metric, amount] : signature.moved) {
    lines.push_back(fmt::format("metric {} {} by {}", metric, amount > 0 ? "up" : "down",
                                FormatNumber(std::abs(amount), 4)));
  }
  for (const auto& [curve, direction] : signature.curves) {
    const std::string_view way = direction > 0 ? "up" : direction < 0 ? "down" : "away";
    lines.push_back(fmt::format("curve {} {}, beyond its band", curve, way));
  }
  for (const std::string& one : signature.changed) {
    if (one.ends_with(": not finite")) lines.push_back(one);
    const bool bare = one.find(": ") == one.npos;
    const std::string name = one.substr(one.find(' ') + 1);
    if (bare && !signature.moved.contains(name) && !signature.curves.contains(name)) {
      lines.push_back(one + " differs in its bits");
    }
  }
  return lines;
}

std::string DescribeInLine(const Signature& signature) {
  const std::vector<std::string> lines = DescribeSignature(signature);
  return lines.empty() ? "no difference" : fmt::format("{}", fmt::join(lines, "; "));
}

}  // namespace rharness
