// Estimates the cost of a search before its start by simulating it with planted causes. Pure.
#ifndef RHARNESS_HARNESS_EXPERIMENTS_ISOLATE_SEARCH_COST_H_
#define RHARNESS_HARNESS_EXPERIMENTS_ISOLATE_SEARCH_COST_H_

#include <functional>

#include "harness/experiments/isolate/search.h"

namespace rharness {

// Simulates a search to its end; `run` answers a trial. More than `most` answers end it unfinished.
struct PlayedSearch {
  SearchState state;
  int answers = 0;
  int rounds = 0;  // trials of one round run concurrently
};
PlayedSearch PlaySearch(const Positions& last, const SearchRules& rules,
                        const std::function<TrialAnswer(const Positions&)>& run, int most);

struct SearchCost {
  // Answers and rounds if one step is the cause: at best, on average, at worst.
  int fewest = 0;
  double mean = 0.0;
  int most = 0;
  int most_rounds = 0;
  int most_of_two = 0;  // if two steps are needed together
};

// For evenly spaced steps in the line, up to some dozens; uncertain answers are drawn from a fixed
// seed. Ignores the budget.
SearchCost CostOf(const Positions& last, SearchRules rules);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXPERIMENTS_ISOLATE_SEARCH_COST_H_
