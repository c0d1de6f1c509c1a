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
  entry.last_verdict = "equivalent";
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
      {"started < 99d", true},
      {"started < 101d", false},
      {"started > 2401h", true},
      {"started > 2399h", false},
      {"started >= 15w", true},
      {"verified < 30d", true},
      {"verified < 50d", false},
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
  EXPECT_TRUE(Selects("verified < 30d", entry));
  EXPECT_TRUE(Selects("verified <= 1970-01-01T00:00:00Z", entry));
  EXPECT_FALSE(Selects("verified > 9999d", entry));
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

TEST(Selection, NamesTheFieldThatWasMeant) {
  const std::pair<const char*, const char*> slips[] = {
      {"famly = mlp", "; did you mean 'family'?"},
      {"verdict = drifted", "; did you mean 'last_verdict'?"},
      {"colour = red", "last_verdict, 'not' or '('"}};
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

// A: verified `a_days` ago, B: `b_days` ago, C: never.
std::vector<HistoryEntry> ThreeEntries(int a_days, int b_days) {
  std::vector<HistoryEntry> entries = {MakeEntry("A"), MakeEntry("B"), MakeEntry("C")};
  entries[0].verified = Now() - days(a_days);
  entries[1].verified = Now() - days(b_days);
  entries[2].verified.reset();
  return entries;
}

// How often each run is drawn over `rounds` seeds.
std::map<std::string, int> CountDraws(const std::vector<HistoryEntry>& entries, std::size_t size,
                                      int rounds) {
  std::map<std::string, int> counts;
  for (int seed = 0; seed < rounds; ++seed) {
    for (const HistoryEntry& entry :
         SampleUnverified(entries, size, static_cast<std::uint64_t>(seed), Now())) {
      ++counts[entry.run_id];
    }
  }
  return counts;
}

// Within four standard errors of a binomial share; the seeds are fixed, so this cannot flake.
void ExpectShare(int count, int rounds, double probability) {
  const double error = std::sqrt(probability * (1 - probability) / rounds);
  EXPECT_NEAR(static_cast<double>(count) / rounds, probability, 4 * error);
}

TEST(SampleUnverified, DrawsOneInProportionToTheDaysUnverified) {
  constexpr int kRounds = 40000;
  // C weighs as much as the longest unverified: 10 : 60 : 60.
  const auto counts = CountDraws(ThreeEntries(10, 60), 1, kRounds);
  ExpectShare(counts.at("A"), kRounds, 10.0 / 130);
  ExpectShare(counts.at("B"), kRounds, 60.0 / 130);
  ExpectShare(counts.at("C"), kRounds, 60.0 / 130);
}

TEST(SampleUnverified, TakesNeverVerifiedForAtLeastThirtyDays) {
  constexpr int kRounds = 40000;
  const auto counts = CountDraws(ThreeEntries(5, 10), 1, kRounds);
  ExpectShare(counts.at("A"), kRounds, 5.0 / 45);
  ExpectShare(counts.at("B"), kRounds, 10.0 / 45);
  ExpectShare(counts.at("C"), kRounds, 30.0 / 45);
}

TEST(SampleUnverified, DrawsTwoAsSuccessiveDrawsWithoutReplacementWould) {
  constexpr int kRounds = 40000;
  const auto counts = CountDraws(ThreeEntries(10, 20), 2, kRounds);
  // Weights 10 : 20 : 30; P(in) = P(first) + sum over another first of P(that) * P(second | that).
  const double a = 10.0 / 60 + 20.0 / 60 * 10.0 / 40 + 30.0 / 60 * 10.0 / 30;
  const double b = 20.0 / 60 + 10.0 / 60 * 20.0 / 50 + 30.0 / 60 * 20.0 / 30;
  const double c = 30.0 / 60 + 10.0 / 60 * 30.0 / 50 + 20.0 / 60 * 30.0 / 40;
  ExpectShare(counts.at("A"), kRounds, a);
  ExpectShare(counts.at("B"), kRounds, b);
  ExpectShare(counts.at("C"), kRounds, c);
}

std::vector<std::string> IdsOf(const std::vector<HistoryEntry>& entries) {
  std::vector<std::string> ids;
  for (const HistoryEntry& entry : entries) ids.push_back(entry.run_id);
  return ids;
}

std::vector<HistoryEntry> ManyEntries(int count) {
  std::vector<HistoryEntry> entries;
  for (int i = 0; i < count; ++i) {
    entries.push_back(MakeEntry("run-" + std::to_string(1000 + i)));
    entries.back().verified = Now() - days(1 + i % 50);
  }
  return entries;
}

TEST(SampleUnverified, DrawsTheSameRunsFromTheSameSeedInAnyInputOrder) {
  std::vector<HistoryEntry> entries = ManyEntries(200);
  const auto sample = IdsOf(SampleUnverified(entries, 20, 7, Now()));
  EXPECT_EQ(sample.size(), 20u);
  EXPECT_TRUE(std::is_sorted(sample.begin(), sample.end()));
  EXPECT_EQ(IdsOf(SampleUnverified(entries, 20, 7, Now())), sample);
  EXPECT_NE(IdsOf(SampleUnverified(entries, 20, 8, Now())), sample);
  std::reverse(entries.begin(), entries.end());
  auto reversed = IdsOf(SampleUnverified(entries, 20, 7, Now()));
  std::reverse(reversed.begin(), reversed.end());
  EXPECT_EQ(reversed, sample);
}

TEST(SampleUnverified, NestsSmallerSamplesInLargerOnes) {
  const auto entries = ManyEntries(100);
  const auto small = IdsOf(SampleUnverified(entries, 5, 3, Now()));
  const auto large = IdsOf(SampleUnverified(entries, 30, 3, Now()));
  EXPECT_TRUE(std::includes(large.begin(), large.end(), small.begin(), small.end()));
}

// The draw, recomputed with an independent generator's published definition and libm's log2.
TEST(SampleUnverified, AgreesWithFloatingPointKeysOfThePaper) {
  const auto splitmix = [](std::uint64_t z) {
    z += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  };
  // SplitMix64's published first output from state 0.
  ASSERT_EQ(splitmix(0), 0xE220A8397B1DCDAFu);
  const auto entries = ManyEntries(500);
  std::vector<std::pair<long double, std::string>> keys;
  for (const HistoryEntry& entry : entries) {
    std::uint64_t hash = 0xCBF29CE484222325u;
    for (const char c : entry.run_id) {
      hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3u;
    }
    const long double u =
        static_cast<long double>(splitmix(splitmix(11) ^ splitmix(hash))) / 0x1p64L;
    const auto weight = static_cast<long double>((Now() - *entry.verified).count());
    keys.emplace_back(std::pow(u, 1e9L / weight), entry.run_id);
  }
  std::sort(keys.rbegin(), keys.rend());
  std::set<std::string> expected;
  for (std::size_t i = 0; i < 50; ++i) expected.insert(keys[i].second);
  const auto sample = IdsOf(SampleUnverified(entries, 50, 11, Now()));
  EXPECT_EQ(std::set<std::string>(sample.begin(), sample.end()), expected);
}

TEST(SampleUnverified, ReturnsAllWhenAskedForAsManyOrMoreAndNoneForZero) {
  const auto entries = ManyEntries(3);
  EXPECT_EQ(IdsOf(SampleUnverified(entries, 3, 1, Now())), IdsOf(entries));
  EXPECT_EQ(IdsOf(SampleUnverified(entries, 9, 1, Now())), IdsOf(entries));
  EXPECT_TRUE(SampleUnverified(entries, 0, 1, Now()).empty());
  EXPECT_TRUE(SampleUnverified({}, 5, 1, Now()).empty());
}

TEST(SampleUnverified, TakesATimeInTheFutureAsJustVerified) {
  auto entries = ThreeEntries(40, 40);
  entries[0].verified = Now() + hours(5);
  EXPECT_EQ(CountDraws(entries, 1, 2000).count("A"), 0u);
}

}  // namespace
}  // namespace rharness
