// What a search will cost before it starts: it is played through with planted causes. Pure.
#ifndef RHARNESS_HARNESS_EXPERIMENTS_ISOLATE_SEARCH_COST_H_
#define RHARNESS_HARNESS_EXPERIMENTS_ISOLATE_SEARCH_COST_H_

#include <functional>

#include "harness/experiments/isolate/search.h"

namespace rharness {

// Plays a search to its end; `run` answers a trial. More than `most` answers end it unfinished.
struct PlayedSearch {
  SearchState state;
  int answers = 0;
  int rounds = 0;  // trials of one round run at the same time
};
PlayedSearch PlaySearch(const Positions& last, const SearchRules& rules,
                        const std::function<TrialAnswer(const Positions&)>& run, int most);

struct SearchCost {
  // Answers and rounds where one step is the cause: at best, on average, at worst.
  int fewest = 0;
  double mean = 0.0;
  int most = 0;
  int most_rounds = 0;
  int most_of_two = 0;  // where two steps are needed together
};

// Of steps that lie evenly in the line, up to some dozens; where answers may be wrong, drawn from a
// fixed seed. The budget is left out of account.
SearchCost CostOf(const Positions& last, SearchRules rules);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXPERIMENTS_ISOLATE_SEARCH_COST_H_
