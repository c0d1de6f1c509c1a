// Subjects of a comparison in words; see words.h.
#include "reports/words.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "compare/describe_checkpoint.h"
#include "compare/fact_order.h"
#include "compare/tokens/decide_kl.h"
#include "reports/names.h"

namespace rharness {
namespace {

// The larger one; a NaN gives way to a number.
double Larger(double a, double b) {
  if (std::isnan(a)) return b;
  return std::isnan(b) ? a : std::max(a, b);
}

SubjectState StateOfFile(const CheckpointComparison& file, const Comparison& comparison) {
  if (file.difference.bit_equal) return {Verdict::kIdentical, "✓", "same bytes", file.matters};
  if (!file.matters) return {Verdict::kInconclusive, "≠", "other bytes", false};
  const bool drifted = comparison.expect_bitwise && comparison.verdict == Verdict::kDrifted;
  if (drifted) return {Verdict::kDrifted, "✗", "other bytes", true};
  return {Verdict::kInconclusive, "?", "other bytes, not read", true};
}

}  // namespace

std::string_view VerdictLabel(Verdict verdict) {
  switch (verdict) {
    case Verdict::kNotComparable:
      return "not comparable";
    default:
      return VerdictName(verdict);
  }
}

std::string_view VerdictSign(Verdict verdict) {
  constexpr std::array<std::string_view, 7> kSigns = {"✓", "≈", "✗", "?", "≠", "!", "∅"};
  return kSigns[static_cast<std::size_t>(verdict)];
}

std::string VerdictBadge(Verdict verdict) {
  return fmt::format("{} {}", VerdictSign(verdict), VerdictLabel(verdict));
}

int Severity(Verdict verdict) {
  switch (verdict) {
    case Verdict::kDrifted:
      return 0;
    case Verdict::kFailed:
      return 1;
    case Verdict::kInfra:
      return 2;
    case Verdict::kNotComparable:
      return 3;
    case Verdict::kInconclusive:
      return 4;
    case Verdict::kEquivalent:
      return 5;
    case Verdict::kIdentical:
      return 6;
  }
  Abort("unknown Verdict");
}

SubjectState StateOf(const LayerComparison& layer) {
  if (layer.state == LayerState::kSame) return {Verdict::kIdentical, "✓", "same", true};
  if (layer.state == LayerState::kUnknown) return {Verdict::kInfra, "?", "not known", false};
  if (layer.state == LayerState::kPartlyKnown) {
    return {Verdict::kInfra, "?", "same as far as known", false};
  }
  const bool identity =
      std::any_of(layer.differences.begin(), layer.differences.end(),
                  [](const auto& d) { return d.weight == FactWeight::kIdentity; });
  if (identity) return {Verdict::kNotComparable, "≠", "differs", true};
  return {Verdict::kInconclusive, "≠", "differs", false};
}

SubjectState StateOf(const CheckpointComparison& checkpoint, const Comparison& comparison) {
  const CheckpointDifference& difference = checkpoint.difference;
  if (checkpoint.is_file) return StateOfFile(checkpoint, comparison);
  const bool decides = checkpoint.weights && comparison.expect_bitwise;
  if (difference.bit_equal) return {Verdict::kIdentical, "✓", "bit-equal", checkpoint.weights};
  if (difference.vacuous) return {Verdict::kInconclusive, "?", "vacuous", checkpoint.weights};
  if (difference.compared == 0) {
    return {Verdict::kNotComparable, "≠", "nothing in common", checkpoint.weights};
  }
  if (decides && comparison.verdict == Verdict::kDrifted) {
    return {Verdict::kDrifted, "✗", "differs", true};
  }
  if (decides && !Reproduced(comparison.verdict)) return {comparison.verdict, "≠", "differs", true};
  return {Verdict::kInconclusive, "≠", "differs", false};
}

SubjectState StateOf(const CurveComparison& curve) {
  const bool decides = curve.kind == CurveKind::kLoss;
  switch (curve.state) {
    case CurveState::kIdentical:
      return {Verdict::kIdentical, "✓", "identical", decides};
    case CurveState::kWithin:
      return {Verdict::kEquivalent, "≈", "within its band", decides};
    case CurveState::kBeyond:
      return {decides ? Verdict::kDrifted : Verdict::kInconclusive, decides ? "✗" : "≠",
              "beyond its band", decides};
    case CurveState::kUndecided:
      return {Verdict::kInconclusive, "?", "undecided", decides};
    case CurveState::kVacuous:
      return {Verdict::kInconclusive, "?", "cannot tell", decides};
    case CurveState::kMissing:
      return {Verdict::kNotComparable, "≠", "on one side only", decides};
  }
  Abort("unknown CurveState");
}

SubjectState StateOf(const MetricDecision& metric, const Comparison& comparison) {
  if (comparison.verdict == Verdict::kIdentical) {
    return {Verdict::kIdentical, "✓", "equal", metric.primary};
  }
  switch (metric.verdict) {
    case MetricVerdict::kWithin:
      return {Verdict::kEquivalent, "≈", "within its margin", metric.primary};
    case MetricVerdict::kDrifted:
      return {metric.primary ? Verdict::kDrifted : Verdict::kInconclusive,
              metric.primary ? "✗" : "≠", "drifted", metric.primary};
    case MetricVerdict::kNeedsConfirmation:
      return {Verdict::kInconclusive, "?", "to be confirmed", metric.primary};
    case MetricVerdict::kInconclusive:
      return {Verdict::kInconclusive, "?", "inconclusive", metric.primary};
  }
  Abort("unknown MetricVerdict");
}

std::string TensorWords(const TensorDifference& tensor) {
  std::string shape =
      fmt::format("{} [{}]", DTypeName(tensor.dtype), fmt::join(tensor.shape, ", "));
  // Where only digests were at hand, nothing is known of the elements.
  if (tensor.elements == 0) return shape;
  return fmt::format(
      "{}: {} of {} elements differ, the first at {}; largest distance {} ({} ULP){}", shape,
      FormatCount(tensor.differing), FormatCount(tensor.elements), tensor.first_index,
      FormatNumber(tensor.max_abs), FormatCount(tensor.max_ulp),
      tensor.non_finite_changes == 0 ? ""
                                     : fmt::format("; {} became or ceased to be finite",
                                                   FormatCount(tensor.non_finite_changes)));
}

CheckpointTotals TotalsOf(const CheckpointDifference& difference) {
  CheckpointTotals totals;
  totals.max_abs = totals.max_rel = std::numeric_limits<double>::quiet_NaN();
  for (const TensorDifference& tensor : difference.differing) {
    totals.differing += tensor.differing;
    totals.non_finite_changes += tensor.non_finite_changes;
    totals.max_ulp = std::max(totals.max_ulp, tensor.max_ulp);
    totals.max_abs = Larger(totals.max_abs, tensor.max_abs);
    totals.max_rel = Larger(totals.max_rel, tensor.max_rel);
    for (std::size_t i = 0; i < totals.histogram.size(); ++i) {
      totals.histogram[i] += tensor.ulp_histogram[i];
    }
    totals.measured = totals.measured || tensor.elements > 0;
  }
  return totals;
}

std::string CheckpointWords(const CheckpointComparison& checkpoint) {
  const CheckpointDifference& difference = checkpoint.difference;
  if (checkpoint.is_file) return DescribeFile(checkpoint);
  if (!checkpoint.not_compared.empty() && difference.vacuous)
    return "not read, and the bytes differ";
  if (difference.vacuous) return "not one element on one side or both: nothing was compared";
  const std::string source = checkpoint.from_digests ? " (from digests alone)" : "";
  if (difference.bit_equal && checkpoint.subject.starts_with("file ")) {
    return "not read, and the same bytes";
  }
  if (difference.bit_equal) return Counted(difference.compared, "tensor") + ", bit-equal" + source;
  std::vector<std::string> parts;
  if (!difference.differing.empty()) {
    const std::size_t count = difference.differing.size();
    parts.push_back(fmt::format("{} of {} {}", FormatCount(count),
                                Counted(difference.compared, "tensor"),
                                count == 1 ? "differs" : "differ"));
  } else {
    parts.push_back(fmt::format("{} in common", Counted(difference.compared, "tensor")));
  }
  const auto add = [&](const std::vector<std::string>& names, std::string_view what) {
    if (!names.empty()) parts.push_back(fmt::format("{} {}", FormatCount(names.size()), what));
  };
  add(difference.only_a, "only in A");
  add(difference.only_b, "only in B");
  add(difference.shape_or_dtype, "of another shape or type");
  return fmt::format("{}{}", fmt::join(parts, ", "), source);
}

std::string FirstTensor(const CheckpointDifference& difference) {
  if (difference.differing.empty()) return "";
  const TensorDifference& tensor = difference.differing.front();
  const std::string name = "tensor " + SafeText(tensor.name, 200);
  return tensor.elements == 0 ? name : fmt::format("{}[{}]", name, tensor.first_index);
}

std::string CurveWords(const CurveComparison& curve) {
  if (!curve.message.empty()) return SafeText(curve.message, 600);
  std::string words(StateOf(curve).label);
  if (curve.first_difference) {
    words += fmt::format(", first difference at step {}", *curve.first_difference);
  }
  return words;
}

std::string MetricWords(const MetricDecision& metric) {
  if (metric.variance_basis == kSequencesBasis) return SafeText(KlMessage(metric), 400);
  const std::string unit = metric.unit.empty() ? "" : " " + SafeText(metric.unit, 40);
  std::string words = fmt::format("difference {}{}", FormatNumber(metric.difference, 4), unit);
  if (metric.margin > 0) words += fmt::format(", margin ±{}", FormatNumber(metric.margin, 4));
  if (metric.standard_error > 0) {
    return words + fmt::format(", p {}", FormatNumber(metric.p_difference, 4));
  }
  return metric.reason.empty() ? words
                               : words + ", " + SafeText(DescribeReason(metric.reason), 300);
}

std::string LayerSentence(const LayerComparison& layer) {
  std::string words = fmt::format("{}: {}", LayerName(layer.layer), StateOf(layer).label);
  if (layer.state != LayerState::kUnknown) {
    words += fmt::format(" ({} compared", layer.compared);
    if (layer.only_recorded > 0) words += fmt::format(", {} not observed", layer.only_recorded);
    words += ")";
  }
  if (layer.not_known.empty()) return words;
  return words + "; not known: " + fmt::format("{}", fmt::join(layer.not_known, ", "));
}

std::string LayerMarks(const std::array<LayerComparison, 5>& layers) {
  static constexpr std::array<std::string_view, 5> kShort = {"data", "code", "env", "hw", "rng"};
  std::string marks;
  for (const LayerComparison& layer : layers) {
    const std::string_view sign = layer.state == LayerState::kSame      ? "="
                                  : layer.state == LayerState::kDiffers ? "≠"
                                                                        : "?";
    marks += fmt::format("{}{}{}", marks.empty() ? "" : " ", sign,
                         kShort[static_cast<std::size_t>(layer.layer)]);
  }
  return marks;
}

std::string UnusedPackageWords(const LayerComparison& layer) {
  constexpr std::size_t kMostNames = 3;
  std::vector<std::string> names;
  std::size_t all = 0;
  for (const FactDifference& difference : layer.differences) {
    if (!IsUnusedPackage(difference)) continue;
    if (++all <= kMostNames) names.push_back(SafeText(FactName(difference.key), 80));
  }
  if (all == 0) return "";
  return fmt::format(
      "{} changed that the run is not known to have used: {}{}", Counted(all, "package"),
      fmt::join(names, ", "),
      all == names.size() ? "" : fmt::format(" and {} more", FormatCount(all - names.size())));
}

std::string FactWords(const std::optional<std::string>& value, std::size_t limit_bytes) {
  return value ? SafeText(*value, limit_bytes) : "(absent)";
}

std::string ReasonWords(const Reason& reason) {
  return ReasonText({SpacedName(reason.code), reason.message});
}

std::vector<std::string> ReasonWords(const std::vector<Reason>& reasons) {
  std::vector<std::string> words;
  for (const Reason& reason : reasons) words.push_back(ReasonWords(reason));
  return words;
}

std::string_view LimitWord(const Finding& finding) { return finding.layer ? "recorded" : "limit"; }

std::string FindingWords(const Finding& finding) {
  std::string line = fmt::format("{}: {}", SafeText(finding.code), SafeText(finding.message));
  std::vector<std::string> numbers;
  if (!finding.observed.empty()) numbers.push_back("observed " + SafeText(finding.observed));
  if (!finding.limit.empty()) {
    numbers.push_back(fmt::format("{} {}", LimitWord(finding), SafeText(finding.limit)));
  }
  if (!finding.rule.empty()) numbers.push_back("rule: " + SafeText(finding.rule));
  return numbers.empty() ? line : fmt::format("{} ({})", line, fmt::join(numbers, "; "));
}

}  // namespace rharness
