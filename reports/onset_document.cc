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

std::string TensorWords(const CallTensor& tensor) {
  return fmt::format("{} [{}]", tensor.dtype, fmt::join(tensor.shape, ", "));
}

// Inputs and outputs of the origin, side by side.
DocumentSection CallSection(const CallOnset& onset) {
  DocumentSection section{.title = "The call",
                          .columns = {{"Tensor"},
                                      {"State"},
                                      {"A"},
                                      {"B"},
                                      {"Norm A", true},
                                      {"Norm B", true},
                                      {"Digest A"},
                                      {"Digest B"}}};
  if (!onset.origin) return section;
  const CallPair& origin = *onset.origin;
  section.words = fmt::format("{}: {}", NameOfCall(origin.a), onset.difference);
  const bool both = origin.state != RecordState::kOnlyA && origin.state != RecordState::kOnlyB;
  const auto add = [&](std::string_view list, const auto& of_a, const auto& of_b) {
    for (std::size_t i = 0; i < std::max(of_a.size(), of_b.size()); ++i) {
      const CallTensor none;
      const bool in_a = i < of_a.size() && origin.state != RecordState::kOnlyB;
      const bool in_b = i < of_b.size() && origin.state != RecordState::kOnlyA;
      const CallTensor& a = in_a ? of_a[i] : none;
      const CallTensor& b = in_b ? of_b[i] : none;
      const bool same = in_a && in_b && IsSameTensor(a, b);
      const bool known = !a.digest.empty() && !b.digest.empty();
      section.rows.push_back({.tone = same && known   ? Verdict::kIdentical
                                      : both && !same ? Verdict::kDrifted
                                                      : Verdict::kInconclusive,
                              .cells = {NameOfTensor(list, i, in_a ? a : b),
                                        {same && known ? "= equal"
                                         : same        ? "? no digest"
                                         : both        ? "✗ differs"
                                                       : "in one run",
                                         As::kBadge},
                                        in_a ? TensorWords(a) : "",
                                        in_b ? TensorWords(b) : "",
                                        Apart(a.norm),
                                        Apart(b.norm),
                                        {a.digest, As::kCode},
                                        {b.digest, As::kCode}}});
    }
  };
  add("input", origin.a.inputs, origin.b.inputs);
  add("output", origin.a.outputs, origin.b.outputs);
  return section;
}

DocumentSection CallRows(std::string title, const std::vector<CallPair>& calls) {
  DocumentSection section{
      .title = std::move(title),
      .columns = {{"Operator"}, {"Module"}, {"State"}, {"#", true}, {"Phase"}, {"Site"}}};
  for (const CallPair& pair : calls) {
    section.rows.push_back(
        {.tone = ToneOf(pair.state),
         .cells = {pair.a.unit.empty() ? pair.a.op : pair.a.op + " (" + pair.a.unit + ")",
                   pair.a.module,
                   {StateWords(pair.state) + (pair.moved ? ", moved" : ""), As::kBadge},
                   std::to_string(pair.a.order),
                   pair.a.phase,
                   pair.a.site}});
  }
  return section;
}

void AddCalls(const CallOnset& onset, std::vector<DocumentSection>* sections) {
  sections->push_back(CallSection(onset));
  sections->push_back(CallRows("Calls around it", onset.around));
  sections->push_back(
      CallRows("Other calls of the step that differ on equal inputs", onset.further));
  sections->push_back(CallRows("Calls that one run alone has, or has elsewhere", onset.own));
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
  const bool by_calls =
      report.calls && !report.calls->what.empty() && report.headline == report.calls->headline;
  const std::string& what = by_calls ? report.calls->what : report.traces.what;
  if (!what.empty()) {
    const Layer layer = by_calls ? report.calls->layer : report.traces.layer;
    document.facts.emplace_back("Kind", SpacedName(what));
    document.facts.emplace_back("Layer", std::string(LayerName(layer)));
  }
  if (report.traced && !report.traces.what.empty()) {
    document.facts.emplace_back("Growth", SpacedName(report.traces.growth));
  }
  if (report.calls) {
    document.facts.emplace_back("Calls", fmt::format("{} in both, {} with another output",
                                                     FormatCount(report.calls->paired),
                                                     FormatCount(report.calls->differing)));
  }
  document.sections = {{.title = "Shown by", .items = report.reasons}};
  if (report.calls) AddCalls(*report.calls, &document.sections);
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
