// Where two runs part as JSON, "rharness.onset/v1", and its schema.
#include <algorithm>
#include <cmath>
#include <vector>

#include "harness/base/json_members.h"
#include "harness/base/member_schema.h"
#include "reports/names.h"
#include "reports/onset_report.h"
#include "reports/schemas.h"

namespace rharness {
namespace {

constexpr std::size_t kMostStrip = 20000;

const NameTable<TraceKind, 12> kTraceKindNames = NamesFrom<TraceKind, 12>(
    TraceKindName,
    {TraceKind::kSetting, TraceKind::kRng, TraceKind::kParameter, TraceKind::kBuffer,
     TraceKind::kState, TraceKind::kBatch, TraceKind::kInput, TraceKind::kOutput, TraceKind::kLoss,
     TraceKind::kOutputGradient, TraceKind::kGradient, TraceKind::kUpdated});
const NameTable<RecordState, 6> kRecordStateNames = NamesFrom<RecordState, 6>(
    RecordStateName, {RecordState::kEqual, RecordState::kOrigin, RecordState::kHandedOn,
                      RecordState::kOnlyA, RecordState::kOnlyB, RecordState::kUnknown});
const NameTable<DifferenceSize, 5> kDifferenceSizeNames = NamesFrom<DifferenceSize, 5>(
    DifferenceSizeName,
    {DifferenceSize::kNone, DifferenceSize::kRounding, DifferenceSize::kReducedPrecision,
     DifferenceSize::kLarge, DifferenceSize::kNotMeasured});

std::vector<OnsetRecord> FirstOf(const std::vector<OnsetRecord>& strip) {
  const std::size_t count = std::min(strip.size(), kMostStrip);
  return {strip.begin(), strip.begin() + static_cast<std::ptrdiff_t>(count)};
}

}  // namespace

// One side of a record.
template <class Io, Is<TraceRecord> T>
void Members(Io& io, T& record) {
  io.MustPlain("shape", record.shape);
  io.Must("dtype", record.dtype);
  io.Must("digest", record.digest, "METHOD:VALUE; may be empty.");
  io.Must("norm", record.norm);
  io.Must("max", record.max);
  io.Must("nonfinite", record.nonfinite);
  io.MayIf(record.kind == TraceKind::kSetting, "value", record.value, "Of a setting.");
}

// A record without its sides.
struct OnsetRow {
  const OnsetRecord& record;
};

template <class Io, Is<OnsetRow> T>
void Members(Io& io, T& row) {
  const OnsetRecord& record = row.record;
  io.Must("step", record.a.step);
  io.Name("kind", record.a.kind, kTraceKindNames);
  io.Must("name", record.a.name, "Empty: the whole network, or the batch.");
  io.Must("type", record.a.type, "Of the operator; may be empty.");
  io.Must("call", record.a.call);
  io.Must("index", record.a.index);
  io.Name("state", record.state, kRecordStateNames,
          "origin: differs on equal inputs; handed_on: so does what it was computed from.");
  io.Name("size", record.size, kDifferenceSizeNames, "Beside what rounding leaves.");
  io.Must("distance", record.distance);
}

template <class Io, Is<OnsetRecord> T>
void Members(Io& io, T& record) {
  io.Noun("A record with both sides; of one that a side lacks, the other.");
  const OnsetRow row{record};
  Members(io, row);
  io.Must("at_least", record.from_norms, "The distance is that of the norms, and at least that.");
  io.Must("rounding", record.rounding);
  io.MayObject("a", record.state == RecordState::kOnlyB ? nullptr : &record.a);
  io.MayObject("b", record.state == RecordState::kOnlyA ? nullptr : &record.b);
}

template <class Io, Is<OnsetStep> T>
void Members(Io& io, T& step) {
  io.Noun("Relative distances; of parameters as the step begins.");
  io.Must("step", step.step);
  io.Must("compared", step.compared);
  io.Must("differing", step.differing);
  io.Must("parameters", step.parameters);
  io.Must("outputs", step.outputs);
  io.Must("loss", step.loss);
}

struct OnsetCurve {
  const CurveComparison& curve;
};

template <class Io, Is<OnsetCurve> T>
void Members(Io& io, T& one) {
  io.Must("name", one.curve.name);
  io.Name("state", one.curve.state, kCurveStateNames);
  io.Must("basis", one.curve.basis);
  io.Must("first_difference", one.curve.first_difference);
  io.Must("first_beyond", one.curve.first_beyond);
  io.Must("message", one.curve.message);
}

template <class Io, Is<Onset> T>
void Members(Io& io, T& onset) {
  io.Must("end", onset.end, About().OneOf("parts between_steps equal nothing_compared"));
  io.Must("what", onset.what,
          About("Of parts; else empty.")
              .OneOf(" batch batch_order initial_weights initial_state outside_of_steps operator "
                     "random_operator between_operators loss backward gradient settings optimizer "
                     "calls structure"));
  io.Must("layer", onset.what.empty() ? "" : LayerName(onset.layer),
          About().OneOf(" data code environment hardware randomness"));
  io.Must("rank", onset.rank);
  io.May("damaged", onset.damaged, "Lines could not be read: what seems missing may be there.");
  io.Must("equal_until", onset.equal_until);
  io.Must("growth", onset.growth,
          About().OneOf("none rounding_grows rounding_jumps change unknown"));
  io.Must("jump", onset.jump);
  io.MustList("steps", onset.steps);
  io.template ListAs<OnsetCurve>("curves", onset.curves);
  io.MayObject("origin", onset.origin);
  io.MustList("further_origins", onset.origins);
  io.template ListAs<OnsetRow>(
      "step", FirstOf(onset.strip),
      "All records of the origin's step, in network order; 20,000 at most.");
}

template <class Io, Is<CallTensor> T>
void Members(Io& io, T& tensor) {
  io.May("name", tensor.name, "Of a parameter, buffer, gradient, state or batch member.");
  io.MustPlain("shape", tensor.shape);
  io.Must("dtype", tensor.dtype);
  io.Must("digest", tensor.digest, "Empty: none.");
  io.Must("norm", tensor.norm);
  io.May("nonfinite", tensor.nonfinite);
  io.May("unseen", tensor.unseen, "Something that no call shows wrote it.");
  io.MayIf(tensor.count > 1, "count", tensor.count, "Of tensors that this one stands for.");
}

template <class Io, Is<Call> T>
void Members(Io& io, T& call) {
  io.Must("order", call.order);
  io.May("site", call.site, "FILE:LINE.");
  io.May("args", call.args, "Other arguments than tensors.");
  io.May("rng", call.rng, "State of the generator before it drew.");
  io.May("group", call.group, "Of a collective.");
  io.MustList("in", call.inputs);
  io.MustList("out", call.outputs);
}

template <class Io, Is<CallPair> T>
void Members(Io& io, T& pair) {
  io.Noun("A call with both sides; of one that a side lacks, the other.");
  io.Must("step", pair.a.step);
  io.Must("phase", pair.a.phase);
  io.Must("module", pair.a.module, "Empty: outside of modules, or not known.");
  io.Must("op", pair.a.op);
  io.May("unit", pair.a.unit, "One record for many operators.");
  io.Name("state", pair.state, kRecordStateNames);
  io.May("moved", pair.moved, "Both have it, in another order.");
  io.MayObject("a", pair.state == RecordState::kOnlyB ? nullptr : &pair.a);
  io.MayObject("b", pair.state == RecordState::kOnlyA ? nullptr : &pair.b);
}

template <class Io, Is<CallOnset> T>
void Members(Io& io, T& onset) {
  io.Must("end", onset.end, About().OneOf("parts equal other_rank nothing_compared"));
  io.Must("what", onset.what,
          About("Of parts; else empty.")
              .OneOf(" operator random_operator arguments collective calls unseen_write "
                     "unknown_input batch "
                     "initial_weights initial_state outside_of_steps outside_value"));
  io.Must("layer", onset.what.empty() ? "" : LayerName(onset.layer),
          About().OneOf(" data code environment hardware randomness"));
  io.Must("rank", onset.rank);
  io.Must("headline", onset.headline);
  io.Must("difference", onset.difference, "Of the origin, in a sentence.");
  io.Must("paired", onset.paired, "Calls that both have, in all common steps.");
  io.Must("differing", onset.differing, "Of these, with another output.");
  io.Must("only_a", onset.only_a);
  io.Must("only_b", onset.only_b);
  io.Must("moved", onset.moved);
  io.Must("unknown", onset.unknown, "Not judged: a digest is missing.");
  io.May("damaged", onset.damaged, "Lines could not be read: what seems missing may be there.");
  io.MayObject("origin", onset.origin);
  io.MustList("around", onset.around, "In the order of A.");
  io.MustList("further_origins", onset.further, "Of the step; 20 at most.");
  io.MustList("own", onset.own, "Of the step, in one run alone or moved; 40 at most.");
}

template <class Io, Is<OnsetTensor> T>
void Members(Io& io, T& tensor) {
  io.Must("name", tensor.name);
  io.Must("elements", tensor.elements, "0: only digests were at hand.");
  io.Must("differing", tensor.differing);
  io.Must("max_abs", tensor.max_abs);
  io.Must("relative", tensor.relative);
  io.Must("max_ulp", tensor.max_ulp);
}

template <class Io, Is<OnsetCheckpoint> T>
void Members(Io& io, T& one) {
  io.Must("name", one.name);
  io.Must("number", one.number);
  io.Name("state", one.state, kCheckpointStateNames);
}

template <class Io, Is<OnsetReport> T>
void Members(Io& io, T& report) {
  io.Schema("rharness.onset", 1);
  io.Must("version", report.version, "Of the program that wrote it.");
  io.Time("made", report.made, "RFC 3339, UTC.");
  io.Must("a", report.a, "What was given.");
  io.Must("b", report.b);
  io.Must("exit_code", report.exit_code,
          About("0 it is named where they part; 3 it is not.").OneOf("0 3"));
  io.Must("headline", report.headline, "The answer in one sentence.");
  io.Must("next", report.next, "What to do now.");
  io.MustPlain("reasons", report.reasons);
  io.MustList("checkpoints", report.checkpoints);
  io.MustList("tensors", report.tensors, "That differ, of the first checkpoint that does.");
  io.Must("tensor_order", report.tensor_order, "In words.");
  io.template ListAs<OnsetCurve>("curves", report.curves);
  io.MustPlain("notes", report.notes);
  io.MayObject("traces", report.traced ? &report.traces : nullptr,
               "Absent: not both sides have one.");
  io.MayObject("calls", report.calls, "Absent: not both sides have their operators.");
}

Json OnsetSchema() {
  return SchemaOf<OnsetReport>(
      {.id = "rharness.onset/v1",
       .title = "Where two runs part",
       .description = "Written by rharness compare --trace, as onset.json and with --json.",
       .number = "\"nan\": not known."});
}

Json ToJson(const OnsetReport& report) { return MemberWriter::Written(report); }

}  // namespace rharness
