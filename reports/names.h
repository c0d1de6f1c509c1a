// Spellings of the compare enums that have no names of their own, as report.json writes them and
// every writer shows them.
#ifndef RHARNESS_REPORTS_NAMES_H_
#define RHARNESS_REPORTS_NAMES_H_

#include <array>
#include <string_view>
#include <utility>

#include "compare/curves/curve_comparison.h"
#include "compare/verdict.h"

namespace rharness {

// A table of (value, name), read in both directions.
template <class T, std::size_t n>
using NameTable = std::array<std::pair<T, std::string_view>, n>;

inline constexpr NameTable<ExactComparison::State, 4> kExactStateNames = {
    {{ExactComparison::State::kEqual, "equal"},
     {ExactComparison::State::kDiffers, "differs"},
     {ExactComparison::State::kMissing, "missing"},
     {ExactComparison::State::kVacuous, "vacuous"}}};

inline constexpr NameTable<FactWeight, 3> kFactWeightNames = {{{FactWeight::kIdentity, "identity"},
                                                               {FactWeight::kClass, "class"},
                                                               {FactWeight::kContext, "context"}}};

inline constexpr NameTable<CurveState, 6> kCurveStateNames = {
    {{CurveState::kIdentical, "identical"},
     {CurveState::kWithin, "within"},
     {CurveState::kBeyond, "beyond"},
     {CurveState::kUndecided, "undecided"},
     {CurveState::kVacuous, "vacuous"},
     {CurveState::kMissing, "missing"}}};

inline constexpr NameTable<CurveKind, 3> kCurveKindNames = {{{CurveKind::kLoss, "loss"},
                                                             {CurveKind::kMetric, "metric"},
                                                             {CurveKind::kResource, "resource"}}};

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
