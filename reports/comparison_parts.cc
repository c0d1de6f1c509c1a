// What a curve must be beyond its members; see comparison_parts.h.
#include "reports/comparison_parts.h"

#include <fmt/format.h>

namespace rharness {

void CheckRead(JsonReader& reader, const CurveComparison& curve) {
  if (!reader.ok()) return;
  const std::size_t expected = curve.steps.size();
  if (curve.a.size() != expected) {
    reader.Fail(fmt::format("expected {} values, one a step", expected), "a");
  }
  if (curve.b.size() != expected) {
    reader.Fail(fmt::format("expected {} values, one a step", expected), "b");
  }
  if (!curve.band.empty() && curve.band.size() != expected) {
    reader.Fail(fmt::format("expected no value, or {}, one a step", expected), "band");
  }
  if (!curve.middle.empty() && curve.middle.size() != expected) {
    reader.Fail(fmt::format("expected no value, or {}, one a step", expected), "middle");
  }
}

}  // namespace rharness
