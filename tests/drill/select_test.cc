// The selection language as a table of expressions, and the sampler's chances.
#include "harness/drill/select.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace rharness {
namespace {

using std::chrono::days;
using std::chrono::hours;

WallTime Now() { return ParseTime("2026-11-20T12:00:00Z").value(); }

HistoryEntry MakeEntry(const std::string& run_id) {
  HistoryEntry entry;
  entry.run_id = run_id;
  entry.family = "resnet50/a100";
  entry.configuration = "c0ffee";
  entry.started = Now() - days(100);
  entry.duration_seconds = 3600;
  entry.declared = "bitwise";
  entry.verified = Now() - days(40);
  entry.last_verdict = Verdict::kEquivalent;
  return entry;
}

bool Selects(const std::string& text, const HistoryEntry& entry) {
  const Result<Selection> selection = Selection::Parse(text);
  EXPECT_TRUE(selection.ok()) << text << ": " << selection.error().ToString();
  return selection.ok() && selection->Matches(entry, Now());
}

struct Case {
  const char* text;
  bool matches;
};

TEST(Selection, DecidesEveryFieldAndOperator) {
  const std::vector<Case> cases = {
      {"", true},
      {"  \t", true},
      {"run_id = run-7", true},
      {"run_id=run-7", true},
      {"run_id != run-7", false},
      {"run_id = \"run-7\"", true},
      {"run_id ~ run-*", true},
      {"run_id ~ run-?", true},
      {"run_id ~ run", false},
      {"run_id ~ *-*7", true},
      {"run_id ~ *8", false},
      {"run_id ~ \"*\"", true},
      {"run_id ~ run-??", false},
      {"family = resnet50/a100", true},
      {"family ~ resnet*", true},
      {"configuration = c0ffee", true},
      {"declared = statistical", false},
      {"last_verdict = equivalent", true},
      {"last_verdict = \"\"", false},
      {"duration_seconds = 3600", true},
      {"duration_seconds != 3600", false},
      {"duration_seconds < 3600", false},
      {"duration_seconds <= 3.6e3", true},
      {"duration_seconds > 3599.5", true},
      {"duration_seconds >= 3601", false},
      {"started = 2026-08-12T12:00:00Z", true},
      {"started = 2026-08-12T14:00:00+02:00", true},
      {"started < 2026-08-12T12:00:00.001Z", true},
      {"started = 100d", true},
      {"started > 99d", true},
      {"started > 101d", false},
      {"started < 2401h", true},
      {"started < 2399h", false},
      {"started <= 15w", true},
      {"verified < 30d", false},
      {"verified > 30d", true},
      {"verified < 50d", true},
      {"verified > 50d", false},
      {"verified = never", false},
      {"verified != never", true},
  };
  for (const auto& [text, matches] : cases) {
    EXPECT_EQ(Selects(text, MakeEntry("run-7")), matches) << text;
  }
}

TEST(Selection, BindsNotBeforeAndBeforeOr) {
  const std::vector<Case> cases = {
      {"run_id = a or run_id = b and run_id = c", true},
      {"(run_id = a or run_id = b) and run_id = c", false},
      {"run_id = b and run_id = c or run_id = a", true},
      {"not run_id = a or run_id = a", true},
      {"not (run_id = a or run_id = a)", false},
      {"not not run_id = a", true},
      {"not run_id = b and run_id = a", true},
      {"run_id = a and run_id = a and run_id = b", false},
      {"run_id = b or run_id = c or run_id = a", true},
  };
  for (const auto& [text, matches] : cases) {
    EXPECT_EQ(Selects(text, MakeEntry("a")), matches) << text;
  }
}

TEST(Selection, TakesNeverVerifiedAsBeforeEveryTime) {
  HistoryEntry entry = MakeEntry("a");
  entry.verified.reset();
  EXPECT_TRUE(Selects("verified = never", entry));
  EXPECT_FALSE(Selects("verified != never", entry));
  EXPECT_FALSE(Selects("verified < 30d", entry));
  EXPECT_TRUE(Selects("verified > 30d", entry));
  EXPECT_TRUE(Selects("verified <= 1970-01-01T00:00:00Z", entry));
  EXPECT_TRUE(Selects("verified > 9999d", entry));
  EXPECT_FALSE(Selects("verified < 9999d", entry));
  EXPECT_FALSE(Selects("verified > 1970-01-01T00:00:00Z", entry));
  EXPECT_FALSE(Selects("verified = 2026-11-20T12:00:00Z", entry));
}

TEST(Selection, ReadsQuotedKeywordsSpacesAndEscapes) {
  HistoryEntry entry = MakeEntry("a");
  entry.family = "and \"or\" \\not (x)";
  EXPECT_TRUE(Selects(R"x(family = "and \"or\" \\not (x)")x", entry));
  entry.family = "never";
  EXPECT_TRUE(Selects("family = never", entry));
}

TEST(Selection, GivesColumnAndExpectationForEveryError) {
  struct Bad {
    const char* text;
    int column;
    const char* expected;
  };
  const std::vector<Bad> cases = {
      {"colour = red", 1, "run_id, family"},
      {"= red", 1, "run_id, family"},
      {"\"family\" = red", 1, "run_id, family"},
      {"family", 7, "=, !="},
      {"family red", 8, "=, !="},
      {"family =", 9, "a word or"},
      {"family = and", 10, "a word or"},
      {"family = \"red", 10, "a word or"},
      {"family = \"", 10, "a word or"},
      {"family = red blue", 14, "'and', 'or' or the end"},
      {"family = red and", 17, "run_id, family"},
      {"family = red)", 13, "'and', 'or' or the end"},
      {"(family = red", 14, "')'"},
      {"not", 4, "run_id, family"},
      {"family < red", 8, "=, != or ~"},
      {"family ! red", 8, "=, !="},
      {"duration_seconds ~ 3*", 18, "a number"},
      {"duration_seconds < 1h", 20, "a number of seconds"},
      {"duration_seconds < nan", 20, "a number of seconds"},
      {"duration_seconds < inf", 20, "a number of seconds"},
      {"duration_seconds < 1e999", 20, "a number of seconds"},
      {"started ~ 2026*", 9, "a time"},
      {"started = never", 11, "a time such as"},
      {"started = 2026-13-01T00:00:00Z", 11, "a time such as"},
      {"started < 30y", 11, "a time such as"},
      {"started < -3d", 11, "a time such as"},
      {"started < 99999999999999999999d", 11, "a time such as"},
      {"started < 9223372036854775807w", 11, "a time such as"},
      {"verified < never", 10, "= or !="},
      {"verified = soon", 12, "or never"},
  };
  for (const auto& [text, column, expected] : cases) {
    const Result<Selection> selection = Selection::Parse(text);
    ASSERT_FALSE(selection.ok()) << text;
    EXPECT_EQ(selection.error().code, ErrorCode::kInvalidInput) << text;
    EXPECT_EQ(selection.error().where, "selection, column " + std::to_string(column)) << text;
    EXPECT_NE(selection.error().message.find(expected), std::string::npos)
        << text << ": " << selection.error().message;
  }
}

TEST(Selection, KnowsARunByTheDigestOfAFileThatItMade) {
  const std::string digest = std::string(63, 'a') + "7";
  const std::string upper = std::string(63, 'A') + "7";
  const HistoryEntry entry = MakeEntry("run-7");
  auto selection =
      Selection::Parse("run_id ~ run-* and not (declared = never or not artifact = " + upper + ")");
  ASSERT_TRUE(selection.ok()) << selection.error().ToString();
  EXPECT_EQ(selection->Artifacts(), std::vector<std::string>{digest});
  EXPECT_FALSE(selection->Matches(entry, Now())) << "nobody has said who made it";
  selection->TellRunsOf(std::string(64, '0'), {"run-7"});
  EXPECT_FALSE(selection->Matches(entry, Now()));
  selection->TellRunsOf(digest, {"run-6", "run-7"});
  EXPECT_TRUE(selection->Matches(entry, Now()));
  EXPECT_FALSE(selection->Matches(MakeEntry("run-8"), Now()));
  for (const std::string refused : {"artifact = abc", "artifact ~ a*", "artifact != abc"}) {
    EXPECT_FALSE(Selection::Parse(refused).ok()) << refused;
  }
}

TEST(Selection, NamesTheFieldThatWasMeant) {
  const std::pair<const char*, const char*> slips[] = {
      {"famly = mlp", "; did you mean 'family'?"},
      {"verdict = drifted", "; did you mean 'last_verdict'?"},
      {"colour = red", "last_verdict, rebuild, artifact, 'not' or '('"}};
  for (const auto& [text, ending] : slips) {
    const auto selection = Selection::Parse(text);
    ASSERT_FALSE(selection.ok());
    EXPECT_TRUE(selection.error().message.ends_with(ending)) << selection.error().message;
  }
}

TEST(Selection, RefusesNestingAndLengthBeyondItsLimits) {
  const auto nested = [](std::size_t depth) {
    return std::string(depth, '(') + "run_id = a" + std::string(depth, ')');
  };
  EXPECT_TRUE(Selection::Parse(nested(64)).ok());
  EXPECT_FALSE(Selection::Parse(nested(65)).ok());
  std::string nots;
  for (int i = 0; i < 10000; ++i) nots += "not ";
  EXPECT_FALSE(Selection::Parse(nots + "run_id = a").ok());
  EXPECT_FALSE(Selection::Parse(std::string(70000, ' ')).ok());
  std::string chain = "run_id = b";
  for (int i = 0; i < 3000; ++i) chain += " or run_id = b";
  EXPECT_FALSE(Selects(chain, MakeEntry("a")));
}

std::vector<std::string> IdsOf(const std::vector<HistoryEntry>& entries) {
  std::vector<std::string> ids;
  for (const HistoryEntry& entry : entries) ids.push_back(entry.run_id);
  return ids;
}

// Fifty cohorts, each judged on a day of its own.
std::vector<HistoryEntry> ManyEntries(int count) {
  std::vector<HistoryEntry> entries;
  for (int i = 0; i < count; ++i) {
    entries.push_back(MakeEntry("run-" + std::to_string(1000 + i)));
    entries.back().judged = Now() - days(1 + i % 50);
  }
  return entries;
}

HistoryEntry JudgedAgo(const std::string& run_id, int ago, const std::string& verdict) {
  HistoryEntry entry = MakeEntry(run_id);
  entry.judged = Now() - days(ago);
  entry.last_verdict = ParseVerdict(verdict).value();
  entry.verified.reset();
  return entry;
}

TEST(OrderByWait, TakesTheNeverJudgedFirstAndThenTheLongestWaiting) {
  HistoryEntry never = MakeEntry("never");
  never.judged.reset();
  const std::vector<HistoryEntry> entries = {JudgedAgo("yesterday", 1, "identical"),
                                             JudgedAgo("month", 30, "drifted"), never,
                                             JudgedAgo("week", 7, "failed")};
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    EXPECT_EQ(IdsOf(OrderByWait(entries, seed)),
              (std::vector<std::string>{"never", "month", "week", "yesterday"}));
  }
}

TEST(OrderByWait, LetsNoRunThatNeverConcludesDelayTheOthers) {
  // Never verified, but tried last night.
  const std::vector<HistoryEntry> entries = {JudgedAgo("stuck", 1, "infra"),
                                             JudgedAgo("fine", 2, "identical")};
  EXPECT_EQ(IdsOf(OrderByWait(entries, 0)), (std::vector<std::string>{"fine", "stuck"}));
}

TEST(OrderByWait, OrdersEqualWaitsBySeedAndRunAloneInAnyInputOrder) {
  std::vector<HistoryEntry> entries = ManyEntries(200);
  const auto order = IdsOf(OrderByWait(entries, 7));
  EXPECT_NE(IdsOf(OrderByWait(entries, 8)), order);
  std::reverse(entries.begin(), entries.end());
  EXPECT_EQ(IdsOf(OrderByWait(entries, 7)), order);
  EXPECT_EQ(std::set<std::string>(order.begin(), order.end()).size(), 200u);
}

// The draw, recomputed with an independent spelling of the generator's published definition.
TEST(OrderByWait, DrawsWithSplitMix64AndFnv1a) {
  const auto splitmix = [](std::uint64_t z) {
    z += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  };
  // SplitMix64's published first output from state 0.
  ASSERT_EQ(splitmix(0), 0xE220A8397B1DCDAFu);
  std::vector<HistoryEntry> entries;
  std::vector<std::pair<std::uint64_t, std::string>> draws;
  for (int i = 0; i < 300; ++i) {
    entries.push_back(MakeEntry("run-" + std::to_string(i)));
    entries.back().judged.reset();
    std::uint64_t hash = 0xCBF29CE484222325u;
    for (const char c : entries.back().run_id) {
      hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3u;
    }
    draws.emplace_back(splitmix(splitmix(11) ^ splitmix(hash)), entries.back().run_id);
  }
  std::sort(draws.begin(), draws.end());
  const auto order = IdsOf(OrderByWait(entries, 11));
  for (std::size_t i = 0; i < draws.size(); ++i) EXPECT_EQ(order[i], draws[i].second) << i;
}

TEST(SampleLongestWaiting, TakesTheStartOfThatOrderInTheOrderGiven) {
  std::vector<HistoryEntry> entries = ManyEntries(200);
  const auto sample = IdsOf(SampleLongestWaiting(entries, 20, 7));
  EXPECT_EQ(sample.size(), 20u);
  EXPECT_TRUE(std::is_sorted(sample.begin(), sample.end()));
  const auto order = IdsOf(OrderByWait(entries, 7));
  EXPECT_EQ(std::set<std::string>(sample.begin(), sample.end()),
            std::set<std::string>(order.begin(), order.begin() + 20));
}

TEST(SampleLongestWaiting, GoesRoundTheWholeHistoryNightByNight) {
  std::vector<HistoryEntry> entries = ManyEntries(23);
  std::map<std::string, int> last;  // the night in which each run was drilled last
  for (int night = 1; night <= 40; ++night) {
    const WallTime now = Now() + days(night);
    for (const HistoryEntry& chosen :
         SampleLongestWaiting(entries, 5, static_cast<std::uint64_t>(night))) {
      last[chosen.run_id] = night;
      for (HistoryEntry& entry : entries) {
        if (entry.run_id == chosen.run_id) entry.judged = now;
      }
    }
    // Twenty-three runs, five a night: nobody waits for more than five nights.
    if (night < 5) continue;
    ASSERT_EQ(last.size(), 23u) << "night " << night;
    for (const auto& [run_id, when] : last) EXPECT_GT(when, night - 5) << run_id;
  }
}

TEST(SampleLongestWaiting, ReturnsAllWhenAskedForAsManyOrMoreAndNoneForZero) {
  const auto entries = ManyEntries(3);
  EXPECT_EQ(IdsOf(SampleLongestWaiting(entries, 3, 1)), IdsOf(entries));
  EXPECT_EQ(IdsOf(SampleLongestWaiting(entries, 9, 1)), IdsOf(entries));
  EXPECT_TRUE(SampleLongestWaiting(entries, 0, 1).empty());
  EXPECT_TRUE(SampleLongestWaiting({}, 5, 1).empty());
}

TEST(Selection, KnowsWhatRebuildWasTold) {
  HistoryEntry entry;
  entry.run_id = "a";
  const auto matches = [&](const char* text) {
    const auto selection = Selection::Parse(text);
    EXPECT_TRUE(selection.ok()) << text;
    return selection.ok() && selection->Matches(entry, WallTime{});
  };
  EXPECT_TRUE(matches("rebuild = \"\""));
  entry.rebuild = PartState::kGone;
  EXPECT_TRUE(matches("rebuild = gone"));
  EXPECT_FALSE(matches("rebuild = had or rebuild = unknown"));
}

}  // namespace
}  // namespace rharness
