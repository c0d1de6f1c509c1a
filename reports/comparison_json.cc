// Comparisons as JSON, "rharness.comparison/v1" (comparison.schema.json), and back, with errors
// that name the JSON path. Members come in the order of the structs; numbers that are not finite
// are strings. It is input like any other: its counts must match its verdicts.
#include <fmt/format.h>

#include "reports/comparison_parts.h"
#include "reports/comparison_report.h"
#include "reports/comparison_summary.h"
#include "reports/json_nouns.h"
#include "reports/json_parts.h"

namespace rharness {

template <class Io, Is<ComparedSide> T>
void Members(Io& io, T& side) {
  io.May("path", side.path);
  io.May("kind", side.kind);
  io.May("detail", side.detail);
}

template <class Io, Is<Comparison> T>
void Members(Io& io, T& comparison) {
  io.May("name", comparison.name);
  io.MayObject("a", comparison.a);
  io.MayObject("b", comparison.b);
  io.May("expect_bitwise", comparison.expect_bitwise);
  io.Text("verdict", comparison.verdict, VerdictName, ParseVerdict);
  io.May("headline", comparison.headline);
  io.List("findings", comparison.findings);
  io.List("causes", comparison.causes);
  LayerMembers(io, comparison.layers);
  io.List("checkpoints", comparison.checkpoints);
  io.List("curves", comparison.curves);
  io.List("metrics", comparison.metrics);
  io.Plain("notes", comparison.notes);
  if constexpr (Io::kWrites) {
    if (!comparison.is_rerun) return;
  } else {
    comparison.is_rerun = io.json().Has("reruns");
  }
  io.List("reruns", comparison.ends);
  io.May("declared_bitwise", comparison.declared_bitwise);
  io.May("more_reruns", comparison.more_reruns);
  io.May("more_runs", comparison.more_runs);
}

// The members above one comparison and above many.
template <class Io, Is<ComparisonSet> T>
void Members(Io& io, T& set) {
  io.May("title", set.title);
  io.May("version", set.version);
  io.MayText("made", set.made, FormatTime, ParseTime);
  io.Must("exit_code", set.exit_code);
}

Json ToJson(const ComparisonSet& set) {
  Json json;
  json.Set("schema", fmt::format("rharness.comparison/v{}", kComparisonVersion));
  MemberWriter io(&json);
  Members(io, set);
  if (IsSingle(set)) {
    io.Plain("set_notes", set.notes);
    Members(io, set.comparisons.front());
  } else {
    json.Set("counts", CountsJson(set.counts));
    io.Plain("notes", set.notes);
    io.List("comparisons", set.comparisons);
  }
  return json;
}

Result<ComparisonSet> ParseComparisonSet(const Json& json, std::string_view file) {
  JsonReader reader(json, std::string(file));
  ComparisonSet set;
  reader.ReadSchema("rharness.comparison", kComparisonVersion);
  MemberReader io(&reader);
  Members(io, set);
  if (reader.ok() && !reader.Has("verdict") && !reader.Has("comparisons")) {
    reader.Fail("missing; expected a verdict, or 'comparisons' of a set", "verdict");
  }
  if (reader.Has("comparisons")) {
    ReadCounts(reader, &set.counts);
    io.Plain("notes", set.notes);
    io.List("comparisons", set.comparisons);
  } else {
    io.Plain("set_notes", set.notes);
    MemberReader::ReadInto(reader, set.comparisons.emplace_back());
    set.counts = CountVerdicts({set.comparisons.front().verdict});
  }
  std::vector<Verdict> verdicts;
  for (const Comparison& comparison : set.comparisons) verdicts.push_back(comparison.verdict);
  CheckTally(reader, verdicts, set.counts, set.exit_code);
  RETURN_IF_ERROR(reader.status());
  return set;
}

}  // namespace rharness
