// Two programs that scored the same tokens.
#include "compare/tokens/compare_tokens.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

namespace rharness {
namespace {

using testing::Contains;
using testing::HasSubstr;

TokenScores Scores(const std::string& text) {
  const auto scores = ParseTokenScores(text, "f");
  EXPECT_TRUE(scores.ok()) << (scores.ok() ? "" : scores.error().ToString());
  return scores.ok() ? *scores : TokenScores();
}

std::string Line(const std::string& prompt, const std::string& ids, const std::string& logprobs,
                 const std::string& more = "") {
  return fmt::format("{{\"prompt_id\": \"{}\", \"token_ids\": [{}], \"logprobs\": [{}]{}}}\n",
                     prompt, ids, logprobs, more);
}

const Finding* FindingOf(const TokenComparison& comparison, std::string_view code) {
  const auto found = std::ranges::find(comparison.findings, code, &Finding::code);
  return found == comparison.findings.end() ? nullptr : &*found;
}

TEST(CompareTokens, SaysWhereFirstAndHowFar) {
  const TokenScores a = Scores(Line("p", "1, 2", "-0.5, -1") + Line("q", "3, 4", "-0.25, -2"));
  // One step of single precision below -0.25, and 0.5 farther.
  const TokenScores b =
      Scores(Line("q", "3, 4", "-0.2500000298023224, -2.5") + Line("p", "1, 2", "-0.5, -1"));
  const TokenComparison comparison = CompareTokens(a, b, {});
  const TokenDifference& d = comparison.difference;
  EXPECT_EQ(d.sequences, 2U);
  EXPECT_EQ(d.tokens, 4U);
  EXPECT_EQ(d.differing, 2U);
  ASSERT_TRUE(d.first);
  EXPECT_EQ(d.first->prompt, "q");
  EXPECT_EQ(d.first->position, 0U);
  EXPECT_EQ(d.first->ulp, 1U);
  EXPECT_EQ(d.steps_of, "F32");
  EXPECT_EQ(d.ulp_histogram[0], 1U);
  EXPECT_EQ(d.max_abs, 0.5);
  EXPECT_EQ(d.farthest->position, 1U);
  EXPECT_EQ(d.median_abs, 0.0);
  EXPECT_EQ(d.p99_abs, 0.5);
  // Drawn by A: log r = -0.5 - 3e-8 over four tokens.
  EXPECT_NEAR(d.k1.value, 0.5 / 4.0, 1e-7);
  EXPECT_NEAR(d.k3.value, (std::exp(-0.5) - 1.0 + 0.5) / 4.0, 1e-7);
  EXPECT_FALSE(d.sampler_stated);
  ASSERT_TRUE(comparison.decision);
  EXPECT_EQ(comparison.decision->name, "KL(A||B)");
  EXPECT_THAT(FindingOf(comparison, "logprobs_differ")->message,
              HasSubstr("2 of 4 tokens (50 %) have other log-probabilities, first prompt q, sample "
                        "0, token 0: -0.25 in A, -0.2500000298023224 in B, 1 steps of F32"));
  EXPECT_THAT(comparison.notes, Contains(HasSubstr("do not say who drew the tokens")));
}

TEST(CompareTokens, EstimatesTheDivergenceInTheDirectionOfTheSampler) {
  const TokenScores a = Scores(Line("p", "1, 2", "-0.5, -1"));
  const TokenScores b = Scores(Line("p", "1, 2", "-0.5, -1.5", ", \"sampled\": true"));
  const TokenComparison by_file = CompareTokens(a, b, {});
  EXPECT_TRUE(by_file.difference.sampled_by_b);
  EXPECT_TRUE(by_file.difference.sampler_stated);
  EXPECT_EQ(by_file.decision->name, "KL(B||A)");
  EXPECT_NEAR(by_file.difference.k1.value, -0.25, 1e-12);
  EXPECT_NEAR(by_file.difference.k3.value, (std::exp(0.5) - 1.5) / 2.0, 1e-12);
  EXPECT_FALSE(CompareTokens(a, b, {.sampled_by_b = false}).difference.sampled_by_b);
}

TEST(CompareTokens, MeasuresTheTailOfTheRatios) {
  std::string of_a, of_b;
  for (int i = 0; i < 4; ++i) {
    of_a += Line(std::to_string(i), "1, 2", "-1, -1");
    of_b += Line(std::to_string(i), "1, 2", i == 0 ? "-0.25, -1" : "-1, -1");
  }
  const TokenDifference d = CompareTokens(Scores(of_a), Scores(of_b), {}).difference;
  EXPECT_EQ(d.beyond_two, 1U);  // e^0.75 is 2.117
  EXPECT_EQ(d.sequences_beyond_two, 1U);
  EXPECT_NEAR(d.largest_log_product, 0.75, 1e-12);
  const double w = std::exp(0.75);
  EXPECT_NEAR(d.effective_sequences, (w + 3) * (w + 3) / (w * w + 3), 1e-12);
}

TEST(CompareTokens, ComparesUpToTheFirstOtherToken) {
  const TokenComparison comparison =
      CompareTokens(Scores(Line("p", "1, 2, 3", "-1, -2, -3") + Line("q", "4", "-4")),
                    Scores(Line("p", "1, 9, 3", "-1, -2, -3") + Line("q", "4", "-4")), {});
  EXPECT_EQ(comparison.difference.tokens, 2U);
  EXPECT_EQ(comparison.difference.differing, 0U);
  const Finding* finding = FindingOf(comparison, "other_tokens");
  ASSERT_NE(finding, nullptr);
  EXPECT_TRUE(finding->decisive);
  EXPECT_EQ(finding->layer, Layer::kData);
  EXPECT_EQ(finding->message,
            "other tokens from prompt p, sample 0, token 1 on, in 1 of 2 sequences; up to there 2 "
            "tokens were compared");
}

TEST(CompareTokens, SuspectsATokenizerWhereMostAnswersDiffer) {
  const TokenComparison comparison =
      CompareTokens(Scores(Line("p", "1", "-1") + Line("q", "2", "-1")),
                    Scores(Line("p", "11", "-1") + Line("q", "12", "-1")), {});
  EXPECT_THAT(FindingOf(comparison, "other_tokens")->message, HasSubstr("another tokenizer"));
  EXPECT_FALSE(comparison.decision);
}

TEST(CompareTokens, NamesAnswersOfOneSideAndEarlyEnds) {
  const TokenComparison alone = CompareTokens(Scores(Line("p", "1", "-1") + Line("q", "2", "-1")),
                                              Scores(Line("p", "1", "-1")), {});
  EXPECT_EQ(alone.difference.only_a, 1U);
  EXPECT_THAT(FindingOf(alone, "other_sequences")->message,
              HasSubstr("first prompt q, sample 0 of A"));
  const TokenComparison early =
      CompareTokens(Scores(Line("p", "1, 2", "-1, -2")), Scores(Line("p", "1", "-1")), {});
  EXPECT_EQ(early.difference.ended, 1U);
  EXPECT_NE(FindingOf(early, "missing_tokens"), nullptr);
}

// One side scored the prompt, too: it says so, or the mask of the other does.
TEST(CompareTokens, LinesUpTheTokensOfBoth) {
  const TokenScores whole = Scores(Line("p", "7, 8, 1, 2", "-9, -9, -1, -2"));
  const TokenScores answer = Scores(Line("p", "1, 2", "-1, -2"));
  const TokenScores masked =
      Scores(Line("p", "7, 8, 1, 2", "-9, -9, -1, -2", ", \"response_mask\": [0, false, 1, 1.0]"));
  const TokenScores scored = Scores(
      "{\"uid\": \"p\", \"meta_info\": {\"input_token_logprobs\": [[null, 6, null], [-9, 7, "
      "null], [-9, 8, null]], \"output_token_logprobs\": [[-1, 1, null], [-2, 2, null]]}}");
  for (const auto& [a, b] : {std::pair{&whole, &masked}, {&masked, &whole}, {&scored, &answer}}) {
    const TokenComparison comparison = CompareTokens(*a, *b, {});
    EXPECT_EQ(comparison.difference.tokens, 2U);
    EXPECT_EQ(comparison.difference.differing, 0U);
    EXPECT_EQ(comparison.difference.unscored, 2U);
    EXPECT_TRUE(comparison.findings.empty());
  }
  // Nobody says that what one side lacks is of the prompt.
  for (const auto& [a, b] : {std::pair{&whole, &answer}, {&answer, &whole}}) {
    const TokenComparison comparison = CompareTokens(*a, *b, {});
    EXPECT_EQ(comparison.difference.tokens, 2U);
    EXPECT_NE(FindingOf(comparison, "missing_tokens"), nullptr);
  }
}

TEST(CompareTokens, NamesPromptsThatDiffer) {
  const auto with = [](const std::string& more) { return Scores(Line("p", "1", "-1", more)); };
  const auto differ = [&](const std::string& a, const std::string& b) {
    return FindingOf(CompareTokens(with(a), with(b), {}), "other_prompts") != nullptr;
  };
  const std::string text = ", \"prompt\": \"x\"";
  EXPECT_TRUE(differ(text, ", \"prompt\": \"y\""));
  EXPECT_FALSE(differ(text, text));
  EXPECT_FALSE(differ(text, ""));
  EXPECT_TRUE(differ(", \"prompt_token_ids\": [1, 2]", ", \"prompt_token_ids\": [1, 3]"));
  // Token ids decide over the text.
  EXPECT_FALSE(differ(text + ", \"prompt_ids\": [1]", ", \"prompt\": \"y\", \"prompt_ids\": [1]"));
  const std::string asked = ", \"messages\": [{\"role\": \"user\", \"content\": \"x\"}";
  EXPECT_TRUE(differ(asked + "]", ", \"messages\": [{\"role\": \"user\", \"content\": \"y\"}]"));
  EXPECT_FALSE(differ(asked + ", {\"role\": \"assistant\", \"content\": \"z\"}]",
                      ", \"prompt\": [{\"content\": \"x\", \"role\": \"user\", \"name\": null}]"));
  const TokenComparison comparison = CompareTokens(with(text), with(", \"prompt\": \"y\""), {});
  EXPECT_TRUE(FindingOf(comparison, "other_prompts")->decisive);
}

TEST(CompareTokens, TellsTextsOfOneChecksumApart) {
  const auto text = [](const std::string& token) {
    return Scores("{\"tokens\": [\"" + token + "\"], \"logprobs\": [-1]}");
  };
  EXPECT_NE(FindingOf(CompareTokens(text(" ebblgkjwh"), text(" gjunzdtpb"), {}), "other_tokens"),
            nullptr);
}

TEST(CompareTokens, CallsAnswersWithoutNumbersNotTheSame) {
  const auto answers = [](const std::string& text) {
    return Scores(
        "{\"choices\": [{\"index\": 0, \"logprobs\": {\"tokens\": [\"a\"], \"token_logprobs\": "
        "[-1]}}, {\"index\": 1, \"text\": \"" +
        text + "\", \"logprobs\": null}]}");
  };
  EXPECT_TRUE(CompareTokens(answers("x"), answers("x"), {}).findings.empty());
  const TokenComparison other = CompareTokens(answers("x"), answers("y"), {});
  const Finding* missing = FindingOf(other, "missing_tokens");
  ASSERT_NE(missing, nullptr);
  EXPECT_THAT(missing->message, HasSubstr("1 answers of A and 1 of B have no log-probabilities"));
}

TEST(CompareTokens, PairsUnnamedAnswersByPlaceAndElseByTokens) {
  const auto line = [](const std::string& ids, const std::string& logprobs) {
    return fmt::format("{{\"token_ids\": [{}], \"logprobs\": [{}]}}\n", ids, logprobs);
  };
  const TokenScores a = Scores(line("1, 2", "-1, -2") + line("3", "-3") + line("5", "-5"));
  const TokenScores b = Scores(line("1, 2", "-1, -2") + line("5", "-5") + line("3", "-3"));
  const TokenComparison comparison = CompareTokens(a, b, {});
  EXPECT_EQ(comparison.difference.tokens, 4U);
  EXPECT_EQ(comparison.difference.differing, 0U);
  EXPECT_EQ(comparison.difference.other_tokens, 0U);
  EXPECT_THAT(comparison.notes, Contains(HasSubstr("paired by their tokens")));
}

TEST(CompareTokens, KnowsNoTokenThatTheSidesNameDifferently) {
  const TokenComparison comparison =
      CompareTokens(Scores("{\"tokens\": [1], \"logprobs\": [-1]}"),
                    Scores("{\"tokens\": [\"a\"], \"logprobs\": [-1]}"), {});
  EXPECT_NE(FindingOf(comparison, "missing_token_names"), nullptr);
}

TEST(CompareTokens, CountsWhatIsNotFinite) {
  const TokenScores finite = Scores(Line("p", "1, 2", "-1, -2"));
  const TokenScores lost = Scores(Line("p", "1, 2", "-1, -Infinity"));
  const TokenComparison became = CompareTokens(finite, lost, {.kl_margin = 1.0});
  EXPECT_EQ(became.decision->verdict, MetricVerdict::kDrifted);
  EXPECT_EQ(became.decision->reason, "non_finite");
  EXPECT_THAT(FindingOf(became, "logprobs_differ")->message,
              testing::EndsWith("-2 in A, -inf in B; 1 have no finite value on a side or both"));
  EXPECT_EQ(CompareTokens(lost, finite, {}).decision->reason, "non_finite_history");
  // Equal bits of what is not finite show nothing; vLLM's servers write -9999 for it.
  EXPECT_EQ(CompareTokens(lost, lost, {}).decision->verdict, MetricVerdict::kInconclusive);
  const TokenScores served = Scores(Line("p", "1, 2", "-1, -9999.0"));
  EXPECT_EQ(CompareTokens(finite, served, {}).decision->reason, "non_finite");
}

TEST(CompareTokens, TakesBothColumnsOfOneFile) {
  const TokenScores both =
      Scores("{\"responses\": [1], \"old_log_probs\": [-1], \"rollout_log_probs\": [-1.5]}");
  const TokenComparison comparison = CompareTokens(both, both, {.sampler_as_b = true});
  EXPECT_EQ(comparison.difference.differing, 1U);
  EXPECT_TRUE(comparison.difference.sampled_by_b);
  EXPECT_EQ(comparison.difference.first->b, -1.5);
}

TEST(CompareTokens, ComparesTheExpertsOfEachLayer) {
  const auto line = [](const std::string& experts) {
    return "{\"tokens\": [1, 2], \"logprobs\": [-1, -2], \"experts\": " + experts + "}";
  };
  const TokenComparison comparison =
      CompareTokens(Scores(line("[[[1, 2], [3]], [[1, 2], [4]]]")),
                    Scores(line("[[[2, 1], [3]], [[1, 2], [5]]]")), {});
  EXPECT_EQ(comparison.difference.routed, 4U);
  EXPECT_EQ(comparison.difference.routed_otherwise, 1U);
  EXPECT_EQ(FindingOf(comparison, "routing_differs")->message,
            "1 of 4 sets of experts differ (25 %), first prompt 0, sample 0, token 1, layer 1");
}

TEST(CompareTokens, CallsCoarseNumbersNotEqual) {
  std::string numbers;
  for (int i = 1; i < 30; ++i) numbers += (i > 1 ? ", -0." : "-0.") + std::to_string(i * 31 + 1);
  const TokenScores coarse = Scores("{\"logprobs\": [" + numbers + "]}");
  const TokenComparison comparison = CompareTokens(coarse, coarse, {});
  EXPECT_EQ(comparison.decision->verdict, MetricVerdict::kInconclusive);
  EXPECT_EQ(comparison.decision->reason, "coarsely_printed");
  EXPECT_THAT(comparison.notes, Contains(HasSubstr("at most 3 decimals")));
}

}  // namespace
}  // namespace rharness
