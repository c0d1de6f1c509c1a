// The members of what a run measured: metrics and curves.
#ifndef RHARNESS_HARNESS_RECORDS_MANIFEST_RESULT_MEMBERS_H_
#define RHARNESS_HARNESS_RECORDS_MANIFEST_RESULT_MEMBERS_H_

#include "harness/base/strict_members.h"
#include "harness/records/manifest/manifest.h"
#include "harness/records/manifest/record_map_kinds.h"
#include "harness/verdict/states.h"

namespace rharness {

inline constexpr About kAboutUnread = About(
    "What the metrics file had that was not read, or not exactly, by member: its JSON text, "
    "of a longer one the SHA-256. Absent: not known.");

// As people ask for them; "" last.
inline constexpr NameTable<MetricDirection, 4> kDirectionNames = {
    {{MetricDirection::kHigher, "higher"},
     {MetricDirection::kLower, "lower"},
     {MetricDirection::kNone, "none"},
     {MetricDirection::kNotStated, ""}}};

template <class Io, Is<Metric> T>
void Members(Io& io, T& metric) {
  io.Noun("One number.");
  io.Must(kNameText, "name", metric.name);
  io.Must("value", metric.value);
  io.May(kPlainText, "unit", metric.unit, About("\"1\" for a pure number.").Examples("\"1\"\nnat"));
  io.May(EnumKind<kDirectionNames>(), "direction", metric.direction, "Which way is better.");
  io.May("primary", metric.primary, "Whether the verdict rests on it; absent: no.");
  io.UnlessEmpty("margin", metric.margin,
                 About("The difference that would matter, in the metric's unit.").Examples("0.01"));
  io.May(kSpanNumber, "quantum", metric.quantum,
         About("Resolution: 1/N of an accuracy over N examples; 0: continuous.")
             .Examples("0.002777777777777778"));
  io.UnlessEmpty(kPlainText, "evaluated_on", metric.evaluated_on,
                 About("Name of the entry of data that it was measured on; one that has a digest.")
                     .Examples("digits"));
}

// Steps and values, which must both be there.
struct PointsKind {
  template <class T>
  static void Read(JsonReader& reader, std::string_view key, bool, std::vector<T>* out) {
    if (!reader.Has(key)) return reader.Fail("missing; expected an array of numbers", key);
    reader.ReadArray(key, out);
  }
  template <class T>
  static Json Describe(StrictSchema& schema) {
    return Json::MakeObject(
        {{"type", "array"}, {"items", schema.OfType<typename T::value_type>()}});
  }
};

template <class Io, class T>
void PointMembers(Io& io, T& curve) {
  io.Must(PointsKind(), "steps", curve.steps,
          About("Strictly increasing.").Examples("[0, 10, 20]"));
  io.Must(PointsKind(), "values", curve.values,
          About("As many as steps.").Examples(R"([2.3, 0.5, "nan"])"));
}

void CheckMembers(JsonReader& reader, const Curve& curve);

template <class Io, Is<Curve> T>
void Members(Io& io, T& curve) {
  io.Noun("One curve.");
  io.Must(kNameText, "name", curve.name);
  PointMembers(io, curve);
}

// A curve whose name stands before it.
struct CurvePoints {
  Curve curve;
};
void CheckMembers(JsonReader& reader, const CurvePoints& points);

template <class Io, Is<CurvePoints> T>
void Members(Io& io, T& points) {
  io.Noun("A curve: one value a step.");
  PointMembers(io, points.curve);
}

template <class Io, Is<RunMetrics> T>
void Members(Io& io, T& metrics) {
  io.Noun("In the form of the file that a run writes.");
  io.May(kByName, "metrics", metrics.metrics,
         About("Values by name.").Examples(R"({"accuracy": 0.991})"));
  io.May(kCurvesByName, "curves", metrics.curves, "Curves by name.");
  io.May(kByName, "software", metrics.software,
         About("Versions of the libraries that the run itself names.")
             .Examples(R"({"torch": "2.1.0"})"));
}

}  // namespace rharness

#endif  // RHARNESS_HARNESS_RECORDS_MANIFEST_RESULT_MEMBERS_H_
