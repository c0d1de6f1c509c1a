// Reading the pieces that both records have in common; see json_parts.h.
#include <algorithm>

#include "reports/json_parts.h"

namespace rharness {
namespace {

Result<LayerState> ParseLayerState(std::string_view text) {
  for (const auto state :
       {LayerState::kSame, LayerState::kDiffers, LayerState::kUnknown, LayerState::kPartlyKnown}) {
    if (LayerStateName(state) == text) return state;
  }
  return InvalidInput(fmt::format("unknown layer state '{}'", text));
}

Result<MetricVerdict> ParseMetricVerdict(std::string_view text) {
  for (const auto verdict : {MetricVerdict::kWithin, MetricVerdict::kDrifted,
                             MetricVerdict::kNeedsConfirmation, MetricVerdict::kInconclusive}) {
    if (MetricVerdictName(verdict) == text) return verdict;
  }
  return InvalidInput(fmt::format("unknown metric verdict '{}'", text));
}

void ReadHistogram(JsonReader& reader, UlpHistogram* histogram) {
  std::vector<std::uint64_t> counts;
  reader.ReadArray("ulp_histogram", &counts);
  if (counts.size() > histogram->size()) {
    return reader.Fail(fmt::format("expected at most {} counts", histogram->size()),
                       "ulp_histogram");
  }
  std::copy(counts.begin(), counts.end(), histogram->begin());
}

}  // namespace

Finding ReadFinding(JsonReader& reader) {
  Finding finding;
  reader.Read("code", &finding.code);
  if (reader.Has("layer")) {
    Layer layer = Layer::kData;
    ReadAs(reader, "layer", &layer, ParseLayer);
    finding.layer = layer;
  }
  reader.ReadOptional("subject", &finding.subject);
  reader.ReadOptional("observed", &finding.observed);
  reader.ReadOptional("limit", &finding.limit);
  reader.ReadOptional("rule", &finding.rule);
  reader.Read("message", &finding.message);
  reader.ReadOptional("decisive", &finding.decisive);
  return finding;
}

void ReadLayers(JsonReader& run, std::array<LayerComparison, 5>* layers) {
  for (std::size_t i = 0; i < layers->size(); ++i) (*layers)[i].layer = kLayers[i];
  run.ForEach("layers", [&](JsonReader& reader) {
    LayerComparison comparison;
    ReadAs(reader, "layer", &comparison.layer, ParseLayer);
    ReadAs(reader, "state", &comparison.state, ParseLayerState);
    reader.ReadOptional("compared", &comparison.compared);
    reader.ReadOptional("only_recorded", &comparison.only_recorded);
    reader.ReadArray("not_known", &comparison.not_known);
    reader.ForEach("differences", [&](JsonReader& member) {
      FactDifference difference;
      difference.layer = comparison.layer;
      member.Read("key", &difference.key);
      ReadAs(member, "weight", &difference.weight, ParserOf(kFactWeightNames));
      member.ReadOptional("recorded", &difference.recorded);
      member.ReadOptional("observed", &difference.observed);
      if (member.Has("use")) ReadAs(member, "use", &difference.use, ParserOf(kFactUseNames));
      comparison.differences.push_back(std::move(difference));
    });
    if (!reader.ok()) return;
    for (auto& slot : *layers) {
      if (slot.layer != comparison.layer) continue;
      slot = std::move(comparison);
      return;
    }
  });
}

TensorDifference ReadTensor(JsonReader& reader) {
  TensorDifference tensor;
  reader.Read("name", &tensor.name);
  ReadAs(reader, "dtype", &tensor.dtype, ParseDType);
  reader.ReadArray("shape", &tensor.shape);
  reader.Read("elements", &tensor.elements);
  reader.Read("differing", &tensor.differing);
  reader.Read("first_index", &tensor.first_index);
  reader.Read("max_abs", &tensor.max_abs);
  reader.ReadOptional("max_rel", &tensor.max_rel);
  reader.Read("max_ulp", &tensor.max_ulp);
  ReadHistogram(reader, &tensor.ulp_histogram);
  reader.Read("non_finite_changes", &tensor.non_finite_changes);
  reader.ReadOptional("nan_changes", &tensor.nan_changes);
  reader.ReadOptional("zero_sign_changes", &tensor.zero_sign_changes);
  reader.ReadOptional("norm_a", &tensor.norm_a);
  reader.ReadOptional("norm_b", &tensor.norm_b);
  reader.ReadOptional("norm_difference", &tensor.norm_difference);
  reader.ReadOptional("cosine", &tensor.cosine);
  return tensor;
}

MetricDecision ReadMetric(JsonReader& reader) {
  MetricDecision metric;
  reader.Read("name", &metric.name);
  reader.ReadOptional("unit", &metric.unit);
  reader.Read("primary", &metric.primary);
  ReadAs(reader, "verdict", &metric.verdict, ParseMetricVerdict);
  reader.ReadOptional("reason", &metric.reason);
  reader.ReadArray("history", &metric.history);
  reader.ReadArray("reruns", &metric.reruns);
  reader.ReadOptional("recorded", &metric.recorded);
  reader.Read("mean_history", &metric.mean_history);
  reader.Read("difference", &metric.difference);
  reader.Read("standard_deviation", &metric.standard_deviation);
  reader.Read("standard_error", &metric.standard_error);
  reader.Read("df", &metric.df);
  reader.Read("t", &metric.t);
  reader.Read("p_difference", &metric.p_difference);
  reader.Read("ci_low", &metric.ci_low);
  reader.Read("ci_high", &metric.ci_high);
  reader.Read("margin", &metric.margin);
  reader.ReadOptional("default_margin", &metric.default_margin);
  reader.Read("alpha_drift", &metric.alpha_drift);
  reader.Read("alpha_equivalence", &metric.alpha_equivalence);
  reader.ReadOptional("variance_basis", &metric.variance_basis);
  reader.Read("power", &metric.power);
  reader.Read("minimum_detectable", &metric.minimum_detectable);
  reader.ReadOptional("more_reruns", &metric.more_reruns);
  return metric;
}

void CheckTally(JsonReader& reader, const std::vector<Verdict>& verdicts,
                const std::map<std::string, int>& counts, int exit_code) {
  if (!reader.ok()) return;
  const std::map<std::string, int> tallied = CountVerdicts(verdicts);
  for (const auto& [verdict, count] : tallied) {
    const auto claimed = counts.find(verdict);
    if (claimed == counts.end() || claimed->second != count) {
      return reader.Fail(fmt::format("expected {} for '{}', as the verdicts say", count, verdict),
                         "counts");
    }
  }
  if (counts.size() != tallied.size()) {
    return reader.Fail("holds a name that is no verdict", "counts");
  }
  const int expected = ExitCodeOf(verdicts);
  if (exit_code < 0 || exit_code > 5 || (exit_code == 0 && expected != 0)) {
    reader.Fail(
        fmt::format("{} does not follow from the verdicts; expected {}", exit_code, expected),
        "exit_code");
  }
}

}  // namespace rharness
