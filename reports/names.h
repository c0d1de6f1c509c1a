// Spellings of the compare enums in both directions, as report.json and comparison.json write them
// and every writer shows them.
#ifndef RHARNESS_REPORTS_NAMES_H_
#define RHARNESS_REPORTS_NAMES_H_

#include <array>
#include <string_view>
#include <utility>

#include "compare/comparison.h"
#include "compare/curves/curve_comparison.h"
#include "compare/exact.h"
#include "compare/facts.h"
#include "compare/metrics/decision.h"
#include "harness/verdict/verdict.h"

namespace rharness {

// A table of (value, name), read in both directions.
template <class T, std::size_t n>
using NameTable = std::array<std::pair<T, std::string_view>, n>;

inline constexpr NameTable<ExactComparison::State, 4> kExactStateNames = {
    {{ExactComparison::State::kEqual, "equal"},
     {ExactComparison::State::kDiffers, "differs"},
     {ExactComparison::State::kMissing, "missing"},
     {ExactComparison::State::kVacuous, "vacuous"}}};

inline constexpr NameTable<ComparedBy, 5> kComparedByNames = {
    {{ComparedBy::kTensors, "tensors"},
     {ComparedBy::kTensorDigests, "tensor_digests"},
     {ComparedBy::kFileDigest, "file_sha256"},
     {ComparedBy::kValues, "values"},
     {ComparedBy::kNothing, "nothing"}}};

inline constexpr NameTable<RerunEnd::State, 4> kRerunStateNames = {
    {{RerunEnd::State::kCompared, "compared"},
     {RerunEnd::State::kNotComparable, "not_comparable"},
     {RerunEnd::State::kFailed, "failed"},
     {RerunEnd::State::kInfra, "infra"}}};

inline constexpr NameTable<FactWeight, 3> kFactWeightNames = {{{FactWeight::kIdentity, "identity"},
                                                               {FactWeight::kClass, "class"},
                                                               {FactWeight::kContext, "context"}}};

inline constexpr NameTable<FactUse, 3> kFactUseNames = {
    {{FactUse::kNotKnown, "not_known"}, {FactUse::kUsed, "used"}, {FactUse::kNotUsed, "not_used"}}};

// A table from the function that names an enumeration where it is declared.
template <class T, std::size_t n>
NameTable<T, n> NamesFrom(std::string_view (*name)(T), const std::array<T, n>& values) {
  NameTable<T, n> table{};
  for (std::size_t i = 0; i < n; ++i) table[i] = {values[i], name(values[i])};
  return table;
}

inline const NameTable<Strength, 3> kStrengthNames = NamesFrom<Strength, 3>(
    StrengthName, {Strength::kShown, Strength::kLikely, Strength::kPossible});
inline const NameTable<LayerState, 4> kLayerStateNames = NamesFrom<LayerState, 4>(
    LayerStateName,
    {LayerState::kSame, LayerState::kDiffers, LayerState::kUnknown, LayerState::kPartlyKnown});
inline const NameTable<MetricVerdict, 4> kMetricVerdictNames = NamesFrom<MetricVerdict, 4>(
    MetricVerdictName, {MetricVerdict::kWithin, MetricVerdict::kDrifted,
                        MetricVerdict::kNeedsConfirmation, MetricVerdict::kInconclusive});
inline const NameTable<CurveState, 6> kCurveStateNames = NamesFrom<CurveState, 6>(
    CurveStateName, {CurveState::kIdentical, CurveState::kWithin, CurveState::kBeyond,
                     CurveState::kUndecided, CurveState::kVacuous, CurveState::kMissing});
inline const NameTable<CurveKind, 3> kCurveKindNames = NamesFrom<CurveKind, 3>(
    CurveKindName, {CurveKind::kLoss, CurveKind::kMetric, CurveKind::kResource});

inline const NameTable<DifferenceNature, 6> kDifferenceNatureNames = NamesFrom<DifferenceNature, 6>(
    DifferenceNatureName,
    {DifferenceNature::kRounding, DifferenceNature::kNewStream, DifferenceNature::kOtherBatches,
     DifferenceNature::kShifted, DifferenceNature::kProgress, DifferenceNature::kSpike});

// The name of a value of the table; empty for none.
template <class T, std::size_t n>
constexpr std::string_view NameIn(const NameTable<T, n>& table, T value) {
  for (const auto& [key, name] : table) {
    if (key == value) return name;
  }
  return {};
}

}  // namespace rharness

#endif  // RHARNESS_REPORTS_NAMES_H_
