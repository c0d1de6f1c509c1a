// The JSON members of a finding, a layer, a tensor and a metric, for every record that has one.
//
// Role: private to reports/; each list writes, reads and describes.
#ifndef RHARNESS_REPORTS_JSON_NOUNS_H_
#define RHARNESS_REPORTS_JSON_NOUNS_H_

#include <array>
#include <map>
#include <string>

#include "compare/facts.h"
#include "compare/metrics/decision.h"
#include "compare/weights/tensor_diff.h"
#include "harness/base/json_member_reader.h"
#include "harness/base/json_members.h"
#include "harness/verdict/verdict.h"
#include "reports/names.h"

namespace rharness {

class MemberSchema;

// "layers", all five of them; layers missing from a record stay unknown.
void LayerMembers(MemberWriter& io, const std::array<LayerComparison, 5>& layers);
void LayerMembers(MemberReader& io, std::array<LayerComparison, 5>& layers);
void LayerMembers(MemberSchema& io, const std::array<LayerComparison, 5>& layers);

// "ulp_histogram", without the zeros behind its last count.
void HistogramMembers(MemberWriter& io, const UlpHistogram& histogram);
void HistogramMembers(MemberReader& io, UlpHistogram& histogram);
void HistogramMembers(MemberSchema& io, const UlpHistogram& histogram);

// "counts", a member for each of the seven verdicts.
using VerdictCounts = std::map<std::string, int>;
void CountMembers(MemberWriter& io, const VerdictCounts& counts, const About& about);
void CountMembers(MemberReader& io, VerdictCounts& counts, const About& about);
void CountMembers(MemberSchema& io, const VerdictCounts& counts, const About& about);

template <class Io, Is<Finding> T>
void Members(Io& io, T& finding) {
  io.Must("code", finding.code, "Stable, for machines.");
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
  io.May("recorded", difference.recorded, About("Recorded, or before; null: absent.").Always());
  io.May("observed", difference.observed, About("Observed, or after; null: absent.").Always());
  io.NameUnless("use", difference.use, kFactUseNames, FactUse::kNotKnown,
                "Whether a process of the run was seen to use what differs.");
}

template <class Io, Is<LayerComparison> T>
void Members(Io& io, T& layer) {
  io.Noun("One layer of the facts: recorded and observed, or before and after.");
  io.Text("layer", layer.layer, LayerName, ParseLayer);
  io.Name("state", layer.state, kLayerStateNames,
          "unknown: nothing was compared; partly_known: none that is known differs, and some are "
          "not known.");
  io.May("compared", layer.compared, Count().Always());
  io.May("only_recorded", layer.only_recorded, Count().Always());
  io.List("differences", layer.differences, About().Always());
  io.PlainUnlessEmpty("not_known", layer.not_known, "What could not be compared, in words.");
}

template <class Io, Is<TensorDifference> T>
void Members(Io& io, T& tensor) {
  io.Must("name", tensor.name);
  io.Text("dtype", tensor.dtype, DTypeName, ParseDType, "The safetensors spelling.");
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
  io.May("recorded", metric.recorded,
         "The run's own value, where the history holds others of its kind too; null: not given "
         "apart.");
  io.Must("mean_history", metric.mean_history);
  io.Must("difference", metric.difference);
  io.Must("standard_deviation", metric.standard_deviation);
  io.Must("standard_error", metric.standard_error);
  io.Must("df", metric.df);
  io.Must("t", metric.t);
  io.Must("p_difference", metric.p_difference);
  io.Must("ci_low", metric.ci_low);
  io.Must("ci_high", metric.ci_high);
  io.Must("margin", metric.margin, "In metric units; 0: none in force.");
  io.May("default_margin", metric.default_margin);
  io.Must("alpha_drift", metric.alpha_drift);
  io.Must("alpha_equivalence", metric.alpha_equivalence);
  io.May("variance_basis", metric.variance_basis);
  io.Must("power", metric.power);
  io.Must("minimum_detectable", metric.minimum_detectable);
  io.May("more_reruns", metric.more_reruns, Count());
  io.May("pairs", metric.pairs,
         Count("Recorded runs beside reruns of their own seed that the decision rests on; 0: not "
               "paired."));
  io.May("seed_deviation", metric.seed_deviation,
         "Standard deviation of the recorded values over seeds, metric units; 0: not known.");
  io.May("more_runs", metric.more_runs, Count("More runs of other seeds that would decide."));
}

}  // namespace rharness

#endif  // RHARNESS_REPORTS_JSON_NOUNS_H_
