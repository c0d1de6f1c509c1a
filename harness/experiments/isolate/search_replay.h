// Replays a search from its answers: each question is answered from them, or is the next trial.
//
// Role: private to search.cc. A question without an answer ends the replay, so that the algorithm
// reads as if it could ask at any time.
#ifndef RHARNESS_HARNESS_EXPERIMENTS_ISOLATE_SEARCH_REPLAY_H_
#define RHARNESS_HARNESS_EXPERIMENTS_ISOLATE_SEARCH_REPLAY_H_

#include <map>
#include <optional>
#include <vector>

#include "harness/experiments/isolate/search.h"

namespace rharness {

enum class Truth { kYes, kNo, kNotJudged };

// The end of the shortest prefix of a line that shows the difference.
struct LineEnd {
  std::size_t low = 0;   // the first `low` steps do not show it
  std::size_t high = 0;  // the first `high` do; nothing between the two could be judged
};

class SearchReplay {
 public:
  SearchReplay(const SearchRules& rules, const std::vector<AnsweredTrial>& history)
      : rules_(rules), history_(history) {}

  // Nothing, here and below: answers are missing; state() has the next trials, or the reason for
  // none. Appends the judged answers to `seen` where answers may be wrong.
  std::optional<Truth> Decide(const Positions& at, TrialPurpose purpose, double error,
                              std::vector<TrialAnswer>* seen = nullptr);

  // Whether `at` shows the difference more often than `base`, by alternating reruns of the two and
  // for any error rates: kYes by chance in at most `error` of the cases where it does not. kNo: no
  // evidence, or it takes too long. The test is that of two samples by R. Turner, A. Ly, P.
  // Grünwald, "Generic E-variables for exact sequential k-sample tests that allow for optional
  // stopping", J. Stat. Planning and Inference 230 (2024), 106116.
  //
  // `answers`: those that `at` and `base` gave before, in their order; they count as the first of
  // the test, and it adds its own. That is sound although the search went on because of them: where
  // it would have ended nothing is named, and the test holds at any time. They must not have chosen
  // `at`.
  struct Sides {
    std::vector<TrialAnswer> at, base;
  };
  std::optional<Truth> ShowsItMoreOften(const Positions& at, const Positions& base,
                                        TrialPurpose purpose, double error, Sides* answers);

  // Of a line that shows nothing at its start and the difference at its end, on top of `base`.
  std::optional<LineEnd> FindEnd(const Positions& base, const std::vector<SearchStep>& line,
                                 double error);

  SearchState& state() { return state_; }
  bool AllUsed() const { return used_ == history_.size(); }

 private:
  std::optional<std::vector<TrialAnswer>> Ask(const std::vector<Positions>& at,
                                              TrialPurpose purpose, double estimate);
  std::optional<std::vector<TrialAnswer>> AskInTurns(const std::vector<Positions>& at,
                                                     TrialPurpose purpose, double estimate);
  std::optional<Truth> DecideBySequence(const Positions& at, TrialPurpose purpose, double error,
                                        std::vector<TrialAnswer>* seen);
  std::optional<LineEnd> FindExactEnd(const Positions& base, const std::vector<SearchStep>& line);
  std::optional<LineEnd> FindLikelyEnd(const Positions& base, const std::vector<SearchStep>& line,
                                       double error);
  void Tell(const std::vector<SearchStep>& line, const std::vector<double>& share);

  const SearchRules& rules_;
  const std::vector<AnsweredTrial>& history_;
  std::size_t used_ = 0;
  std::map<Positions, TrialAnswer> known_;  // where answers are exact
  SearchState state_;
};

// `base` with these steps of the line added.
Positions WithSteps(Positions base, const std::vector<SearchStep>& line, std::size_t count);

// Mean number of answers needed to identify one of 2^bits with this error.
double AnswersFor(const SearchRules& rules, double bits, double error);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXPERIMENTS_ISOLATE_SEARCH_REPLAY_H_
