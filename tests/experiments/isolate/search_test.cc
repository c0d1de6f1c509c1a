// The search: every small structure, ends, skips and interruptions.
#include "harness/experiments/isolate/search.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/experiments/isolate/planted.h"

namespace rharness {
namespace {

using Step = SearchStep;

PlayedSearch Play(std::size_t axes, const PlantedCauses& causes, const SearchRules& rules = {}) {
  PlantedTraining run(causes, 0.0, 1);
  return PlaySearch(
      Positions(axes, 1), rules, [&](const Positions& at) { return Say(run.Asked(at)); }, 10000);
}

int CeilLog2(std::size_t n) { return static_cast<int>(std::ceil(std::log2(n))); }

TEST(Search, NamesEverySingleCauseInLogarithmicallyManyTrials) {
  for (std::size_t n = 1; n <= 70; ++n) {
    for (std::size_t cause = 0; cause < n; ++cause) {
      const PlayedSearch played = Play(n, {{cause}});
      ASSERT_TRUE(NamedRightly(played.state, {{cause}})) << n << " " << cause;
      // Both ends, the cause alone, and all but the cause.
      EXPECT_LE(played.answers, CeilLog2(n) + 4) << n << " " << cause;
      EXPECT_TRUE(played.state.settled);
      EXPECT_EQ(played.state.set_back, std::vector<Step>({{cause, 1}}));
      EXPECT_FALSE(played.state.others);
      EXPECT_EQ(played.state.error_bound, 0.0);
    }
  }
}

std::set<std::size_t> AxesOf(std::size_t mask) {
  std::set<std::size_t> axes;
  for (std::size_t axis = 0; axis < 6; ++axis) {
    if ((mask >> axis) % 2 == 1) axes.insert(axis);
  }
  return axes;
}

bool Contains(const std::set<std::size_t>& a, const std::set<std::size_t>& b) {
  return std::ranges::includes(a, b);
}

TEST(Search, NamesAMinimalCauseInEveryStructureOfUpToTwoCausesOfSixAxes) {
  int structures = 0;
  for (std::size_t n = 1; n <= 6; ++n) {
    for (std::size_t first = 1; first < (std::size_t{1} << n); ++first) {
      for (std::size_t second = first; second < (std::size_t{1} << n); ++second) {
        PlantedCauses causes = {AxesOf(first)};
        if (second != first) {
          if (Contains(AxesOf(first), AxesOf(second)) || Contains(AxesOf(second), AxesOf(first))) {
            continue;
          }
          causes.push_back(AxesOf(second));
        }
        const PlayedSearch played = Play(n, causes);
        ASSERT_TRUE(NamedRightly(played.state, causes)) << n << " " << first << " " << second;
        ASSERT_EQ(played.state.causes.size(), 1U);
        ++structures;
        // What it says of further causes and of what to set back is so.
        Positions without(n, 1);
        for (const CausePart& part : played.state.causes.front()) without[part.front().axis] = 0;
        PlantedTraining run(causes, 0.0, 1);
        EXPECT_EQ(played.state.others, run.Shows(without)) << n << " " << first << " " << second;
        if (!played.state.settled) continue;
        Positions back(n, 1);
        for (const Step& step : played.state.set_back) back[step.axis] = 0;
        EXPECT_FALSE(run.Shows(back));
        for (const Step& step : played.state.set_back) {
          Positions less = back;
          less[step.axis] = 1;
          EXPECT_TRUE(run.Shows(less)) << "set back in vain";
        }
      }
    }
  }
  EXPECT_GT(structures, 1500);
}

TEST(Search, FindsCausesThatAreEachEnoughWhenAskedForThem) {
  for (std::size_t a = 0; a < 9; ++a) {
    for (std::size_t b = a + 1; b < 9; ++b) {
      const PlantedCauses causes = {{a}, {b}};
      const PlayedSearch one = Play(9, causes);
      EXPECT_TRUE(one.state.others);
      EXPECT_FALSE(one.state.settled);
      const PlayedSearch both = Play(9, causes, {.alternatives = 3});
      ASSERT_TRUE(NamedRightly(both.state, causes));
      EXPECT_EQ(both.state.causes.size(), 2U);
      EXPECT_TRUE(both.state.settled);
      EXPECT_EQ(both.state.set_back, std::vector<Step>({{a, 1}, {b, 1}}));
    }
  }
}

TEST(Search, SetsBackOneOfTwoThatAreNeededTogether) {
  const PlayedSearch played = Play(12, {{3, 8}});
  ASSERT_TRUE(NamedRightly(played.state, {{3, 8}}));
  EXPECT_TRUE(played.state.settled);
  EXPECT_EQ(played.state.set_back.size(), 1U);
}

// One change moves one metric and another one a second: both are needed for the whole difference,
// and both have to be set back.
TEST(Search, SetsBackWhateverLeavesAPartOfTheDifference) {
  const auto ask = [](const Positions& at) {
    const int there = at[1] + at[3];
    return there == 2   ? TrialAnswer::kReproduces
           : there == 1 ? TrialAnswer::kPartly
                        : TrialAnswer::kDoesNot;
  };
  const PlayedSearch played = PlaySearch(Positions(5, 1), {}, ask, 100);
  ASSERT_EQ(played.state.end, SearchEnd::kNamed);
  ASSERT_EQ(played.state.causes.size(), 1U);
  EXPECT_EQ(played.state.causes[0].size(), 2U);
  EXPECT_TRUE(played.state.settled);
  EXPECT_EQ(played.state.set_back.size(), 2U);
}

// What hid behind a failure is there when the failure is gone: no setting mends the run.
TEST(Search, DoesNotCallARunMendedThatDriftsOtherwise) {
  const auto ask = [](const Positions& at) {
    return at[2] > 0   ? TrialAnswer::kReproduces
           : at[0] > 0 ? TrialAnswer::kPartly
                       : TrialAnswer::kDoesNot;
  };
  const PlayedSearch played = PlaySearch(Positions(4, 1), {}, ask, 100);
  ASSERT_EQ(played.state.end, SearchEnd::kNamed);
  EXPECT_EQ(played.state.causes, std::vector<CauseSet>({{{{2, 1}}}}));
  EXPECT_FALSE(played.state.settled);
  EXPECT_FALSE(played.state.others);
  EXPECT_TRUE(played.state.set_back.empty());
}

TEST(Search, SaysWhenTheEndsAreNotAsTheyWereSaidToBe) {
  const auto play = [](TrialAnswer all, TrialAnswer none) {
    const auto run = [=](const Positions& at) { return at[0] == 1 ? all : none; };
    return PlaySearch(Positions(5, 1), {}, run, 100);
  };
  const auto yes = TrialAnswer::kReproduces;
  const auto no = TrialAnswer::kDoesNot;
  EXPECT_EQ(play(no, no).state.end, SearchEnd::kNotReproduced);
  EXPECT_EQ(play(no, no).answers, 1);
  EXPECT_EQ(play(yes, yes).state.end, SearchEnd::kNotAmongThese);
  EXPECT_EQ(play(TrialAnswer::kSkipped, no).state.end, SearchEnd::kEndNotJudged);
  EXPECT_EQ(play(yes, TrialAnswer::kOther).state.end, SearchEnd::kEndNotJudged);
}

TEST(Search, FindsTheFirstBadPositionOfAChainBesideOtherAxes) {
  for (int bad = 1; bad <= 1000; bad += 37) {
    const auto run = [&](const Positions& at) { return Say(at[1] >= bad); };
    const PlayedSearch played = PlaySearch({1, 1000, 1}, {}, run, 100);
    ASSERT_EQ(played.state.end, SearchEnd::kNamed);
    EXPECT_EQ(played.state.causes, std::vector<CauseSet>({{{{1, bad}}}}));
    EXPECT_LE(played.answers, 10 + 4);
    EXPECT_EQ(played.state.set_back, std::vector<Step>({{1, bad}}));
  }
}

TEST(Search, FindsAPositionOfAChainThatNeedsAnotherAxis) {
  const auto run = [](const Positions& at) { return Say(at[0] >= 5 && at[2] >= 1); };
  const PlayedSearch played = PlaySearch({9, 1, 1, 1}, {}, run, 100);
  ASSERT_EQ(played.state.end, SearchEnd::kNamed);
  const std::set<CausePart> parts(played.state.causes[0].begin(), played.state.causes[0].end());
  EXPECT_EQ(parts, std::set<CausePart>({{{0, 5}}, {{2, 1}}}));
}

TEST(Search, SkipsPositionsAsABisectionOfCommitsDoes) {
  for (int bad = 1; bad <= 40; ++bad) {
    for (int skip = 1; skip < 40; ++skip) {
      const auto run = [&](const Positions& at) {
        return at[0] == skip ? TrialAnswer::kSkipped : Say(at[0] >= bad);
      };
      const PlayedSearch played = PlaySearch({40}, {}, run, 100);
      ASSERT_EQ(played.state.end, SearchEnd::kNamed);
      CausePart expected = {{0, bad}};
      if (bad == skip) expected = {{0, skip}, {0, skip + 1}};
      if (bad == skip + 1) expected = {{0, skip}, {0, skip + 1}};
      EXPECT_EQ(played.state.causes, std::vector<CauseSet>({{expected}})) << bad << " " << skip;
      EXPECT_LE(played.answers, 6 + 4 + 2) << bad << " " << skip;
    }
  }
}

TEST(Search, AStretchThatCannotBeTriedIsNamedAsAWhole) {
  const auto run = [](const Positions& at) {
    return at[0] >= 10 && at[0] < 60 ? TrialAnswer::kSkipped : Say(at[0] >= 30);
  };
  const PlayedSearch played = PlaySearch({100}, {}, run, 1000);
  ASSERT_EQ(played.state.end, SearchEnd::kNamed);
  ASSERT_EQ(played.state.causes[0].size(), 1U);
  EXPECT_EQ(played.state.causes[0][0].front(), Step({0, 10}));
  EXPECT_EQ(played.state.causes[0][0].back(), Step({0, 60}));
  EXPECT_LE(played.answers, 70);
}

// An axis that breaks the run unless another one is set as well: what git bisect would skip.
TEST(Search, GoesRoundAnotherFailure) {
  for (std::size_t cause = 0; cause < 8; ++cause) {
    for (std::size_t breaks = 0; breaks < 8; ++breaks) {
      for (std::size_t mends = 0; mends < 8; ++mends) {
        if (breaks == mends || cause == breaks) continue;
        const auto run = [&](const Positions& at) {
          if (at[breaks] == 1 && at[mends] == 0) return TrialAnswer::kOther;
          return Say(at[cause] == 1);
        };
        const PlayedSearch played = PlaySearch(Positions(8, 1), {}, run, 200);
        ASSERT_EQ(played.state.end, SearchEnd::kNamed) << cause << breaks << mends;
        EXPECT_TRUE(NamedRightly(played.state, {{cause}})) << cause << breaks << mends;
        EXPECT_LE(played.answers, 3 + 4 + 12);
      }
    }
  }
}

TEST(Search, NamesWhatWasSeenToShowItAloneWhereChangesHideEachOther) {
  // It shows with all or with none of two: no set of changes is a cause by itself.
  const auto run = [](const Positions& at) {
    return Say(at[0] + at[1] + at[2] == 1 || at[0] + at[1] + at[2] == 3);
  };
  const PlayedSearch played = PlaySearch({1, 1, 1}, {}, run, 100);
  ASSERT_EQ(played.state.end, SearchEnd::kNamed);
  EXPECT_EQ(played.state.causes[0].size(), 1U) << "one alone was seen to show it";
  const auto hidden = [](const Positions& at) {
    return Say(at == Positions({1, 1, 1, 1}) || at == Positions({1, 1, 0, 0}));
  };
  const PlayedSearch other = PlaySearch({1, 1, 1, 1}, {}, hidden, 100);
  ASSERT_EQ(other.state.end, SearchEnd::kNamed);
  EXPECT_TRUE(NamedRightly(other.state, {{0, 1}}));
}

TEST(Search, GoesOnFromEveryAnswerAsIfItHadNotBeenInterrupted) {
  for (const double wrong : {0.0, 0.1}) {
    for (const int width : {1, 3}) {
      const SearchRules rules{.false_reproduces = wrong, .miss = wrong, .width = width};
      PlantedTraining run({{2, 9}}, wrong, 7);
      std::vector<AnsweredTrial> history;
      SearchState state = Advance(Positions(12, 1), rules, history);
      while (state.end == SearchEnd::kGoesOn) {
        ASSERT_FALSE(state.next.empty());
        ASSERT_LE(state.next.size(), static_cast<std::size_t>(width));
        std::vector<Trial> open = state.next;
        for (const Trial& trial : state.next) {
          // Killed here: the same trials are open, less those that were answered.
          EXPECT_EQ(Advance(Positions(12, 1), rules, history).next, open);
          history.push_back({trial.at, Say(run.Asked(trial.at))});
          open.erase(open.begin());
        }
        state = Advance(Positions(12, 1), rules, history);
      }
      EXPECT_TRUE(NamedRightly(state, {{2, 9}}));
      history.push_back(history.front());
      EXPECT_EQ(Advance(Positions(12, 1), rules, history).end, SearchEnd::kForeignAnswers);
      history = {{Positions(12, 0), TrialAnswer::kDoesNot}};
      EXPECT_EQ(Advance(Positions(12, 1), rules, history).end, SearchEnd::kForeignAnswers);
    }
  }
}

TEST(Search, SeveralTrialsAtATimeTakeFewerRounds) {
  for (std::size_t cause = 0; cause < 64; ++cause) {
    const PlayedSearch played = Play(64, {{cause}}, {.width = 3});
    ASSERT_TRUE(NamedRightly(played.state, {{cause}}));
    EXPECT_LE(played.rounds, 3 + 4);
  }
}

TEST(Search, StopsAtItsBudgetAndSaysWhatIsMissing) {
  PlantedTraining run({{40}}, 0.0, 1);
  const auto ask = [&](const Positions& at) { return Say(run.Asked(at)); };
  for (int budget = 1; budget < 10; ++budget) {
    const PlayedSearch played = PlaySearch(Positions(64, 1), {.budget = budget}, ask, 100);
    EXPECT_EQ(played.state.end, SearchEnd::kBudget);
    EXPECT_EQ(played.answers, budget);
    EXPECT_GE(played.state.more, 1);
    if (budget >= 3 && budget < 8) {
      EXPECT_EQ(played.state.possible.size(), std::size_t{64} >> (budget - 2));
      EXPECT_EQ(played.state.more, 8 - budget);
    }
  }
  EXPECT_EQ(PlaySearch(Positions(64, 1), {.budget = 10}, ask, 100).state.end, SearchEnd::kNamed);
}

TEST(Search, TenThousandAxesTakeFourteenTrialsAndTheEnds) {
  const PlayedSearch played = Play(10000, {{7777}});
  EXPECT_TRUE(NamedRightly(played.state, {{7777}}));
  EXPECT_LE(played.answers, 14 + 4);
}

TEST(SearchCost, IsWhatOneAndTwoCausesTake) {
  const SearchCost cost = CostOf(Positions(16, 1), {});
  EXPECT_GE(cost.fewest, 7);
  EXPECT_LE(cost.most, 8);
  EXPECT_GT(cost.most_of_two, cost.most);
  EXPECT_LE(cost.most_of_two, 2 * 4 + 10);
  EXPECT_GT(CostOf(Positions(16, 1), {.false_reproduces = 0.1, .miss = 0.1}).mean, cost.mean);
  EXPECT_EQ(CostOf({}, {}).most, 0);
}

}  // namespace
}  // namespace rharness
