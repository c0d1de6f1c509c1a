// Comparisons as JSON, "rharness.comparison/v1", and back, with errors that
// name the JSON path. Members come in the order of the structs; numbers that are not finite
// are strings. It is input like any other: its counts must match its verdicts.
#include "reports/comparison_members.h"
#include "reports/comparison_report.h"
#include "reports/comparison_summary.h"
#include "reports/json_parts.h"

namespace rharness {

Json ToJson(const ComparisonSet& set) {
  Json json;
  MemberWriter io(&json);
  Members(io, set);
  if (IsSingle(set)) {
    SingleMembers(io, set, set.comparisons.front());
  } else {
    SetMembers(io, set);
  }
  return json;
}

Result<ComparisonSet> ParseComparisonSet(const Json& json, std::string_view file) {
  JsonReader reader(json, std::string(file));
  ComparisonSet set;
  MemberReader io(&reader);
  Members(io, set);
  if (reader.ok() && !reader.Has("verdict") && !reader.Has("comparisons")) {
    reader.Fail("missing; expected a verdict, or 'comparisons' of a set", "verdict");
  }
  if (reader.Has("comparisons")) {
    SetMembers(io, set);
  } else {
    SingleMembers(io, set, set.comparisons.emplace_back());
    set.counts = CountVerdicts({set.comparisons.front().verdict});
  }
  std::vector<Verdict> verdicts;
  for (const Comparison& comparison : set.comparisons) verdicts.push_back(comparison.verdict);
  CheckTally(reader, verdicts, set.counts, set.exit_code);
  RETURN_IF_ERROR(reader.status());
  return set;
}

}  // namespace rharness
