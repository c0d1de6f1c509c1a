// Evaluations as they are logged, and the curves they make.
#include "compare/results/mllog_evaluations.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <map>

namespace rharness {
namespace {

constexpr std::size_t kMaxEvaluations = 100'000;
constexpr std::size_t kMaxMetricBytes = 256;
constexpr double kMaxPosition = 1e15;

// As Python's round(x, 3): to the nearest decimal of the exact value, ties to even.
double RoundToThousandth(double value) {
  return std::strtod(fmt::format("{:.3f}", value).c_str(), nullptr);
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
  const std::optional<double> value = event.value->ToDouble();
  if (!value) return InvalidInput(fmt::format("{}: expected a number", event.key), place);
  Taken taken{.name = event.key, .value = *value, .line = event.line};
  if (const Json* metric = event.metadata->Find("metric"); metric != nullptr) {
    if (metric->kind() != Json::Kind::kString || metric->AsString().size() > kMaxMetricBytes) {
      return InvalidInput(
          fmt::format("metadata.metric: expected a string of at most {} bytes", kMaxMetricBytes),
          place);
    }
    taken.name += "/" + metric->AsString();
  }
  ASSIGN_OR_RETURN(taken.epoch, ReadPosition(*event.metadata, "epoch_num", place));
  if (taken.epoch) taken.epoch = RoundToThousandth(*taken.epoch);
  ASSIGN_OR_RETURN(taken.samples, ReadPosition(*event.metadata, "samples_count", place));
  taken_.push_back(std::move(taken));
  return {};
}

ConvergenceUnit MllogEvaluations::GuessUnit() const {
  const bool all_samples = std::all_of(taken_.begin(), taken_.end(),
                                       [](const Taken& one) { return one.samples.has_value(); });
  return all_samples && !empty() ? ConvergenceUnit::kSamples : ConvergenceUnit::kEpochs;
}

Result<double> MllogEvaluations::Position(const Taken& one, ConvergenceUnit unit) const {
  const bool samples = unit == ConvergenceUnit::kSamples;
  const std::optional<double>& position = samples ? one.samples : one.epoch;
  if (position) return *position;
  return InvalidInput(fmt::format("{}: no metadata.{}, by which this benchmark counts", one.name,
                                  samples ? "samples_count" : "epoch_num"),
                      MllogPlace(file_, one.line));
}

Result<std::vector<MllogCurve>> MllogEvaluations::Curves(ConvergenceUnit unit) const {
  std::map<std::string, std::map<double, MllogEvaluation>> sorted;
  for (const Taken& one : taken_) {
    ASSIGN_OR_RETURN(const double position, Position(one, unit));
    const auto [at, is_new] =
        sorted[one.name].try_emplace(position, MllogEvaluation{position, one.value, one.line});
    if (!is_new && !SameBits(at->second.value, one.value)) {
      return InvalidInput(fmt::format("{} at {} is {} here and {} on line {}", one.name, position,
                                      one.value, at->second.value, at->second.line),
                          MllogPlace(file_, one.line));
    }
  }
  std::vector<MllogCurve> curves;
  for (const auto& [name, evaluations] : sorted) {
    MllogCurve& curve = curves.emplace_back(MllogCurve{.name = name});
    for (const auto& [position, evaluation] : evaluations) curve.evaluations.push_back(evaluation);
  }
  return curves;
}

Result<double> MllogEvaluations::Last(ConvergenceUnit unit) const {
  return Position(taken_.back(), unit);
}

}  // namespace rharness
