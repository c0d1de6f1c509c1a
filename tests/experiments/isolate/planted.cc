// Planted searches, and the usual ways beside ours.
#include "tests/experiments/isolate/planted.h"

#include <algorithm>
#include <cmath>

namespace rharness {

bool PlantedTraining::AskedUntilSure(const Positions& at, double error) {
  if (wrong_ <= 0.0) return Asked(at);
  double ratio = 0.0;
  while (std::abs(ratio) < std::log((1.0 - error) / error)) {
    ratio += (Asked(at) ? 1.0 : -1.0) * std::log((1.0 - wrong_) / wrong_);
  }
  return ratio > 0.0;
}

bool NamedRightly(const SearchState& state, const PlantedCauses& causes) {
  if (state.end != SearchEnd::kNamed || state.causes.empty()) return false;
  for (const CauseSet& cause : state.causes) {
    std::set<std::size_t> axes;
    for (const CausePart& part : cause) {
      for (const SearchStep& step : part) axes.insert(step.axis);
    }
    if (std::ranges::find(causes, axes) == causes.end()) return false;
  }
  return true;
}

UsualWay OneAtATime(std::size_t axes, PlantedTraining* run) {
  const double error = 0.05 / static_cast<double>(axes + 2);
  const auto ask = [&](const std::set<std::size_t>& changed) {
    Positions at(axes, 0);
    for (const std::size_t axis : changed) at[axis] = 1;
    return run->AskedUntilSure(at, error);
  };
  run->AskedUntilSure(Positions(axes, 1), error);
  run->AskedUntilSure(Positions(axes, 0), error);
  for (std::size_t a = 0; a < axes; ++a) {
    if (ask({a})) return {{a}, run->asked()};
  }
  for (std::size_t a = 0; a < axes; ++a) {
    for (std::size_t b = a + 1; b < axes; ++b) {
      if (ask({a, b})) return {{a, b}, run->asked()};
    }
  }
  return {{}, run->asked()};
}

UsualWay PlainBisection(std::size_t axes, bool repeated, PlantedTraining* run) {
  const double error = 0.05 / (2.0 + std::ceil(std::log2(static_cast<double>(axes))));
  const auto ask = [&](std::size_t count) {
    Positions at(axes, 0);
    std::fill_n(at.begin(), count, 1);
    return repeated ? run->AskedUntilSure(at, error) : run->Asked(at);
  };
  ask(axes);
  ask(0);
  std::size_t low = 0;
  std::size_t high = axes;
  while (high - low > 1) {
    const std::size_t middle = (low + high) / 2;
    (ask(middle) ? high : low) = middle;
  }
  return {{low}, run->asked()};
}

}  // namespace rharness
