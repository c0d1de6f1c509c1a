// The JSON members of a finding, a layer, a tensor and a metric, for every record that has one.
//
// Role: private to reports/; each list serves both writing and reading.
#ifndef RHARNESS_REPORTS_JSON_NOUNS_H_
#define RHARNESS_REPORTS_JSON_NOUNS_H_

#include <array>

#include "compare/facts.h"
#include "compare/metrics/decision.h"
#include "compare/weights/tensor_diff.h"
#include "harness/verdict/verdict.h"
#include "reports/json_members.h"
#include "reports/names.h"

namespace rharness {

// "layers", all five of them; layers missing from a record stay unknown.
void LayerMembers(MemberWriter& io, const std::array<LayerComparison, 5>& layers);
void LayerMembers(MemberReader& io, std::array<LayerComparison, 5>& layers);

// "ulp_histogram", without the zeros behind its last count.
void HistogramMembers(MemberWriter& io, const UlpHistogram& histogram);
void HistogramMembers(MemberReader& io, UlpHistogram& histogram);

template <class Io, Is<Finding> T>
void Members(Io& io, T& finding) {
  io.Must("code", finding.code);
  io.MayText("layer", finding.layer, LayerName, ParseLayer);
  io.May("subject", finding.subject);
  io.May("observed", finding.observed);
  io.May("limit", finding.limit);
  io.May("rule", finding.rule);
  io.Must("message", finding.message);
  io.May("decisive", finding.decisive);
}

template <class Io, Is<FactDifference> T>
void Members(Io& io, T& difference) {
  io.Must("key", difference.key);
  io.Name("weight", difference.weight, kFactWeightNames);
  io.May("recorded", difference.recorded);
  io.May("observed", difference.observed);
  io.NameUnless("use", difference.use, kFactUseNames, FactUse::kNotKnown);
}

template <class Io, Is<LayerComparison> T>
void Members(Io& io, T& layer) {
  io.Text("layer", layer.layer, LayerName, ParseLayer);
  io.Name("state", layer.state, kLayerStateNames);
  io.May("compared", layer.compared);
  io.May("only_recorded", layer.only_recorded);
  io.List("differences", layer.differences);
  io.PlainUnlessEmpty("not_known", layer.not_known);
}

template <class Io, Is<TensorDifference> T>
void Members(Io& io, T& tensor) {
  io.Must("name", tensor.name);
  io.Text("dtype", tensor.dtype, DTypeName, ParseDType);
  io.Plain("shape", tensor.shape);
  io.Must("elements", tensor.elements);
  io.Must("differing", tensor.differing);
  io.Must("first_index", tensor.first_index);
  io.Must("max_abs", tensor.max_abs);
  io.May("max_rel", tensor.max_rel);
  io.Must("max_ulp", tensor.max_ulp);
  HistogramMembers(io, tensor.ulp_histogram);
  io.Must("non_finite_changes", tensor.non_finite_changes);
  io.May("nan_changes", tensor.nan_changes);
  io.May("zero_sign_changes", tensor.zero_sign_changes);
  io.May("norm_a", tensor.norm_a);
  io.May("norm_b", tensor.norm_b);
  io.May("norm_difference", tensor.norm_difference);
  io.May("cosine", tensor.cosine);
}

template <class Io, Is<MetricDecision> T>
void Members(Io& io, T& metric) {
  io.Must("name", metric.name);
  io.May("unit", metric.unit);
  io.Must("primary", metric.primary);
  io.Name("verdict", metric.verdict, kMetricVerdictNames);
  io.May("reason", metric.reason);
  io.Plain("history", metric.history);
  io.Plain("reruns", metric.reruns);
  io.May("recorded", metric.recorded);
  io.Must("mean_history", metric.mean_history);
  io.Must("difference", metric.difference);
  io.Must("standard_deviation", metric.standard_deviation);
  io.Must("standard_error", metric.standard_error);
  io.Must("df", metric.df);
  io.Must("t", metric.t);
  io.Must("p_difference", metric.p_difference);
  io.Must("ci_low", metric.ci_low);
  io.Must("ci_high", metric.ci_high);
  io.Must("margin", metric.margin);
  io.May("default_margin", metric.default_margin);
  io.Must("alpha_drift", metric.alpha_drift);
  io.Must("alpha_equivalence", metric.alpha_equivalence);
  io.May("variance_basis", metric.variance_basis);
  io.Must("power", metric.power);
  io.Must("minimum_detectable", metric.minimum_detectable);
  io.May("more_reruns", metric.more_reruns);
  io.May("pairs", metric.pairs);
  io.May("seed_deviation", metric.seed_deviation);
  io.May("more_runs", metric.more_runs);
}

}  // namespace rharness

#endif  // RHARNESS_REPORTS_JSON_NOUNS_H_
