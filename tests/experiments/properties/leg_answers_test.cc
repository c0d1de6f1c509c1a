// Answers of two legs: matched by ids, the first that differs is named, and what shows nothing.
#include "harness/experiments/properties/leg_answers.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "harness/base/files.h"

namespace rharness {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string Line(const std::string& prompt, const std::string& ids, const std::string& logprobs) {
  return fmt::format("{{\"prompt_id\": \"{}\", \"token_ids\": [{}], \"logprobs\": [{}]}}\n", prompt,
                     ids, logprobs);
}

const std::string kP = Line("p", "1, 2", "-0.5, -1");
const std::string kQ = Line("q", "3, 4", "-0.25, -2");

Result<Apart> OfTokens(const std::string& a, const std::string& b) {
  ASSIGN_OR_RETURN(const TokenScores first, ParseTokenScores(a, "a"));
  ASSIGN_OR_RETURN(const TokenScores second, ParseTokenScores(b, "b"));
  return ApartOfAnswers("answers.jsonl", first, second);
}

Result<Apart> OfItems(const std::string& a, const std::string& b) {
  ASSIGN_OR_RETURN(const EvalItems first, ParseEvalItems(a, "a"));
  ASSIGN_OR_RETURN(const EvalItems second, ParseEvalItems(b, "b"));
  return ApartOfAnswers("scores.jsonl", first, second);
}

Apart Told(const Result<Apart>& apart) {
  EXPECT_TRUE(apart.ok()) << (apart.ok() ? "" : apart.error().ToString());
  return apart.ok() ? *apart : Apart();
}

TEST(LegAnswers, AreMatchedByTheirPromptsAndNotByTheirPlace) {
  const Apart apart = Told(OfTokens(kP + kQ, kQ + kP));
  EXPECT_TRUE(apart.equal) << apart.words;
  EXPECT_EQ(apart.items, 2U);
  EXPECT_EQ(apart.distance, 0.0);
  EXPECT_EQ(apart.subject, "log-probabilities answers.jsonl");
}

TEST(LegAnswers, NameTheFirstTokenThatDiffers) {
  const Apart apart = Told(OfTokens(kP + kQ, Line("q", "3, 4", "-0.25, -2.5") + kP));
  EXPECT_FALSE(apart.equal);
  EXPECT_EQ(apart.distance, 0.5);
  EXPECT_EQ(apart.words,
            "1 of 4 tokens differ, first prompt q, sample 0, token 1: -2 and -2.5, at most 0.5 "
            "apart");
}

TEST(LegAnswers, DifferInTheLastBit) {
  const double next = std::nextafter(-2.0, 0.0);
  const Apart apart =
      Told(OfTokens(kP + kQ, kP + Line("q", "3, 4", fmt::format("-0.25, {}", next))));
  EXPECT_FALSE(apart.equal);
  EXPECT_EQ(apart.distance, next + 2.0);
}

TEST(LegAnswers, OfOtherTokensOrOtherPromptsAreBeyondEveryMargin) {
  const Apart other = Told(OfTokens(kP + kQ, kP + Line("q", "3, 5", "-0.25, -2")));
  EXPECT_THAT(other.words, HasSubstr("1 of 2 answers have other tokens, first prompt q"));
  EXPECT_THAT(other.words, HasSubstr("token 1"));
  EXPECT_TRUE(std::isinf(other.distance));
  const Apart missing = Told(OfTokens(kP + kQ, kP));
  EXPECT_THAT(missing.words, HasSubstr("1 items are in the first alone, 0 in the second"));
  EXPECT_TRUE(std::isinf(missing.distance));
  const Apart shorter = Told(OfTokens(kP + kQ, kP + Line("q", "3", "-0.25")));
  EXPECT_THAT(shorter.words, HasSubstr("1 answers end before the other's"));
  EXPECT_TRUE(std::isinf(shorter.distance));
}

TEST(LegAnswers, WithoutNumbersOrOfOtherPromptsAreNotEqual) {
  TokenScores one = *ParseTokenScores(kP + kQ, "a");
  TokenScores two = one;
  one.unscored = {7};
  two.unscored = {8};
  EXPECT_TRUE(Told(ApartOfAnswers("answers.jsonl", one, one)).equal);
  const Apart apart = Told(ApartOfAnswers("answers.jsonl", one, two));
  EXPECT_FALSE(apart.equal);
  EXPECT_THAT(apart.words, HasSubstr("1 and 1 answers without log-probabilities, not the same"));
  const auto asked = [](const char* prompt) {
    return fmt::format(
        "{{\"prompt_id\": \"r\", \"prompt\": \"{}\", \"token_ids\": [1], "
        "\"logprobs\": [-0.5]}}\n",
        prompt);
  };
  const auto other = OfTokens(kP + asked("one"), kP + asked("two"));
  ASSERT_FALSE(other.ok());
  EXPECT_THAT(other.error().message, HasSubstr("asked otherwise"));
}

TEST(LegAnswers, ShowNothingWithoutIdsDigitsOrFiniteValues) {
  const std::string unnamed = "{\"token_ids\": [1, 2], \"logprobs\": [-0.5, -1]}\n";
  EXPECT_THAT(OfTokens(unnamed, unnamed).error().message, HasSubstr("does not name the prompt"));
  std::string coarse;
  for (int i = 0; i < 50; ++i) coarse += Line(fmt::format("p{}", i), "1", "-0.12");
  EXPECT_THAT(OfTokens(coarse, coarse).error().message, HasSubstr("with at most 2 decimals"));
  const std::string infinite = Line("p", "1", "-Infinity") + Line("q", "1", "-Infinity");
  EXPECT_THAT(OfTokens(infinite, infinite).error().message, HasSubstr("no finite"));
  const std::string nan = "{\"id\": 1, \"score\": NaN}\n{\"id\": 2, \"score\": NaN}\n";
  EXPECT_THAT(OfItems(nan, nan).error().message, HasSubstr("no finite"));
}

TEST(LegAnswers, OfAnEvaluationAreItsItems) {
  const std::string one = "{\"id\": 1, \"score\": 0.25}\n";
  const std::string two = "{\"id\": 2, \"score\": 0.5}\n";
  const Apart equal = Told(OfItems(one + two, two + one));
  EXPECT_TRUE(equal.equal) << equal.words;
  EXPECT_EQ(equal.items, 2U);
  const Apart moved = Told(OfItems(one + two, "{\"id\": 2, \"score\": 0.75}\n" + one));
  EXPECT_EQ(moved.words, "1 of 2 items differ, first 2 (score: 0.5 and 0.75), at most 0.25 apart");
  EXPECT_EQ(moved.distance, 0.25);
  EXPECT_THAT(Told(OfItems(one + two, two)).words, HasSubstr("1 items are in the first alone"));
  EXPECT_THAT(OfItems("{\"id\": 1, \"prompt\": \"a\", \"score\": 1}\n",
                      "{\"id\": 1, \"prompt\": \"b\", \"score\": 1}\n")
                  .error()
                  .message,
              HasSubstr("item 1 was asked otherwise"));
}

// The scores may hide that a model said something else.
TEST(LegAnswers, OfAnEvaluationAreTheTextsToo) {
  const auto line = [](int id, const std::string& text, const std::string& more) {
    return fmt::format("{{\"id\": {}, \"output\": \"{}\"{}}}\n", id, text, more);
  };
  const std::string score = ", \"score\": 1";
  const Apart scored = Told(OfItems(line(1, "a", score) + line(2, "b", score),
                                    line(2, "c", score) + line(1, "a", score)));
  EXPECT_EQ(scored.words, "1 of 2 items differ, first 2 (another text)");
  EXPECT_EQ(scored.distance, 0.0) << "a margin of scores passes it";
  EXPECT_FALSE(scored.equal);
  const Apart texts =
      Told(OfItems(line(1, "a", "") + line(2, "b", ""), line(2, "b", "") + line(1, "a", "")));
  EXPECT_TRUE(texts.equal);
  EXPECT_EQ(texts.items, 2U);
  const Apart other = Told(OfItems(line(1, "a", ""), line(1, "b", "")));
  EXPECT_FALSE(other.equal);
  EXPECT_TRUE(std::isinf(other.distance)) << "no margin of scores passes it";
  EXPECT_TRUE(LooksLikeAnswerTexts(line(1, "a", "")));
  EXPECT_FALSE(LooksLikeAnswerTexts("{\"id\": 1, \"prediction\": 3}\n")) << "a score";
  EXPECT_FALSE(LooksLikeAnswerTexts("{\"id\": 1, \"name\": \"a\"}\n"));
}

class AnswerOutputs : public testing::Test {
 protected:
  AnswerOutputs() : folder_(*ScopedTempDir::Make("rharness-answers-")) {}
  Artifact File(const std::string& location, const std::string& text) const {
    EXPECT_TRUE(WriteFileAtomic(folder_.path() / location, text).ok());
    return {.role = "other", .path = "out.jsonl", .location = location, .sha256 = location};
  }
  Result<std::vector<Apart>> Compare(const Artifact& a, const Artifact& b) const {
    return CompareAnswers({a}, {b}, folder_.path());
  }
  ScopedTempDir folder_;
};

TEST_F(AnswerOutputs, AreKnownByTheirContent) {
  const auto tokens = Compare(File("a", kP + kQ), File("b", kQ + kP));
  ASSERT_TRUE(tokens.ok()) << tokens.error().ToString();
  ASSERT_EQ(tokens->size(), 1U);
  EXPECT_EQ(tokens->front().items, 2U);
  const auto text = Compare(File("a", "hello"), File("b", "world"));
  ASSERT_TRUE(text.ok()) << text.error().ToString();
  EXPECT_THAT(*text, IsEmpty());
  EXPECT_THAT(Compare(File("a", kP), File("b", "")).error().message,
              HasSubstr("answers in one leg, and none of that kind in another"));
}

TEST_F(AnswerOutputs, ThatAreCutOffNameTheLine) {
  const auto cut = Compare(File("a", kP + kQ), File("b", kP + kQ.substr(0, 20)));
  ASSERT_FALSE(cut.ok());
  EXPECT_THAT(cut.error().ToString(), HasSubstr("line 2"));
}

}  // namespace
}  // namespace rharness
