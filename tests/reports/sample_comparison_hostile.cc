// Comparisons whose texts and numbers of parts mean harm; see sample_comparison.h.
#include <fmt/format.h>

#include "tests/reports/sample_comparison.h"

namespace rharness {
namespace {

void Poison(const std::string& text, Comparison* pair) {
  pair->a = pair->b = {text, SideKind::kFile, text};
  pair->headline = text;
  for (Finding& f : pair->findings) {
    f.code = f.subject = f.observed = f.limit = f.rule = f.message = text;
  }
  for (Cause& cause : pair->causes) {
    cause.code = cause.statement = cause.confirm = text;
    cause.evidence = {text, text};
  }
  pair->causes[1].confirm = "rharness " + text;
  for (LayerComparison& layer : pair->layers) {
    for (FactDifference& difference : layer.differences) {
      difference.key = text;
      difference.recorded = text;
      difference.observed = text + "x";
    }
  }
  for (CheckpointComparison& checkpoint : pair->checkpoints) {
    checkpoint.subject = checkpoint.digest_a = checkpoint.digest_b = text;
    checkpoint.metadata = {text};
    CheckpointDifference& difference = checkpoint.difference;
    difference.only_a = difference.only_b = difference.shape_or_dtype = {text};
    for (TensorDifference& tensor : difference.differing) tensor.name = text;
    for (GroupDifference& group : difference.groups) group.group = text;
  }
  for (CurveComparison& curve : pair->curves) {
    curve.name = curve.vacuity = curve.basis = curve.rule = curve.message = text;
  }
  for (MetricDecision& metric : pair->metrics) {
    metric.name = metric.unit = metric.reason = metric.variance_basis = text;
  }
  pair->notes = {text};
}

}  // namespace

ComparisonSet HostileComparison(const std::string& text) {
  ComparisonSet set = RichComparison();
  set.title = set.version = text;
  set.notes = {text, text};
  Poison(text, &set.comparisons.front());
  return set;
}

ComparisonSet HostilePairs(const std::string& text) {
  ComparisonSet set = HostileComparison(text);
  set.comparisons.push_back(set.comparisons.front());
  for (Comparison& comparison : set.comparisons) comparison.name = text;
  TallySample(&set);
  return set;
}

ComparisonSet CrowdedComparison(int of_each) {
  ComparisonSet set = RichComparison();
  Comparison& pair = set.comparisons.front();
  CheckpointDifference& difference = pair.checkpoints[0].difference;
  for (int i = 0; i < of_each; ++i) {
    pair.findings.push_back(pair.findings[1]);
    pair.causes.push_back(pair.causes[1]);
    TensorDifference tensor = difference.differing.front();
    tensor.name = fmt::format("extra.{}.weight", i);
    difference.differing.push_back(tensor);
    GroupDifference group = difference.groups[8];
    group.group = fmt::format("extra.{}", i);
    difference.groups.push_back(group);
    pair.curves.push_back(pair.curves[1]);
    pair.layers[2].differences.push_back(pair.layers[2].differences[0]);
    pair.notes.push_back("one more");
  }
  return set;
}

}  // namespace rharness
