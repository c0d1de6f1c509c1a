// Searches whose cause is planted, and what the usual ways of looking for it need.
#ifndef RHARNESS_TESTS_EXPERIMENTS_ISOLATE_PLANTED_H_
#define RHARNESS_TESTS_EXPERIMENTS_ISOLATE_PLANTED_H_

#include <cstdint>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "harness/experiments/isolate/search_cost.h"

namespace rharness {

// Each set of axes is enough for the difference; none contains another.
using PlantedCauses = std::vector<std::set<std::size_t>>;

inline TrialAnswer Say(bool reproduces) {
  return reproduces ? TrialAnswer::kReproduces : TrialAnswer::kDoesNot;
}

// A run on `axes` axes whose answers are wrong at a rate.
class PlantedTraining {
 public:
  PlantedTraining(PlantedCauses causes, double wrong, std::uint64_t seed)
      : causes_(std::move(causes)), wrong_(wrong), random_(seed) {}
  bool Shows(const Positions& at) const {
    for (const std::set<std::size_t>& cause : causes_) {
      bool all = true;
      for (const std::size_t axis : cause) all = all && at[axis] > 0;
      if (all) return true;
    }
    return false;
  }
  bool Asked(const Positions& at) {
    ++asked_;
    const bool errs = wrong_ > 0.0 && std::generate_canonical<double, 53>(random_) < wrong_;
    return Shows(at) != errs;
  }
  // Repeated until it is known with this error (A. Wald's sequential test).
  bool AskedUntilSure(const Positions& at, double error);
  int asked() const { return asked_; }
  const PlantedCauses& causes() const { return causes_; }

 private:
  PlantedCauses causes_;
  double wrong_;
  std::mt19937_64 random_;
  int asked_ = 0;
};

// Every cause that was named is one of the planted ones, and the first was named.
bool NamedRightly(const SearchState& state, const PlantedCauses& causes);

struct UsualWay {
  std::set<std::size_t> named;
  int reruns = 0;
};
// Both ends, then each axis alone, then each pair of axes, until one shows the difference; each
// question repeated until the chance of a wrong answer is small enough for all single axes.
UsualWay OneAtATime(std::size_t axes, PlantedTraining* run);
// Both ends, then a bisection of the axes in their order; `repeated`: as above.
UsualWay PlainBisection(std::size_t axes, bool repeated, PlantedTraining* run);

}  // namespace rharness

#endif  // RHARNESS_TESTS_EXPERIMENTS_ISOLATE_PLANTED_H_
