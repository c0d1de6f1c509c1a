// Fuzzes the reader of traces, and the search for where two of them part: what is accepted obeys
// trace.h, a trace beside itself does not part, and beside another it ends in one of the words that
// onset.h has.
//
// Run: rharness-traces-fuzz -max_total_time=60 -dict=traces.dict CORPUS traces_seeds
#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "compare/traces/onset.h"
#include "tests/fuzz/fuzz_check.h"

namespace rharness {
namespace {

const std::set<std::string> kEnds = {"equal", "parts", "between_steps", "nothing_compared"};

void CheckTrace(const Trace& trace, std::size_t size) {
  Require(trace.records.size() <= size && trace.bad_lines <= size);
  Require(trace.notes.size() <= std::min(trace.bad_lines, std::size_t{6}) + 1);
  const auto place = [](const TraceRecord& record) { return std::pair(record.step, record.order); };
  Require(std::ranges::is_sorted(trace.records, {}, place));
  for (const TraceRecord& record : trace.records) {
    Require(record.name.size() <= 4096 && record.shape.size() <= 64 && record.sketch.size() <= 64);
    Require(!TraceKindName(record.kind).empty());
  }
}

void CheckOnset(const Onset& onset) {
  Require(kEnds.contains(onset.end) && !onset.headline.empty());
  const bool parts = onset.end == "parts";
  Require(onset.origin.has_value() == (parts || onset.end == "between_steps"));
  Require(parts == !onset.what.empty());
  Require(onset.origins.size() <= kMostOrigins);
  for (const OnsetStep& step : onset.steps) Require(step.differing <= step.compared);
}

// Other bits here and there, a step that ends early, and a record that is not there.
Trace Another(Trace trace) {
  for (std::size_t i = 0; i < trace.records.size(); i += 3) {
    TraceRecord& record = trace.records[i];
    record.digest += record.digest.empty() ? "" : "'";
    record.norm *= 1.5;
    if (!record.sketch.empty()) record.sketch.back() += 0.25;
    if (record.kind == TraceKind::kSetting) record.value += "'";
  }
  if (trace.records.size() > 4) trace.records.erase(trace.records.begin() + 1);
  if (trace.records.size() > 6) trace.records.pop_back();
  trace.ended = false;
  return trace;
}

void Check(std::string_view text) {
  const auto trace = ParseTrace(text, "fuzz");
  if (!trace.ok()) return RequireError(trace.error(), {ErrorCode::kInvalidInput}, "fuzz");
  CheckTrace(*trace, text.size());
  const Onset same = FindOnset({*trace}, {*trace});
  CheckOnset(same);
  Require(same.end == "equal" || same.end == "nothing_compared");
  const Trace other = Another(*trace);
  CheckOnset(FindOnset({*trace}, {other}));
  CheckOnset(FindOnset({other}, {*trace}, {{*trace}, {other}}));
}

}  // namespace
}  // namespace rharness

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  rharness::Check(rharness::TextOf(data, size));
  return 0;
}
