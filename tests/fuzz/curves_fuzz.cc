// Fuzzes the curve readers, and the comparison with what they accept: no crash, no undefined
// behaviour, accepted curves obey series.h, and a curve compared with itself is never anything but
// identical or unable to tell.
//
// Run: rharness-curves-fuzz -max_total_time=60 -dict=curves.dict CORPUS curves_seeds
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "compare/curves/curve_comparison.h"
#include "compare/curves/curve_files.h"

namespace rharness {
namespace {

void Require(bool holds) {
  if (!holds) std::abort();
}

void CheckAccepted(const std::vector<CurveSeries>& curves) {
  Require(!curves.empty());
  std::set<std::string> names;
  for (const CurveSeries& curve : curves) {
    Require(!curve.name.empty() && names.insert(curve.name).second);
    Require(curve.steps.size() == curve.values.size());
    for (std::size_t i = 1; i < curve.steps.size(); ++i) {
      Require(curve.steps[i - 1] < curve.steps[i]);
    }
    Require(std::isfinite(curve.quantum) && curve.quantum >= 0.0);
  }
}

void CheckComparison(const CurveComparison& found) {
  Require(!found.message.empty() && !found.rule.empty());
  Require(found.a.size() == found.steps.size() && found.b.size() == found.steps.size());
  Require(found.band.empty() || found.band.size() == found.steps.size());
  Require((found.state == CurveState::kVacuous) == !found.vacuity.empty());
  Require(found.first_difference.has_value() == (found.differing > 0));
  Require(found.state != CurveState::kIdentical || found.differing == 0);
}

void CheckComparisons(const std::vector<CurveSeries>& curves) {
  for (const CurveComparison& found : CompareCurves(curves, curves, {curves}, {})) {
    CheckComparison(found);
    Require(found.state == CurveState::kIdentical || found.state == CurveState::kVacuous);
  }
  std::vector<CurveSeries> other = curves;
  std::vector<CurveSeries> third = curves;
  for (std::size_t c = 0; c < curves.size(); ++c) {
    for (std::size_t i = c % 2; i < other[c].values.size(); i += 2) other[c].values[i] *= 1.001;
    for (std::size_t i = 0; i < third[c].values.size(); i += 3) third[c].values[i] += 0.5;
  }
  for (const auto& replicates : {std::vector<std::vector<CurveSeries>>{}, {third}}) {
    for (const CurveComparison& found : CompareCurves(curves, other, replicates, {})) {
      CheckComparison(found);
    }
  }
}

}  // namespace
}  // namespace rharness

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto parsed = rharness::ParseCurves(text, "fuzz");
  if (parsed.ok()) {
    rharness::CheckAccepted(*parsed);
    rharness::CheckComparisons(*parsed);
  } else {
    const rharness::Error& error = parsed.error();
    rharness::Require(error.code == rharness::ErrorCode::kInvalidInput);
    rharness::Require(error.where.starts_with("fuzz") && !error.message.empty());
  }
  return 0;
}
