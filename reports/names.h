// Spellings of the compare enums in both directions, as report.json and comparison.json write them
// and every writer shows them.
#ifndef RHARNESS_REPORTS_NAMES_H_
#define RHARNESS_REPORTS_NAMES_H_

#include <string_view>

#include "compare/comparison.h"
#include "compare/curves/curve_comparison.h"
#include "compare/exact.h"
#include "compare/facts.h"
#include "compare/metrics/decision.h"
#include "harness/base/member_facts.h"
#include "harness/verdict/verdict.h"

namespace rharness {

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

inline const NameTable<Verdict, 7> kVerdictNames = NamesFrom<Verdict, 7>(VerdictName, kVerdicts);
inline const NameTable<Layer, 5> kLayerNames = NamesFrom<Layer, 5>(LayerName, kLayers);
// For schemas, of what is written and read as text.
inline const auto& NamesOf(Verdict) { return kVerdictNames; }
inline const auto& NamesOf(Layer) { return kLayerNames; }

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

}  // namespace rharness

#endif  // RHARNESS_REPORTS_NAMES_H_
