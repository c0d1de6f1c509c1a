// Two sequences of calls, aligned.
#include "compare/traces/align_calls.h"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <string>
#include <vector>

namespace rharness {
namespace {

// A letter is a key; every call differs in what it gives, so that keys alone align.
std::vector<CallEntry> Calls(const std::string& keys, std::uint64_t run) {
  std::vector<CallEntry> calls;
  for (const char key : keys) {
    CallEntry& call = calls.emplace_back();
    call.key = static_cast<std::uint64_t>(key);
    call.given = call.made = run * 1000000 + calls.size();
  }
  return calls;
}

// "a" both, "+a" B alone, "-a" A alone, "~a" moved.
std::string Aligned(const std::string& a, const std::string& b) {
  std::string text;
  for (const CallMatch& one : AlignCalls(Calls(a, 1), Calls(b, 2))) {
    if (one.a == kNoCall)
      text += std::string("+") + b[one.b];
    else if (one.b == kNoCall)
      text += std::string("-") + a[one.a];
    else
      text += (one.moved ? "~" : "") + std::string(1, a[one.a]);
  }
  return text;
}

TEST(AlignCalls, TellsInsertedMissingAndMovedCalls) {
  EXPECT_EQ(Aligned("", ""), "");
  EXPECT_EQ(Aligned("abc", "abc"), "abc");
  EXPECT_EQ(Aligned("abc", "axbc"), "a+xbc");
  EXPECT_EQ(Aligned("abxc", "abc"), "ab-xc");
  EXPECT_EQ(Aligned("abc", ""), "-a-b-c");
  EXPECT_EQ(Aligned("", "ab"), "+a+b");
  EXPECT_EQ(Aligned("abcd", "axyd"), "a-b-c+x+yd");
  EXPECT_EQ(Aligned("abcde", "acdbe"), "a~bcde");
}

TEST(AlignCalls, TakesEqualInputsBeforeTheOrderOfAKey) {
  // Of three equal keys B has the last two: their inputs say which.
  std::vector<CallEntry> a = Calls("aaa", 1);
  std::vector<CallEntry> b = Calls("aa", 2);
  b[0].given = a[1].given;
  b[1].given = a[2].given;
  const std::vector<CallMatch> matches = AlignCalls(a, b);
  ASSERT_EQ(matches.size(), 3U);
  EXPECT_EQ(matches[0].b, kNoCall);
  EXPECT_EQ(matches[1].b, 0U);
  EXPECT_EQ(matches[2].b, 1U);
}

TEST(AlignCalls, HasEachCallOnceWhateverTheSequences) {
  std::mt19937 random(1);
  for (int round = 0; round < 300; ++round) {
    std::string a;
    std::string b;
    const auto draw = [&](unsigned below) { return static_cast<unsigned>(random() % below); };
    for (unsigned i = draw(60); i > 0; --i) a += static_cast<char>('a' + draw(4));
    for (const char one : a) {
      if (draw(8) != 0) b += one;
      if (draw(8) == 0) b += static_cast<char>('a' + draw(4));
    }
    std::multiset<std::uint32_t> seen_a;
    std::multiset<std::uint32_t> seen_b;
    for (const CallMatch& one : AlignCalls(Calls(a, 1), Calls(b, 2))) {
      if (one.a != kNoCall) seen_a.insert(one.a);
      if (one.b != kNoCall) seen_b.insert(one.b);
      if (one.a != kNoCall && one.b != kNoCall) {
        EXPECT_EQ(a[one.a], b[one.b]) << a << " " << b;
      }
    }
    EXPECT_EQ(seen_a.size(), a.size());
    EXPECT_EQ(std::set(seen_a.begin(), seen_a.end()).size(), a.size());
    EXPECT_EQ(seen_b.size(), b.size());
    EXPECT_EQ(std::set(seen_b.begin(), seen_b.end()).size(), b.size());
  }
}

// The fewest insertions and deletions: the length of the longest common part, by the table.
std::size_t LongestCommon(const std::string& a, const std::string& b) {
  std::vector<std::vector<std::size_t>> table(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 1; i <= a.size(); ++i) {
    for (std::size_t j = 1; j <= b.size(); ++j) {
      table[i][j] = a[i - 1] == b[j - 1] ? table[i - 1][j - 1] + 1
                                         : std::max(table[i - 1][j], table[i][j - 1]);
    }
  }
  return table[a.size()][b.size()];
}

TEST(AlignCalls, PairsAsManyAsCanBe) {
  std::mt19937 random(2);
  for (int round = 0; round < 300; ++round) {
    std::string a;
    std::string b;
    for (auto i = random() % 40; i > 0; --i) a += static_cast<char>('a' + random() % 3);
    for (auto i = random() % 40; i > 0; --i) b += static_cast<char>('a' + random() % 3);
    std::size_t paired = 0;
    for (const CallMatch& one : AlignCalls(Calls(a, 1), Calls(b, 2))) {
      paired += one.a != kNoCall && one.b != kNoCall && !one.moved ? 1 : 0;
    }
    EXPECT_EQ(paired, LongestCommon(a, b)) << a << " " << b;
  }
}

TEST(AlignCalls, BeyondTheMostEditsPairsTheNthOfAKeyWithTheNth) {
  std::string a;
  std::string b;
  for (int i = 0; i < 3 * kMostEdits; ++i) {
    a += "ab";
    b += "ba";
  }
  a = "x" + a + "c";
  b = "y" + b + "d";
  std::size_t paired = 0;
  for (const CallMatch& one : AlignCalls(Calls(a, 1), Calls(b, 2))) {
    paired += one.a != kNoCall && one.b != kNoCall ? 1 : 0;
  }
  EXPECT_EQ(paired, 6U * kMostEdits);
}

}  // namespace
}  // namespace rharness
