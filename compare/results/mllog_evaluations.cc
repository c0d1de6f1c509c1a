// Evaluations as they are logged, and the curves they make.
#include "compare/results/mllog_evaluations.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

namespace rharness {
namespace {

constexpr std::size_t kMaxEvaluations = 100'000;
constexpr std::size_t kMaxMetricBytes = 256;
constexpr std::size_t kMaxAtOnePosition = 16;
constexpr double kMaxPosition = 1e15;

constexpr std::array<std::pair<ConvergenceUnit, std::string_view>, 3> kPositionKeys = {
    {{ConvergenceUnit::kEpochs, "epoch_num"},
     {ConvergenceUnit::kSamples, "samples_count"},
     {ConvergenceUnit::kSteps, "step_num"}}};

std::string_view KeyOf(ConvergenceUnit unit) {
  return std::ranges::find(kPositionKeys, unit,
                           &std::pair<ConvergenceUnit, std::string_view>::first)
      ->second;
}

Result<std::optional<double>> ReadPosition(const Json& metadata, std::string_view key,
                                           const std::string& place) {
  const Json* member = metadata.Find(key);
  if (member == nullptr || member->IsNull()) return std::optional<double>();
  const std::optional<double> position = member->ToDouble();
  if (!position || !(*position >= 0.0 && *position <= kMaxPosition)) {
    return InvalidInput(fmt::format("metadata.{}: expected a number in [0, {}]", key, kMaxPosition),
                        place);
  }
  return position;
}

bool SameBits(double a, double b) {
  return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

}  // namespace

Status MllogEvaluations::Take(const MllogEvent& event) {
  const std::string place = MllogPlace(file_, event.line);
  if (taken_.size() >= kMaxEvaluations) {
    return InvalidInput(fmt::format("more than {} evaluations", kMaxEvaluations), place);
  }
  Taken taken{.name = event.key, .value = 0.0, .line = event.line};
  if (const Json* metric = event.metadata->Find("metric"); metric != nullptr) {
    if (metric->kind() != Json::Kind::kString || metric->AsString().size() > kMaxMetricBytes) {
      return InvalidInput(
          fmt::format("metadata.metric: expected a string of at most {} bytes", kMaxMetricBytes),
          place);
    }
    taken.name += "/" + metric->AsString();
  }
  for (const auto& [unit, key] : kPositionKeys) {
    ASSIGN_OR_RETURN(const std::optional<double> at, ReadPosition(*event.metadata, key, place));
    if (at) taken.positions[unit] = *at;
  }
  return TakeValues(*event.value, std::move(taken), place);
}

// A number, or several by name: Mask R-CNN logs {"BBOX": 0.378, "SEGM": 0.343}.
Status MllogEvaluations::TakeValues(const Json& value, Taken taken, const std::string& place) {
  if (const auto number = value.ToDouble()) {
    taken.value = *number;
    taken_.push_back(std::move(taken));
    return {};
  }
  if (value.IsObject()) {
    for (const auto& [metric, one] : value.AsObject()) {
      const auto number = one.ToDouble();
      if (!number || metric.size() > kMaxMetricBytes) continue;
      taken_.push_back(taken);
      taken_.back().name += "/" + metric;
      taken_.back().value = *number;
    }
    if (!taken_.empty() && taken_.back().line == taken.line) return {};
  }
  return InvalidInput(
      fmt::format("{}: expected a number, or an object of numbers by metric", taken.name), place);
}

bool MllogEvaluations::Has(ConvergenceUnit unit) const {
  return !empty() && std::ranges::all_of(
                         taken_, [&](const Taken& one) { return one.positions.contains(unit); });
}

Result<double> MllogEvaluations::Position(const Taken& one, ConvergenceUnit unit) const {
  if (const auto at = one.positions.find(unit); at != one.positions.end()) return at->second;
  return InvalidInput(
      fmt::format("{}: no metadata.{}, by which this benchmark counts", one.name, KeyOf(unit)),
      MllogPlace(file_, one.line));
}

Result<std::vector<MllogCurve>> MllogEvaluations::Curves(ConvergenceUnit unit) const {
  std::map<std::string, std::vector<MllogEvaluation>> by_name;
  for (const Taken& one : taken_) {
    ASSIGN_OR_RETURN(const double position, Position(one, unit));
    by_name[one.name].push_back({position, one.value, one.line});
  }
  std::vector<MllogCurve> curves;
  for (auto& [name, evaluations] : by_name) {
    std::ranges::stable_sort(evaluations, {}, &MllogEvaluation::position);
    RETURN_IF_ERROR(AddCurves(name, evaluations, &curves));
  }
  return curves;
}

// The first evaluation at each position is of the first curve, and so on.
Status MllogEvaluations::AddCurves(const std::string& name,
                                   const std::vector<MllogEvaluation>& sorted,
                                   std::vector<MllogCurve>* curves) const {
  std::vector<MllogCurve> own;
  std::vector<double> here;  // the values at the position
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    const MllogEvaluation& one = sorted[i];
    if (i == 0 || sorted[i - 1].position != one.position) here.clear();
    const auto again = [&](double value) { return SameBits(value, one.value); };
    if (std::ranges::any_of(here, again)) continue;
    if (here.size() == kMaxAtOnePosition) {
      return InvalidInput(
          fmt::format("{}: more than {} evaluations at {}", name, kMaxAtOnePosition, one.position),
          MllogPlace(file_, one.line));
    }
    if (own.size() == here.size()) {
      own.push_back({.name = own.empty() ? name : fmt::format("{} #{}", name, own.size() + 1)});
    }
    own[here.size()].evaluations.push_back(one);
    here.push_back(one.value);
  }
  std::ranges::move(own, std::back_inserter(*curves));
  return {};
}

Result<std::map<double, std::map<std::string, double>>> MllogEvaluations::LastValues(
    ConvergenceUnit unit) const {
  std::map<double, std::map<std::string, double>> values;
  for (const Taken& one : taken_) {
    ASSIGN_OR_RETURN(const double position, Position(one, unit));
    values[position][one.name] = one.value;
  }
  return values;
}

Result<double> MllogEvaluations::Last(ConvergenceUnit unit) const {
  return Position(taken_.back(), unit);
}

}  // namespace rharness
