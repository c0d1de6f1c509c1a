// Finds the changes that make the difference: the next trial, and the conclusion.
//
// A change is an axis. An axis has positions 0 (as recorded) to its last (as drifted); most have
// two, a chain of commits or versions has more. A trial sets each axis to a position; its answer:
// does the run then show the difference?
//
// Role: the pure heart of `rharness isolate`. A function of the answers so far, so that a killed
// search resumes from its journal. It knows no manifest and no rerun.
//
// How: all changes in one line; the shortest prefix of it that shows the difference ends in a step
// of the cause. That step is kept and the rest searched again, until the kept steps alone show the
// difference: k (log2 n + 1) trials for k changes that are needed together. It assumes that a
// further change never hides the difference; contrary answers end in kContradiction, and every
// named cause was seen to show the difference alone.
// Sources: the order of trials is the "progression" of J. Marques-Silva, M. Janota, A. Belov,
// "Minimal sets over monotone predicates in Boolean formulae", CAV 2013; the question is that of
// A. Zeller, R. Hildebrandt, "Simplifying and isolating failure-inducing input", IEEE TSE 28
// (2002) 2. If answers may be wrong the line is searched by M. V. Burnashev and
// K. Sh. Zigangirov, "An interval estimation problem for controlled observations", Problems of
// Information Transmission 10 (1974) 3, and single questions are A. Wald's sequential test (1945).
// Both trust the given rates. A named cause has passed a test that does not: the cause alone shows
// the difference more often than no change does, whatever the rates are.
#ifndef RHARNESS_HARNESS_EXPERIMENTS_ISOLATE_SEARCH_H_
#define RHARNESS_HARNESS_EXPERIMENTS_ISOLATE_SEARCH_H_

#include <cstddef>
#include <utility>
#include <vector>

#include "reports/search_trial.h"

namespace rharness {

using Positions = std::vector<int>;  // one an axis

struct Trial {
  Positions at;
  TrialPurpose purpose = TrialPurpose::kSearch;
  bool operator==(const Trial&) const = default;
};

struct AnsweredTrial {
  Positions at;
  TrialAnswer answer = TrialAnswer::kSkipped;
};

// How far answers can be trusted, and the budget. Both rates 0: answers are exact.
struct SearchRules {
  double false_reproduces = 0.0;  // chance of kReproduces if the difference is absent; < 1/2
  double miss = 0.0;              // chance of kDoesNot if it is present; < 1/2
  double confidence = 0.95;       // one minus the chance of naming a wrong cause, over the search
  int width = 1;                  // trials at a time
  int budget = 0;                 // answers; 0: no limit
  int alternatives = 0;           // number of further causes to find, each enough by itself
  bool ends_known = false;        // all changes show it and none does not: known already

  bool Exact() const { return false_reproduces <= 0.0 && miss <= 0.0; }
};

// The change of one axis from `position` - 1 to `position`.
struct SearchStep {
  std::size_t axis = 0;
  int position = 1;
  auto operator<=>(const SearchStep&) const = default;
};

// One step; several if trials between them could not be judged: it is one of these, or more.
using CausePart = std::vector<SearchStep>;
using CauseSet = std::vector<CausePart>;  // what is needed together

enum class SearchEnd {
  kGoesOn,          // `next` is to be tried
  kNamed,           // the cause is causes.front()
  kNotAmongThese,   // the difference is present with nothing changed
  kNotReproduced,   // it is absent with everything changed
  kEndNotJudged,    // one of these two could not be judged
  kContradiction,   // answers fit no cause: changes hide each other, or answers are less sure than
                    // stated
  kChance,          // nothing is named, and with everything changed the difference is not shown to
                    // be seen more often than with nothing changed
  kBudget,          // not decidable with this budget
  kForeignAnswers,  // the answers are from another search
  kNothingToSet,    // no difference can be set: nothing to try
};

struct SearchState {
  SearchEnd end = SearchEnd::kGoesOn;
  std::vector<Trial> next;
  // Each enough by itself. Complete once named; before that the known ones.
  std::vector<CauseSet> causes;
  CauseSet needed;                   // of the wanted cause: the known steps
  bool settled = false;              // with `set_back` as before, all else drifted, it is absent
  bool others = false;               // it is present without the named causes: there are more
  std::vector<SearchStep> set_back;  // the fewest found
  double error_bound = 0.0;          // chance of a wrong named cause
  int more = 0;                      // of kBudget: about how many more answers would decide
  // Of kBudget: steps that are still possible, likeliest first, with their share.
  std::vector<std::pair<SearchStep, double>> possible;
};

// `last`: the last position of each axis, 1 or more. `history`: answers in the order of the trials.
// Equal arguments give equal results. Cost: history x positions.
SearchState Advance(const Positions& last, const SearchRules& rules,
                    const std::vector<AnsweredTrial>& history);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXPERIMENTS_ISOLATE_SEARCH_H_
