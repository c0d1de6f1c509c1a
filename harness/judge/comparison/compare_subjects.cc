// Aligns the common parts of two subjects.
#include "harness/judge/comparison/compare_subjects.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

#include "compare/curves/series.h"
#include "compare/explain.h"
#include "compare/tokens/compare_tokens.h"
#include "harness/base/files.h"
#include "harness/judge/compare_rerun.h"
#include "harness/judge/comparison/lineage_findings.h"
#include "harness/judge/decide_metrics.h"
#include "harness/judge/left_files.h"
#include "harness/judge/output_files.h"

namespace rharness {
namespace {

// Bits are expected if they were promised, and if only bits could be compared.
bool ExpectsBits(const Subject& a, const Subject& b, const CompareOptions& options) {
  if (options.expect_bitwise) return *options.expect_bitwise;
  if (a.declared_bitwise && b.declared_bitwise) return *a.declared_bitwise && *b.declared_bitwise;
  if (a.declared_bitwise) return *a.declared_bitwise;
  if (b.declared_bitwise) return *b.declared_bitwise;
  return a.curves.empty() && !a.results && !a.items && !a.tokens && a.manifest.metrics.empty();
}

// A fact on one side only is no difference, unless it defines a run: a seed, a flag, a file that it
// reads.
bool MustBeOnBoth(const Fact& fact) {
  return fact.key.starts_with("seed.") || fact.key.starts_with("hyperparameter.") ||
         fact.key.starts_with("determinism.") || fact.key.starts_with("data.") ||
         (fact.key.starts_with("code.") && fact.key.ends_with(".sha256"));
}

// `all`: of two environments or fingerprints every fact must be on both sides.
void AddMissing(const std::vector<Fact>& from, bool all, std::vector<Fact>* to) {
  std::set<std::string> known;
  std::vector<std::string> not_known;  // prefixes of the keys of such facts
  for (const Fact& fact : *to) {
    known.insert(fact.key);
    if (fact.kind == FactKind::kNotKnown) not_known.push_back(fact.key);
  }
  for (const Fact& fact : from) {
    if ((!all && !MustBeOnBoth(fact)) || known.contains(fact.key)) continue;
    if (fact.kind != FactKind::kValue || !fact.realm.empty()) continue;
    if (std::ranges::any_of(not_known,
                            [&](const std::string& keys) { return fact.key.starts_with(keys); })) {
      continue;
    }
    to->push_back({fact.layer, fact.key, std::nullopt, fact.weight});
  }
}

void CompareLayers(const Subject& a, const Subject& b, std::vector<Fact> facts_a,
                   std::vector<Fact> facts_b, Comparison* comparison) {
  const bool same_kind = a.side.kind == b.side.kind && a.side.kind != SideKind::kEvidence;
  if (same_kind) {
    facts_a = Unbundled(facts_a);
    facts_b = Unbundled(facts_b);
    const bool all = a.side.kind != SideKind::kManifest;
    const std::vector<Fact> only_a = facts_a;
    AddMissing(facts_b, all, &facts_a);
    AddMissing(only_a, all, &facts_b);
  }
  comparison->layers = CompareFacts(facts_a, facts_b);
  std::ranges::copy(a.notes, std::back_inserter(comparison->notes));
  std::ranges::copy(b.notes, std::back_inserter(comparison->notes));
}

ReportedMetrics ReportedBy(const Subject& subject) {
  ReportedMetrics reported;
  for (const Metric& metric : subject.manifest.metrics) reported[metric.name] = metric.value;
  return reported;
}

bool IsRecord(const Subject& subject) { return IsRecord(subject.side.kind); }

// What a record has and its counterpart lacks must not pass unseen.
void NoteMissing(const Subject& a, const Subject& b, Comparison* comparison) {
  const bool both_curves = a.side.kind == SideKind::kCurves && b.side.kind == SideKind::kCurves;
  if (!both_curves && !(IsRecord(a) && IsRecord(b))) return;
  const auto note = [&](std::string code, std::string subject, bool in_a) {
    const std::string message = fmt::format("{} is in {} alone", subject, in_a ? "A" : "B");
    comparison->findings.push_back({.code = std::move(code),
                                    .layer = {},
                                    .subject = std::move(subject),
                                    .observed = in_a ? "absent" : "present",
                                    .limit = in_a ? "present" : "absent",
                                    .rule = "what decides must be on both sides",
                                    .message = message});
  };
  for (const bool in_a : {true, false}) {
    const Subject& here = in_a ? a : b;
    const Subject& there = in_a ? b : a;
    for (const RecordedCheckpoint& weights : here.weights) {
      const auto same_role = [&](const RecordedCheckpoint& other) {
        return other.role == weights.role;
      };
      const auto same = [&](const RecordedCheckpoint& other) {
        return same_role(other) && other.path == weights.path;
      };
      const bool alone = std::ranges::count_if(here.weights, same_role) == 1 &&
                         std::ranges::count_if(there.weights, same_role) == 1;
      if (!alone && std::ranges::none_of(there.weights, same)) {
        note("missing_checkpoint", weights.role + " " + weights.path, in_a);
      }
    }
    for (const Metric& metric : here.manifest.metrics) {
      // What evidence has beside the record's metrics is the rerun's own affair.
      const bool counts =
          DecidesVerdict(metric, here.manifest.metrics) || here.side.kind == SideKind::kManifest;
      if (!counts || std::ranges::find(there.manifest.metrics, metric.name, &Metric::name) !=
                         there.manifest.metrics.end()) {
        continue;
      }
      note("missing_metric", "metric " + metric.name, in_a);
    }
  }
}

// Two environments are their facts: with a part that is not known they are not called identical.
void NoteUnknown(const Subject& a, const Subject& b, Comparison* comparison) {
  if (a.side.kind != SideKind::kEnvironment || b.side.kind != SideKind::kEnvironment) return;
  for (const LayerComparison& layer : comparison->layers) {
    for (const std::string& part : layer.not_known) {
      comparison->findings.push_back(
          {.code = "missing_facts",
           .layer = layer.layer,
           .subject = std::string(LayerName(layer.layer)),
           .observed = part,
           .limit = "known on both sides",
           .rule = "an unknown fact is never called equal",
           .message = fmt::format("{} not known: {}", LayerName(layer.layer), part)});
    }
  }
}

// A rerun that did not end well says nothing about its outputs: its end decides, as in a drill.
void AddEnd(const Subject& subject, std::string_view side, Comparison* comparison) {
  if (!subject.end || subject.end->state == RerunEnd::State::kCompared) return;
  RerunEnd end = *subject.end;
  end.reason = fmt::format("{}: {}", side, end.reason);
  comparison->ends.push_back(std::move(end));
}

double ValueOf(const std::vector<Metric>& metrics, const std::string& name) {
  return std::ranges::find(metrics, name, &Metric::name)->value;
}

// One value on each side and no margin declared: nothing can be tested. A difference that rounding
// made in every upgrade of the published record is taken for one; any other stays open.
void AcceptRounding(const std::vector<Metric>& reference, double value, MetricDecision* decision) {
  const auto metric = std::ranges::find(reference, decision->name, &Metric::name);
  if (metric->margin || !IsMeasured(value) || !IsMeasured(metric->value)) return;
  if (decision->verdict == MetricVerdict::kDrifted || decision->verdict == MetricVerdict::kWithin) {
    return;
  }
  const double limit = kRoundingFloor * std::abs(metric->value);
  if (!(std::abs(value - metric->value) <= limit)) return;
  // The value was compared with its own record, whatever further runs exist.
  decision->mean_history = metric->value;
  decision->difference = value - metric->value;
  decision->verdict = MetricVerdict::kWithin;
  decision->margin = limit;
  decision->reason = "within_rounding";
}

void LeaveOut(const std::vector<OtherEvalSet>& others, std::vector<Metric>* metrics) {
  for (const OtherEvalSet& other : others) {
    std::erase_if(*metrics, [&](const Metric& metric) { return metric.name == other.metric; });
  }
  // The remaining ones were measured on one set, under any name.
  for (Metric& metric : *metrics) metric.evaluated_on.clear();
}

bool IsRerunOf(const Subject& a, const Subject& b) {
  return a.side.kind == SideKind::kManifest && b.side.kind == SideKind::kEvidence &&
         a.manifest.run_id == b.manifest.run_id;
}

// The metrics of A that B has as well and that can be compared; a margin of `margins` replaces the
// record's own.
std::vector<Metric> ReferenceOf(const Subject& a, const Subject& b, const Margins& margins) {
  // Evidence has no units and margins; if the other side is a manifest, its definitions hold.
  std::vector<Metric> reference = a.manifest.metrics;
  if (a.side.kind == SideKind::kEvidence && b.side.kind == SideKind::kManifest) {
    for (Metric& metric : reference) {
      const auto defined = std::ranges::find(b.manifest.metrics, metric.name, &Metric::name);
      if (defined == b.manifest.metrics.end()) continue;
      const double value = metric.value;
      metric = *defined;
      metric.value = value;
    }
  }
  for (Metric& metric : reference) {
    const auto other = std::ranges::find(b.manifest.metrics, metric.name, &Metric::name);
    // Evidence has no primary metrics: for a record and its rerun those of the record decide.
    const bool said = other != b.manifest.metrics.end() && !IsRerunOf(a, b);
    if (said) metric.primary |= other->primary;
  }
  std::erase_if(reference, [&](const Metric& metric) {
    return std::ranges::find(b.manifest.metrics, metric.name, &Metric::name) ==
           b.manifest.metrics.end();
  });
  LeaveOut(OtherEvalSets(a, b), &reference);
  for (Metric& metric : reference) {
    const auto margin = margins.find(metric.name);
    if (margin != margins.end()) metric.margin = margin->second;
  }
  return reference;
}

void NoteLeftFiles(const Subject& a, const Subject& b, Comparison* comparison) {
  for (const Subject* side : {&a, &b}) {
    if (side->side.kind != SideKind::kManifest) continue;
    std::ranges::move(FindUnknownStart(side->manifest), std::back_inserter(comparison->findings));
  }
  if (!IsRerunOf(a, b)) return;
  std::ranges::move(FindLeftFiles(a.manifest, b.manifest.observation),
                    std::back_inserter(comparison->findings));
}

// Both columns of one file are two sides: a trainer's log-probabilities and those of its sampler.
void GatherTokens(const Subject& a, const Subject& b, const CompareOptions& options,
                  Comparison* comparison) {
  TokenRules rules{.sampled_by_b = options.sampled_by_b};
  rules.sampler_as_b = a.side.path == b.side.path && !a.tokens->sampler.empty();
  const auto margin = options.margins.find("kl");
  if (margin != options.margins.end()) rules.kl_margin = margin->second;
  TokenComparison tokens = CompareTokens(*a.tokens, *b.tokens, rules);
  if (rules.sampler_as_b) comparison->b.detail += ", those of its sampler";
  comparison->tokens = std::move(tokens.difference);
  if (tokens.decision) comparison->metrics.push_back(std::move(*tokens.decision));
  for (Finding& finding : tokens.findings) {
    // Of an evaluation the items decide; these only show how far its likelihoods moved.
    if (a.items && finding.code != "logprobs_differ") continue;
    comparison->findings.push_back(std::move(finding));
  }
  std::ranges::move(tokens.notes, std::back_inserter(comparison->notes));
}

}  // namespace

std::vector<MetricDecision> CompareMetrics(const Subject& a, const Subject& b,
                                           const std::vector<Subject>& replicates,
                                           const Margins& margins) {
  if (a.manifest.metrics.empty() || b.manifest.metrics.empty()) return {};
  // A rerun is compared with its own record, as in a drill of this run alone. Else replicates show
  // how runs of A differ: each is a draw, with any seed.
  const bool rerun = replicates.empty() && IsRerunOf(a, b);
  RecordedMetrics reference{.run_id = a.manifest.run_id, .metrics = ReferenceOf(a, b, margins)};
  if (rerun) reference.seeds = SeedsOf(a.manifest);
  std::vector<RecordedMetrics> members = {reference};
  for (const Subject& replicate : replicates) {
    RecordedMetrics member{.run_id = fmt::format("replicate-{}", members.size() + 1),
                           .metrics = replicate.manifest.metrics};
    LeaveOut(OtherEvalSets(a, replicate), &member.metrics);
    members.push_back(std::move(member));
  }
  std::vector<MetricDecision> decisions =
      DecideMetrics({{reference, {ReportedBy(b)}}}, Family(members)).runs.front();
  for (MetricDecision& decision : decisions) {
    if (!rerun)
      AcceptRounding(reference.metrics, ValueOf(b.manifest.metrics, decision.name), &decision);
    // The value itself, which may be an infinity; a non-finite value in A judges nothing.
    decision.reruns = {ValueOf(b.manifest.metrics, decision.name)};
    if (!IsMeasured(ValueOf(reference.metrics, decision.name))) {
      decision.verdict = MetricVerdict::kInconclusive;
      decision.reason = "non_finite_history";
    }
  }
  return decisions;
}

Result<Gathered> GatherComparison(const Subject& a, const Subject& b,
                                  const std::vector<Subject>& replicates,
                                  const CompareOptions& options) {
  Gathered gathered{.facts_a = a.facts, .facts_b = b.facts};
  Comparison& comparison = gathered.comparison;
  comparison.a = a.side;
  comparison.b = b.side;
  comparison.expect_bitwise = ExpectsBits(a, b, options);
  comparison.declared_bitwise = comparison.expect_bitwise && !options.expect_bitwise &&
                                (a.declared_bitwise || b.declared_bitwise);
  if (a.items && b.items) {
    ItemComparison items = CompareItems(*a.items, *b.items, options.margins);
    std::ranges::move(items.facts_a, std::back_inserter(gathered.facts_a));
    std::ranges::move(items.facts_b, std::back_inserter(gathered.facts_b));
    std::ranges::move(items.notes, std::back_inserter(comparison.notes));
    comparison.metrics = std::move(items.decisions);
  }
  const ItemOutputs outputs =
      CompareItemOutputs(a.kept_items, b.kept_items, ReferenceOf(a, b, options.margins));
  std::ranges::copy(outputs.facts_a, std::back_inserter(gathered.facts_a));
  std::ranges::copy(outputs.facts_b, std::back_inserter(gathered.facts_b));
  std::ranges::copy(outputs.notes, std::back_inserter(comparison.notes));
  CompareLayers(a, b, gathered.facts_a, gathered.facts_b, &comparison);
  ASSIGN_OR_RETURN(
      comparison.checkpoints,
      CompareCheckpoints(a.weights, b.weights, {options.weights_only, options.threads}));
  std::vector<std::vector<CurveSeries>> replicate_curves;
  replicate_curves.reserve(replicates.size());
  for (const Subject& replicate : replicates) replicate_curves.push_back(replicate.curves);
  const bool both_log = !a.curves.empty() && !b.curves.empty();
  if (both_log || (IsRecord(a) && IsRecord(b)) ||
      (a.side.kind == SideKind::kCurves && b.side.kind == SideKind::kCurves)) {
    comparison.curves = CompareCurves(a.curves, b.curves, replicate_curves, options.curves);
  }
  if (IsRecord(a) && IsRecord(b)) {
    CompareOutputFiles(WithoutItems(a.manifest, outputs.compared),
                       WithoutItems(b.manifest, outputs.compared), &comparison);
  }
  if (!a.items) comparison.metrics = CompareMetrics(a, b, replicates, options.margins);
  if (a.tokens && b.tokens) GatherTokens(a, b, options, &comparison);
  TakeItemDecisions(outputs.decisions, &comparison.metrics);
  NoteMissing(a, b, &comparison);
  NoteLeftFiles(a, b, &comparison);
  NoteLineage(a, b, &comparison);
  NoteUnknown(a, b, &comparison);
  if (a.unread && b.unread) {
    std::ranges::move(CompareUnread(*a.unread, *b.unread, {"in A", "in B"}),
                      std::back_inserter(comparison.findings));
  }
  AddEnd(a, "A", &comparison);
  AddEnd(b, "B", &comparison);
  if (a.results && b.results) {
    RETURN_IF_ERROR(CompareResultGroups(*a.results, *b.results, replicates, options, &comparison));
    gathered.judged = true;
  } else if (a.fingerprint && b.fingerprint) {
    CompareFingerprints(*a.fingerprint, *b.fingerprint, &comparison);
    gathered.judged = true;
  }
  return gathered;
}

Comparison FinishComparison(Gathered gathered) {
  Comparison& comparison = gathered.comparison;
  if (!gathered.judged) JudgeComparison(&comparison);
  comparison.causes = Explain(comparison, gathered.facts_a, gathered.facts_b);
  NoteAlthough(&comparison);
  return std::move(comparison);
}

Result<Comparison> CompareSubjects(const Subject& a, const Subject& b,
                                   const std::vector<Subject>& replicates,
                                   const CompareOptions& options) {
  ASSIGN_OR_RETURN(Gathered gathered, GatherComparison(a, b, replicates, options));
  return FinishComparison(std::move(gathered));
}

}  // namespace rharness
