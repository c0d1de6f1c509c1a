// One comparison out of the reruns of a run; see judge_run.h.
#include "harness/judge/judge_run.h"

#include <fmt/format.h>

#include <algorithm>

#include "compare/comparison_predicates.h"
#include "compare/explain.h"
#include "harness/execution/rerun/rerun.h"
#include "harness/judge/facts_of.h"
#include "harness/judge/file_proof.h"
#include "harness/judge/item_outputs.h"
#include "harness/judge/record_parts.h"
#include "harness/judge/rerun_outputs.h"
#include "harness/records/manifest/lineage.h"

namespace rharness {
namespace {

bool Differs(const CheckpointComparison& checkpoint) { return !IsSame(checkpoint); }

bool Differs(const CurveComparison& curve) {
  return curve.state != CurveState::kIdentical && !IsQuietlyVacuous(curve);
}

// Adds missing parts; a differing part replaces an equal one.
template <class Part, class Name>
void MergeParts(const std::vector<Part>& parts, Name name, std::vector<Part>* merged) {
  for (const Part& part : parts) {
    const auto same = std::ranges::find(*merged, std::invoke(name, part), name);
    if (same == merged->end()) {
      merged->push_back(part);
    } else if (Differs(part) && !Differs(*same)) {
      *same = part;
    }
  }
}

// A drift only if every rerun shows it; else undecided, with a finding.
void RefuseUnconfirmed(const std::vector<Comparison>& reruns, Comparison* merged) {
  for (CurveComparison& curve : merged->curves) {
    std::size_t seen = 0;
    std::size_t beyond = 0;
    const CurveComparison* first = nullptr;
    for (const Comparison& rerun : reruns) {
      const auto found = std::ranges::find(rerun.curves, curve.name, &CurveComparison::name);
      if (found == rerun.curves.end()) continue;
      ++seen;
      if (!Decides(*found) || found->state != CurveState::kBeyond) continue;
      if (beyond++ == 0) first = &*found;
    }
    if (beyond == 0) continue;
    curve = *first;
    if (beyond == seen) continue;
    curve.state = CurveState::kUndecided;
    curve.first_beyond.reset();
    const std::string what =
        fmt::format("{} is beyond its band in {} of {} reruns", curve.name, beyond, seen);
    merged->findings.push_back({.code = "missing_confirmation",
                                .layer = {},
                                .subject = "curve " + curve.name,
                                .observed = fmt::format("{} of {}", beyond, seen),
                                .limit = "all, or none",
                                .rule = "a drift is claimed where every rerun shows it",
                                .message = what + ": " + curve.message});
  }
}

bool SameFinding(const Finding& a, const Finding& b) {
  return a.code == b.code && a.subject == b.subject && a.message == b.message;
}

// The evidence whose facts explain: of the first rerun that differs, else of the first.
const Evidence* TellingEvidence(const std::vector<Evidence>& evidence,
                                const std::vector<Comparison>& reruns) {
  for (std::size_t i = 0; i < reruns.size(); ++i) {
    const auto differs = [](const auto& part) { return Differs(part); };
    if (std::ranges::any_of(reruns[i].checkpoints, differs) ||
        std::ranges::any_of(reruns[i].curves, differs)) {
      return &evidence[i];
    }
  }
  return evidence.empty() ? nullptr : &evidence.front();
}

// Outputs that the record names and nothing compares: a pass says nothing of them.
std::vector<std::string> TellUncompared(const Manifest& manifest) {
  std::vector<std::string> told;
  if (manifest.origin) {
    for (const FieldOrigin& field : manifest.origin->fields) {
      if (field.path != "outputs" || field.grade != Grade::kMissing) continue;
      told.push_back("not compared: " + field.from);
    }
  }
  std::ranges::copy_if(manifest.notes, std::back_inserter(told), [](const std::string& note) {
    return note.find("not compared") != note.npos;
  });
  return told;
}

}  // namespace

Comparison MergeReruns(const Manifest& manifest, const std::vector<Comparison>& reruns) {
  Comparison merged;
  merged.is_rerun = true;
  merged.declared_bitwise = manifest.determinism.declared == "bitwise";
  merged.expect_bitwise = merged.declared_bitwise;
  merged.a = {{}, SideKind::kManifest, "run " + manifest.run_id};
  merged.b = {RerunFolder({}, manifest.run_id, 1).parent_path().string(), SideKind::kEvidence,
              fmt::format("{} rerun{}", reruns.size(), reruns.size() == 1 ? "" : "s")};
  std::vector<std::array<LayerComparison, 5>> layers;
  for (const Comparison& rerun : reruns) layers.push_back(rerun.layers);
  merged.layers = MergeLayers(layers);
  for (const Comparison& rerun : reruns) {
    std::ranges::copy(rerun.ends, std::back_inserter(merged.ends));
    MergeParts(rerun.checkpoints, &CheckpointComparison::subject, &merged.checkpoints);
    MergeParts(rerun.curves, &CurveComparison::name, &merged.curves);
    for (const Finding& finding : rerun.findings) {
      const auto same = [&](const Finding& other) { return SameFinding(finding, other); };
      if (std::ranges::none_of(merged.findings, same)) merged.findings.push_back(finding);
    }
    for (const std::string& note : rerun.notes) {
      if (std::ranges::find(merged.notes, note) == merged.notes.end()) merged.notes.push_back(note);
    }
  }
  KeepUnproven(reruns, &merged.findings);
  merged.metrics = MergeItemDecisions(reruns);
  RefuseUnconfirmed(reruns, &merged);
  std::ranges::move(TellLineage(manifest), std::back_inserter(merged.notes));
  std::ranges::move(TellUncompared(manifest), std::back_inserter(merged.notes));
  return merged;
}

Comparison JudgeRun(const Manifest& manifest, const std::vector<Evidence>& evidence,
                    const std::vector<Comparison>& reruns, Comparison merged,
                    std::vector<MetricDecision> metrics) {
  Comparison run = std::move(merged);
  TakeItemDecisions(run.metrics, &metrics);
  run.metrics = std::move(metrics);
  JudgeComparison(&run);
  const Evidence* telling = TellingEvidence(evidence, reruns);
  // A rerun without a machine saw nothing that could explain it.
  if (telling == nullptr) return run;
  if (!telling->obstacle.empty() && telling->environment.hardware.cpu.architecture.empty()) {
    return run;
  }
  std::vector<Fact> recorded = FactsAsRerun(manifest, *telling);
  std::vector<Fact> seen = FactsOf(*telling, manifest);
  AddConfiguration(manifest, &recorded);
  AddConfiguration(manifest, &seen);
  run.causes = Explain(run, recorded, seen);
  std::vector<RerunOutputs> outputs;
  for (std::size_t i = 0; i < evidence.size(); ++i) {
    if (run.ends[i].state == RerunEnd::State::kCompared) outputs.push_back(OutputsOf(evidence[i]));
  }
  AddRerunsCause(outputs, &run);
  NoteAlthough(&run);
  return run;
}

}  // namespace rharness
