// Where two runs part, as a document.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "reports/onset_report.h"
#include "reports/svg_plots.h"
#include "reports/text.h"

namespace rharness {
namespace {

using As = DocumentCell::As;

constexpr std::size_t kAround = 6;            // equal records before and after the origin
constexpr std::size_t kMostOnsetCurves = 12;  // that are drawn

std::string Apart(double distance) { return std::isnan(distance) ? "" : FormatNumber(distance, 3); }

Verdict ToneOf(RecordState state) {
  switch (state) {
    case RecordState::kEqual:
      return Verdict::kIdentical;
    case RecordState::kOrigin:
    case RecordState::kOnlyA:
    case RecordState::kOnlyB:
      return Verdict::kDrifted;
    case RecordState::kHandedOn:
      return Verdict::kInconclusive;
    case RecordState::kUnknown:
      break;
  }
  return Verdict::kInfra;
}

std::string StateWords(RecordState state) {
  switch (state) {
    case RecordState::kEqual:
      return "= equal";
    case RecordState::kOrigin:
      return "✗ begins here";
    case RecordState::kHandedOn:
      return "~ handed on";
    case RecordState::kOnlyA:
      return "✗ only in A";
    case RecordState::kOnlyB:
      return "✗ only in B";
    case RecordState::kUnknown:
      break;
  }
  return "? not known";
}

// The differing records, and equal ones just before and after their beginning.
DocumentSection StepSection(const Onset& onset) {
  DocumentSection section{
      .title = "The step in network order",
      .pictures =
          {{SvgOnsetStrip(onset, "strip"),
            "A cell is a tensor, in the order in which the network makes and uses it. Filled "
            "ones differ; the tallest are where it begins, on equal inputs.",
            true}},
      .columns = {{"Tensor"},
                  {"Kind"},
                  {"State"},
                  {"Apart", true},
                  {"Size"},
                  {"Norm A", true},
                  {"Norm B", true}}};
  const auto origin = std::ranges::find(onset.strip, RecordState::kOrigin, &OnsetRecord::state);
  const auto at = static_cast<std::size_t>(origin - onset.strip.begin());
  for (std::size_t i = 0; i < onset.strip.size(); ++i) {
    const OnsetRecord& record = onset.strip[i];
    const bool equal = record.state == RecordState::kEqual;
    if (equal && (i + kAround < at || i > at + kAround)) continue;
    section.rows.push_back({.tone = ToneOf(record.state),
                            .cells = {NameOfRecord(record.a),
                                      SpacedName(TraceKindName(record.a.kind)),
                                      {StateWords(record.state), As::kBadge},
                                      equal ? "" : Apart(record.distance),
                                      equal ? "" : SpacedName(DifferenceSizeName(record.size)),
                                      Apart(record.a.norm),
                                      Apart(record.b.norm)}});
  }
  return section;
}

DocumentSection GrowthSection(const Onset& onset) {
  DocumentSection section{
      .title = "How far apart by step",
      .pictures = {{SvgOnsetGrowth(onset, "growth"),
                    "Relative: parameters (solid), outputs of the network (broad), loss (dashed).",
                    true}},
      .columns = {{"Step"}, {"Parameters", true}, {"Outputs", true}, {"Loss", true}}};
  for (const OnsetStep& step : onset.steps) {
    if (!onset.origin || step.step < onset.origin->a.step) continue;
    section.rows.push_back({.cells = {std::to_string(step.step), Apart(step.parameters),
                                      Apart(step.outputs), Apart(step.loss)}});
  }
  return section;
}

DocumentSection CheckpointSection(const OnsetReport& report) {
  DocumentSection section{.title = "Checkpoints", .columns = {{"Checkpoint"}, {"State"}}};
  for (const OnsetCheckpoint& one : report.checkpoints) {
    const Verdict tone = one.state == CheckpointState::kEqual     ? Verdict::kIdentical
                         : one.state == CheckpointState::kDiffers ? Verdict::kDrifted
                                                                  : Verdict::kInfra;
    section.rows.push_back(
        {.tone = tone,
         .cells = {one.name, {SpacedName(NameIn(kCheckpointStateNames, one.state)), As::kBadge}}});
  }
  return section;
}

DocumentSection TensorSection(const OnsetReport& report) {
  DocumentSection section{
      .title = "Tensors of the first checkpoint that differs",
      .words = report.tensors.empty() ? "" : report.tensor_order,
      .columns = {{"Tensor"}, {"Differing", true}, {"Of", true}, {"Most ULP", true}, {"Relative"}}};
  for (const OnsetTensor& one : report.tensors) {
    if (one.elements == 0) {
      section.rows.push_back({.cells = {one.name, "", "", "", "the digests differ"}});
      continue;
    }
    section.rows.push_back(
        {.cells = {one.name, FormatCount(one.differing), FormatCount(one.elements),
                   FormatCount(one.max_ulp), Apart(one.relative)}});
  }
  return section;
}

void AddCurves(const std::vector<CurveComparison>& curves, std::string_view id,
               std::vector<DocumentSection>* sections) {
  for (std::size_t i = 0; i < std::min(curves.size(), kMostOnsetCurves); ++i) {
    sections->push_back(
        {.title = "Curve " + curves[i].name,
         .words = curves[i].message,
         .pictures = {{SvgDivergence(curves[i], fmt::format("{}-{}", id, i)), "", true}}});
  }
}

}  // namespace

Document DocumentOf(const OnsetReport& report) {
  Document document{.name = "onset",
                    .about = "Where two runs part",
                    .version = report.version,
                    .made = report.made,
                    .tone = report.exit_code == 0 ? Verdict::kDrifted : Verdict::kInconclusive,
                    .headline = report.headline,
                    .next = report.next,
                    .notes = report.notes,
                    .facts = {{"A", report.a}, {"B", report.b}},
                    .exit_code = report.exit_code};
  if (report.traced && !report.traces.what.empty()) {
    document.facts.emplace_back("Kind", SpacedName(report.traces.what));
    document.facts.emplace_back("Layer", std::string(LayerName(report.traces.layer)));
    document.facts.emplace_back("Growth", SpacedName(report.traces.growth));
  }
  document.sections = {{.title = "Shown by", .items = report.reasons}};
  if (report.traced) {
    document.sections.push_back(StepSection(report.traces));
    document.sections.push_back(GrowthSection(report.traces));
    AddCurves(report.traces.curves, "trace-curve", &document.sections);
  }
  document.sections.push_back(CheckpointSection(report));
  document.sections.push_back(TensorSection(report));
  AddCurves(report.curves, "curve", &document.sections);
  std::erase_if(document.sections, IsEmpty);
  return document;
}

}  // namespace rharness
