// Verdicts, tensors, checkpoints and curves in words and signs, equal in every format.
//
// Role: pure; every writer takes the text on one subject from here. Returned text with untrusted
// names has passed SafeText and still needs its format's escaping.
#ifndef RHARNESS_REPORTS_WORDS_H_
#define RHARNESS_REPORTS_WORDS_H_

#include <array>
#include <string>
#include <string_view>

#include "compare/comparison.h"
#include "harness/verdict/stored_verdict.h"
#include "reports/text.h"

namespace rharness {

// "not comparable", "could not run", ...: the verdict in words.
std::string_view VerdictLabel(Verdict verdict);
// One sign per verdict, so that colour is never the only mark: "✓", "≈", "✗", "?", "≠", "!", "∅".
std::string_view VerdictSign(Verdict verdict);
std::string VerdictBadge(Verdict verdict);  // "✗ drifted"
// What a reader must see first has the lowest number.
int Severity(Verdict verdict);

// How one subject of a comparison came out.
struct SubjectState {
  Verdict colour = Verdict::kInconclusive;  // whose colour it takes
  std::string_view sign;                    // "✓", "≈", "✗", "≠" or "?"
  std::string_view label;                   // "identical", "within the band", ...
  bool decides = true;  // false: it explains or advises, and never has the colour of a drift
};
SubjectState StateOf(const LayerComparison& layer);
SubjectState StateOf(const CheckpointComparison& checkpoint, const Comparison& comparison);
SubjectState StateOf(const CurveComparison& curve);
SubjectState StateOf(const MetricDecision& metric, const Comparison& comparison);

// "F32 [128, 784]: 88,213 of 100,352 elements differ, the first at 5; largest distance 3.7e-06 ..."
std::string TensorWords(const TensorDifference& tensor);

// Sums and maxima over the differing tensors of a checkpoint.
struct CheckpointTotals {
  std::uint64_t differing = 0;  // elements
  std::uint64_t non_finite_changes = 0;
  std::uint64_t max_ulp = 0;
  double max_abs = 0.0;  // NaN when no differing tensor has a finite pair
  double max_rel = 0.0;
  UlpHistogram histogram{};
  bool measured = false;  // false: digests alone, or types without a measure
};
CheckpointTotals TotalsOf(const CheckpointDifference& difference);

// "148 tensors, bit-equal", "3 of 148 tensors differ, 2 only in A"
std::string CheckpointWords(const CheckpointComparison& checkpoint);
// "tensor fc1.weight[5]"; empty when no tensor differs.
std::string FirstTensor(const CheckpointDifference& difference);
// The curve's message, or its state with the first step; never empty.
std::string CurveWords(const CurveComparison& curve);
// "difference 0.061 nats, margin ±0.02, p 0.0004"
std::string MetricWords(const MetricDecision& metric);
// "environment: same as far as known (43 compared); not known: Python packages not recorded"
std::string LayerSentence(const LayerComparison& layer);
// The five layers as marks: "=data =code ≠env ?hw =rng".
std::string LayerMarks(const std::array<LayerComparison, 5>& layers);
// "36 packages changed that the run is not known to have used: htop, tzdata, wget and 33 more";
// empty without any.
std::string UnusedPackageWords(const LayerComparison& layer);
// "(absent)" for none.
std::string FactWords(const std::optional<std::string>& value, std::size_t limit_bytes = 200);
// "bit equal: what was compared ...": the code of a reason as words, and its sentence.
std::string ReasonWords(const Reason& reason);
std::vector<std::string> ReasonWords(const std::vector<Reason>& reasons);
// The meaning of a finding's `limit`: "limit", or "recorded" if a fact of a layer was compared.
std::string_view LimitWord(const Finding& finding);
// "code: message (observed ...; limit ...; rule: ...)", for people, one line.
std::string FindingWords(const Finding& finding);

}  // namespace rharness

#endif  // RHARNESS_REPORTS_WORDS_H_
