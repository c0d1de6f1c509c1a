// Lineage of two subjects side by side.
#include "harness/judge/comparison/lineage_findings.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/base/files.h"
#include "harness/judge/eval_sets.h"

namespace rharness {
namespace {

const Metric* Find(const Manifest& manifest, const std::string& name) {
  const auto found = std::ranges::find(manifest.metrics, name, &Metric::name);
  return found == manifest.metrics.end() ? nullptr : &*found;
}

// Metrics and data alone, each metric with the set that it was measured on.
Manifest Told(const Subject& subject, const Subject& other) {
  Manifest told;
  told.data = subject.manifest.data;
  told.metrics = subject.manifest.metrics;
  if (subject.side.kind != SideKind::kEvidence || other.side.kind != SideKind::kManifest)
    return told;
  for (Metric& metric : told.metrics) {
    const Metric* defined = Find(other.manifest, metric.name);
    if (defined != nullptr) metric.evaluated_on = defined->evaluated_on;
  }
  return told;
}

// A metric of evidence is primary if the manifest on the other side says so.
bool IsPrimary(const std::string& name, const Subject& a, const Subject& b) {
  for (const Subject* side : {&a, &b}) {
    const Subject& other = side == &a ? b : a;
    if (side->side.kind == SideKind::kEvidence && other.side.kind == SideKind::kManifest) continue;
    const Metric* metric = Find(side->manifest, name);
    if (metric != nullptr && metric->primary) return true;
  }
  return false;
}

void NoteBoth(const Subject& a, const Subject& b, Comparison* comparison) {
  for (const Subject* side : {&a, &b}) {
    if (side->side.kind != SideKind::kManifest) continue;
    for (const std::string& sentence : TellLineage(side->manifest)) {
      comparison->notes.push_back(
          TerminalSafe(fmt::format("{}: {}", side == &a ? "A" : "B", sentence)));
    }
  }
}

void NoteOneSided(const Subject& a, const Subject& b, Comparison* comparison) {
  if (a.side.kind != SideKind::kManifest || b.side.kind != SideKind::kManifest) return;
  for (const Metric& metric : a.manifest.metrics) {
    const Metric* other = Find(b.manifest, metric.name);
    if (other == nullptr) continue;
    const DataItem* in_a = EvalSetOf(metric, a.manifest.data);
    const DataItem* in_b = EvalSetOf(*other, b.manifest.data);
    if ((in_a == nullptr) == (in_b == nullptr)) continue;
    comparison->notes.push_back(TerminalSafe(
        fmt::format("{} does not say on what {} was measured, and {} does",
                    in_a != nullptr ? "B" : "A", metric.name, in_a != nullptr ? "A" : "B")));
  }
}

void NoteOtherMakers(const Subject& a, const Subject& b, Comparison* comparison) {
  for (const DataItem& item : a.manifest.data) {
    const auto same = std::ranges::find(b.manifest.data, item.name, &DataItem::name);
    if (same == b.manifest.data.end() || !item.made_by || !same->made_by) continue;
    if (item.made_by == same->made_by || CompareContent(item, *same) != SameContent::kYes) continue;
    const std::string was = InWords(*item.made_by), is = InWords(*same->made_by);
    comparison->findings.push_back(
        {.code = "made_by_differs",
         .layer = Layer::kData,
         .subject = "data " + item.name,
         .observed = is,
         .limit = was,
         .rule = "what made data of one content never decides",
         .message = TerminalSafe(fmt::format("data '{}' is the same, although another version of "
                                             "the transform made it: {} -> {}",
                                             item.name, was, is))});
  }
}

}  // namespace

std::vector<OtherEvalSet> OtherEvalSets(const Subject& a, const Subject& b) {
  return FindOtherEvalSets(Told(a, b), Told(b, a));
}

void NoteLineage(const Subject& a, const Subject& b, Comparison* comparison) {
  for (const OtherEvalSet& other : OtherEvalSets(a, b)) {
    const bool decides = comparison->declared_bitwise || IsPrimary(other.metric, a, b);
    comparison->findings.push_back(EvalSetFinding(other, decides, {"in A", "in B"}));
  }
  NoteBoth(a, b, comparison);
  NoteOneSided(a, b, comparison);
  NoteOtherMakers(a, b, comparison);
}

}  // namespace rharness
