// Writing the pieces that both records have in common; see json_parts.h.
#include "reports/json_parts.h"

#include <algorithm>

namespace rharness {
namespace {

Json DifferenceJson(const FactDifference& difference) {
  Json json;
  json.Set("key", difference.key)
      .Set("weight", NameIn(kFactWeightNames, difference.weight))
      .Set("recorded", difference.recorded)
      .Set("observed", difference.observed);
  if (difference.use != FactUse::kNotKnown) json.Set("use", NameIn(kFactUseNames, difference.use));
  return json;
}

Json HistogramJson(const UlpHistogram& histogram) {
  const auto last = std::find_if(histogram.rbegin(), histogram.rend(),
                                 [](std::uint64_t count) { return count > 0; });
  return PlainArray(std::vector<std::uint64_t>(histogram.begin(), last.base()));
}

}  // namespace

Json FindingJson(const Finding& finding) {
  Json json;
  json.Set("code", finding.code);
  if (finding.layer) json.Set("layer", LayerName(*finding.layer));
  json.Set("subject", finding.subject)
      .Set("observed", finding.observed)
      .Set("limit", finding.limit)
      .Set("rule", finding.rule)
      .Set("message", finding.message)
      .Set("decisive", finding.decisive);
  return json;
}

Json LayerJson(const LayerComparison& layer) {
  Json json;
  json.Set("layer", LayerName(layer.layer))
      .Set("state", LayerStateName(layer.state))
      .Set("compared", layer.compared)
      .Set("only_recorded", layer.only_recorded)
      .Set("differences", ArrayOf(layer.differences, DifferenceJson));
  if (!layer.not_known.empty()) json.Set("not_known", PlainArray(layer.not_known));
  return json;
}

Json TensorJson(const TensorDifference& tensor) {
  Json json;
  json.Set("name", tensor.name)
      .Set("dtype", DTypeName(tensor.dtype))
      .Set("shape", PlainArray(tensor.shape))
      .Set("elements", tensor.elements)
      .Set("differing", tensor.differing)
      .Set("first_index", tensor.first_index)
      .Set("max_abs", tensor.max_abs)
      .Set("max_rel", tensor.max_rel)
      .Set("max_ulp", tensor.max_ulp)
      .Set("ulp_histogram", HistogramJson(tensor.ulp_histogram))
      .Set("non_finite_changes", tensor.non_finite_changes)
      .Set("nan_changes", tensor.nan_changes)
      .Set("zero_sign_changes", tensor.zero_sign_changes)
      .Set("norm_a", tensor.norm_a)
      .Set("norm_b", tensor.norm_b)
      .Set("norm_difference", tensor.norm_difference)
      .Set("cosine", tensor.cosine);
  return json;
}

Json MetricJson(const MetricDecision& metric) {
  Json json;
  json.Set("name", metric.name)
      .Set("unit", metric.unit)
      .Set("primary", metric.primary)
      .Set("verdict", MetricVerdictName(metric.verdict))
      .Set("reason", metric.reason)
      .Set("history", PlainArray(metric.history))
      .Set("reruns", PlainArray(metric.reruns))
      .Set("recorded", metric.recorded)
      .Set("mean_history", metric.mean_history)
      .Set("difference", metric.difference)
      .Set("standard_deviation", metric.standard_deviation)
      .Set("standard_error", metric.standard_error)
      .Set("df", metric.df)
      .Set("t", metric.t)
      .Set("p_difference", metric.p_difference)
      .Set("ci_low", metric.ci_low)
      .Set("ci_high", metric.ci_high)
      .Set("margin", metric.margin)
      .Set("default_margin", metric.default_margin)
      .Set("alpha_drift", metric.alpha_drift)
      .Set("alpha_equivalence", metric.alpha_equivalence)
      .Set("variance_basis", metric.variance_basis)
      .Set("power", metric.power)
      .Set("minimum_detectable", metric.minimum_detectable)
      .Set("more_reruns", metric.more_reruns);
  return json;
}

Json CountsJson(const std::map<std::string, int>& counts) {
  Json json = Json::MakeObject();
  for (const auto& [verdict, count] : counts) json.Set(verdict, count);
  return json;
}

std::map<std::string, int> CountVerdicts(const std::vector<Verdict>& verdicts) {
  std::map<std::string, int> counts;
  for (const Verdict verdict : kVerdicts) counts[std::string(VerdictName(verdict))] = 0;
  for (const Verdict verdict : verdicts) ++counts[std::string(VerdictName(verdict))];
  return counts;
}

}  // namespace rharness
