// Searches with planted causes, counted.
#include "harness/experiments/isolate/search_cost.h"

#include <algorithm>
#include <random>
#include <utility>

namespace rharness {
namespace {

constexpr int kMostAnswers = 20000;
constexpr std::size_t kPlanted = 24;       // planted causes of one step...
constexpr std::size_t kPlantedPairs = 12;  // ...and of two
constexpr std::size_t kFewPositions = 600;

// A simulated run that shows the difference when all these steps are taken, and errs at the stated
// rates.
class PlantedRun {
 public:
  PlantedRun(std::vector<SearchStep> cause, const SearchRules& rules, std::uint64_t seed)
      : cause_(std::move(cause)), rules_(rules), random_(seed) {}

  TrialAnswer operator()(const Positions& at) {
    const bool there = std::ranges::all_of(
        cause_, [&](const SearchStep& step) { return at[step.axis] >= step.position; });
    const double wrong = there ? rules_.miss : rules_.false_reproduces;
    const bool errs = wrong > 0.0 && std::generate_canonical<double, 53>(random_) < wrong;
    return there != errs ? TrialAnswer::kReproduces : TrialAnswer::kDoesNot;
  }

 private:
  std::vector<SearchStep> cause_;
  SearchRules rules_;
  std::mt19937_64 random_;
};

std::vector<SearchStep> StepsOf(const Positions& last) {
  std::vector<SearchStep> steps;
  for (std::size_t axis = 0; axis < last.size(); ++axis) {
    for (int position = 1; position <= last[axis]; ++position) steps.push_back({axis, position});
  }
  return steps;
}

}  // namespace

PlayedSearch PlaySearch(const Positions& last, const SearchRules& rules,
                        const std::function<TrialAnswer(const Positions&)>& run, int most) {
  PlayedSearch played;
  std::vector<AnsweredTrial> history;
  for (;;) {
    played.state = Advance(last, rules, history);
    if (played.state.end != SearchEnd::kGoesOn || played.answers >= most) return played;
    for (const Trial& trial : played.state.next) history.push_back({trial.at, run(trial.at)});
    played.answers = static_cast<int>(history.size());
    ++played.rounds;
  }
}

SearchCost CostOf(const Positions& last, SearchRules rules) {
  SearchCost cost;
  rules.budget = 0;
  const std::vector<SearchStep> steps = StepsOf(last);
  if (steps.empty()) return cost;
  const std::size_t most = steps.size() > kFewPositions ? kPlanted / 3 : kPlanted;
  const std::size_t planted = std::min(most, steps.size());
  const auto place = [&](std::size_t i, std::size_t of) {
    return of == 1 ? 0 : i * (steps.size() - 1) / (of - 1);
  };
  for (std::size_t i = 0; i < planted; ++i) {
    PlantedRun run({steps[place(i, planted)]}, rules, i + 1);
    const PlayedSearch played = PlaySearch(last, rules, std::ref(run), kMostAnswers);
    cost.fewest = i == 0 ? played.answers : std::min(cost.fewest, played.answers);
    cost.most = std::max(cost.most, played.answers);
    cost.most_rounds = std::max(cost.most_rounds, played.rounds);
    cost.mean += static_cast<double>(played.answers) / static_cast<double>(planted);
  }
  for (std::size_t i = 0; steps.size() > 1 && i < std::min(kPlantedPairs, planted); ++i) {
    const std::size_t first = place(i, kPlantedPairs) % (steps.size() - 1);
    const std::size_t second = first + 1 + (i * 7) % (steps.size() - 1 - first);
    PlantedRun run({steps[first], steps[second]}, rules, i + 100);
    const PlayedSearch played = PlaySearch(last, rules, std::ref(run), kMostAnswers);
    cost.most_of_two = std::max(cost.most_of_two, played.answers);
  }
  return cost;
}

}  // namespace rharness
