// Reading "rharness.comparison/v1" back, with errors that name the JSON path. It is input like any
// other: what its counts claim must be what its verdicts say, and the vectors of a curve must have
// one length.
#include "reports/comparison_parts.h"
#include "reports/comparison_report.h"
#include "reports/json_parts.h"

namespace rharness {
namespace {

ComparedSide ReadSide(JsonReader& reader) {
  ComparedSide side;
  reader.ReadOptional("path", &side.path);
  reader.ReadOptional("kind", &side.kind);
  reader.ReadOptional("detail", &side.detail);
  return side;
}

Comparison ReadComparison(JsonReader& reader) {
  Comparison comparison;
  reader.ReadOptional("name", &comparison.name);
  reader.ReadObject("a", false, [&](JsonReader& r) { comparison.a = ReadSide(r); });
  reader.ReadObject("b", false, [&](JsonReader& r) { comparison.b = ReadSide(r); });
  reader.ReadOptional("expect_bitwise", &comparison.expect_bitwise);
  ReadAs(reader, "verdict", &comparison.verdict, ParseVerdict);
  reader.ReadOptional("headline", &comparison.headline);
  reader.ForEach("findings", [&](JsonReader& r) { comparison.findings.push_back(ReadFinding(r)); });
  reader.ForEach("causes", [&](JsonReader& r) { comparison.causes.push_back(ReadCause(r)); });
  ReadLayers(reader, &comparison.layers);
  reader.ForEach("checkpoints",
                 [&](JsonReader& r) { comparison.checkpoints.push_back(ReadCheckpoint(r)); });
  reader.ForEach("curves", [&](JsonReader& r) { comparison.curves.push_back(ReadCurve(r)); });
  reader.ForEach("metrics", [&](JsonReader& r) { comparison.metrics.push_back(ReadMetric(r)); });
  reader.ReadArray("notes", &comparison.notes);
  comparison.is_rerun = reader.Has("reruns");
  reader.ForEach("reruns", [&](JsonReader& r) { comparison.ends.push_back(ReadEnd(r)); });
  reader.ReadOptional("declared_bitwise", &comparison.declared_bitwise);
  reader.ReadOptional("more_reruns", &comparison.more_reruns);
  return comparison;
}

void ReadSet(JsonReader& reader, ComparisonSet* set) {
  reader.ForEachMember("counts", [&](const std::string& verdict, JsonReader& count) {
    count.Get(&set->counts[verdict]);
  });
  reader.ReadArray("notes", &set->notes);
  reader.ForEach("comparisons",
                 [&](JsonReader& r) { set->comparisons.push_back(ReadComparison(r)); });
}

void ReadSingle(JsonReader& reader, ComparisonSet* set) {
  reader.ReadArray("set_notes", &set->notes);
  set->comparisons.push_back(ReadComparison(reader));
  set->counts = CountVerdicts({set->comparisons.front().verdict});
}

}  // namespace

Result<ComparisonSet> ParseComparisonSet(const Json& json, std::string_view file) {
  JsonReader reader(json, std::string(file));
  ComparisonSet set;
  reader.ReadSchema("rharness.comparison", kComparisonVersion);
  reader.ReadOptional("title", &set.title);
  reader.ReadOptional("version", &set.version);
  if (reader.Has("made")) ReadAs(reader, "made", &set.made, ParseTime);
  reader.Read("exit_code", &set.exit_code);
  if (reader.ok() && !reader.Has("verdict") && !reader.Has("comparisons")) {
    reader.Fail("missing; expected a verdict, or 'comparisons' of a set", "verdict");
  }
  reader.Has("comparisons") ? ReadSet(reader, &set) : ReadSingle(reader, &set);
  std::vector<Verdict> verdicts;
  for (const Comparison& comparison : set.comparisons) verdicts.push_back(comparison.verdict);
  CheckTally(reader, verdicts, set.counts, set.exit_code);
  RETURN_IF_ERROR(reader.status());
  return set;
}

}  // namespace rharness
