// Distances of evaluations, and the mean of a count that is rounded up to a grid.
#include "compare/results/evaluation_grid.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

namespace rharness {
namespace {

constexpr std::size_t kLastDistances = 5;
constexpr double kSameShare = 1e-6;  // of an interval: decimals that are no doubles

double UpperMedian(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// The integral of the first point of the grid at or after c, over c from one of its points on.
double RoundedUpFrom(double point, double interval, double to) {
  const double whole = std::floor((to - point) / interval);
  const double rest = to - point - whole * interval;
  return interval * (whole * point + interval * whole * (whole + 1.0) / 2.0) +
         rest * (point + (whole + 1.0) * interval);
}

// The mean of c rounded up to the grid, over c in (from, to].
double MeanRoundedUp(double from, double to, const EvaluationGrid& grid) {
  const double steps = std::floor((from - grid.offset) / grid.interval);
  const double point = grid.offset + steps * grid.interval;
  return (RoundedUpFrom(point, grid.interval, to) - RoundedUpFrom(point, grid.interval, from)) /
         (to - from);
}

}  // namespace

std::optional<EvaluationGrid> GridOf(const MllogRun& run) {
  if (run.curves.empty() || run.curves.front().evaluations.empty()) return std::nullopt;
  const std::vector<MllogEvaluation>& evaluations = run.curves.front().evaluations;
  const double last = run.converged_at.value_or(evaluations.back().position);
  std::vector<double> distances;
  for (std::size_t i = evaluations.size(); i-- > 1 && distances.size() < kLastDistances;) {
    if (evaluations[i].position > last) continue;
    distances.push_back(evaluations[i].position - evaluations[i - 1].position);
  }
  const double interval = distances.empty() ? last : UpperMedian(std::move(distances));
  if (!(interval > 0.0)) return std::nullopt;
  double offset = std::fmod(last, interval);
  if (offset < kSameShare * interval || offset > (1.0 - kSameShare) * interval) offset = 0.0;
  return EvaluationGrid{interval, offset};
}

std::optional<EvaluationGrid> GridOf(const std::vector<MllogRun>& runs) {
  std::vector<EvaluationGrid> grids;
  for (const MllogRun& run : runs) {
    if (const auto grid = GridOf(run)) grids.push_back(*grid);
  }
  if (grids.empty()) return std::nullopt;
  std::ranges::stable_sort(grids, {}, &EvaluationGrid::interval);
  return grids[grids.size() / 2];
}

std::string DescribeGrid(const EvaluationGrid& grid, ConvergenceUnit unit) {
  const std::string_view units = ConvergenceUnitName(unit);
  const std::string every = grid.interval == 1.0 ? std::string(units.substr(0, units.size() - 1))
                                                 : fmt::format("{:.9g} {}", grid.interval, units);
  return fmt::format("every {}{}", every,
                     grid.offset == 0.0 ? "" : fmt::format(", from {:.9g} on", grid.offset));
}

double GridBias(const std::vector<MllogRun>& runs, const EvaluationGrid& grid) {
  double sum = 0.0;
  double count = 0.0;
  for (const MllogRun& run : runs) {
    const auto own = GridOf(run);
    if (!own || !run.converged_at) continue;
    const double at = *run.converged_at;
    const double mean = MeanRoundedUp(std::max(0.0, at - own->interval), at, grid);
    if (!(mean > 0.0) || !std::isfinite(mean)) continue;  // distances below a double's resolution
    sum += std::log(mean / at);
    count += 1.0;
  }
  return count == 0.0 ? 1.0 : std::exp(sum / count);
}

}  // namespace rharness
