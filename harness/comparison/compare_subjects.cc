// Lining up what two subjects have in common.
#include "harness/comparison/compare_subjects.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "compare/explain.h"
#include "harness/drill/compare_rerun.h"

namespace rharness {
namespace {

// Bits are expected where they were promised, and where nothing but bits could be compared.
bool ExpectsBits(const Subject& a, const Subject& b, const CompareOptions& options) {
  if (options.expect_bitwise) return *options.expect_bitwise;
  if (a.declared_bitwise && b.declared_bitwise) return *a.declared_bitwise && *b.declared_bitwise;
  if (a.declared_bitwise) return *a.declared_bitwise;
  if (b.declared_bitwise) return *b.declared_bitwise;
  return a.curves.empty() && !a.results && a.manifest.metrics.empty();
}

// Facts that only one side speaks of are no difference; a seed or flag that only one side has is.
bool MustBeOnBoth(const Fact& fact) {
  return fact.key.starts_with("seed.") || fact.key.starts_with("hyperparameter.") ||
         fact.key.starts_with("determinism.");
}

void AddMissing(const std::vector<Fact>& from, std::vector<Fact>* to) {
  std::set<std::string> known;
  for (const Fact& fact : *to) known.insert(fact.key);
  for (const Fact& fact : from) {
    if (!MustBeOnBoth(fact) || known.contains(fact.key)) continue;
    to->push_back({fact.layer, fact.key, std::nullopt, fact.weight});
  }
}

void CompareLayers(const Subject& a, const Subject& b, Comparison* comparison) {
  std::vector<Fact> facts_a = a.facts, facts_b = b.facts;
  if (a.side.kind == "manifest" && b.side.kind == "manifest") {
    AddMissing(b.facts, &facts_a);
    AddMissing(a.facts, &facts_b);
  }
  comparison->layers = CompareFacts(facts_a, facts_b);
  std::ranges::copy(a.notes, std::back_inserter(comparison->notes));
  std::ranges::copy(b.notes, std::back_inserter(comparison->notes));
}

// The metrics of a subject as a rerun would report them.
Evidence AsEvidence(const Subject& subject) {
  Evidence evidence;
  for (const Metric& metric : subject.manifest.metrics) {
    evidence.metrics.metrics[metric.name] = metric.value;
  }
  return evidence;
}

}  // namespace

std::vector<MetricDecision> CompareMetrics(const Subject& a, const Subject& b,
                                           const std::vector<Subject>& replicates) {
  if (a.manifest.metrics.empty() || b.manifest.metrics.empty()) return {};
  // Evidence knows no units and margins; where the other side is a manifest, its definitions hold.
  Manifest reference = a.manifest;
  if (a.side.kind == "evidence" && b.side.kind == "manifest") {
    for (Metric& metric : reference.metrics) {
      const auto defined = std::ranges::find(b.manifest.metrics, metric.name, &Metric::name);
      if (defined == b.manifest.metrics.end()) continue;
      const double value = metric.value;
      metric = *defined;
      metric.value = value;
    }
  }
  std::erase_if(reference.metrics, [&](const Metric& metric) {
    return std::ranges::find(b.manifest.metrics, metric.name, &Metric::name) ==
           b.manifest.metrics.end();
  });
  std::vector<Manifest> members = {reference};
  for (const Subject& replicate : replicates) {
    Manifest& member = members.emplace_back(reference);
    member.metrics.clear();
    for (const Metric& metric : replicate.manifest.metrics) member.metrics.push_back(metric);
  }
  return DecideMetrics(reference, Family(members), {AsEvidence(b)});
}

Result<Comparison> CompareSubjects(const Subject& a, const Subject& b,
                                   const std::vector<Subject>& replicates,
                                   const CompareOptions& options) {
  Comparison comparison;
  comparison.a = a.side;
  comparison.b = b.side;
  comparison.expect_bitwise = ExpectsBits(a, b, options);
  CompareLayers(a, b, &comparison);
  ASSIGN_OR_RETURN(comparison.checkpoints,
                   CompareWeights(a, b, options.threads, &comparison.notes));
  std::vector<std::vector<CurveSeries>> replicate_curves;
  for (const Subject& replicate : replicates) replicate_curves.push_back(replicate.curves);
  if (!a.curves.empty() && !b.curves.empty()) {
    comparison.curves = CompareCurves(a.curves, b.curves, replicate_curves, options.curves);
  }
  comparison.metrics = CompareMetrics(a, b, replicates);
  if (a.results && b.results) {
    CompareResultGroups(*a.results, *b.results, replicates, options, &comparison);
  } else {
    JudgeComparison(&comparison);
  }
  comparison.causes = Explain(comparison, a.facts, b.facts);
  return comparison;
}

}  // namespace rharness
