// Log-probabilities as engines and trainers write them: every shape gives the same tokens.
#include "compare/tokens/token_scores.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace rharness {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TokenScores Parsed(const std::string& text) {
  const auto scores = ParseTokenScores(text, "f");
  EXPECT_TRUE(scores.ok()) << (scores.ok() ? "" : scores.error().ToString());
  EXPECT_TRUE(LooksLikeTokenScores(text)) << text;
  return scores.ok() ? *scores : TokenScores();
}

std::vector<std::uint32_t> IdsOf(const TokenScores& scores) {
  std::vector<std::uint32_t> ids;
  for (const TokenName& name : scores.names) ids.push_back(name.id);
  return ids;
}

TEST(TokenScores, ReadsListsByPromptAndSample) {
  const TokenScores scores = Parsed(
      "{\"prompt_id\": \"p\", \"token_ids\": [5, 6], \"logprobs\": [-0.5, -1.25]}\n\n"
      "{\"prompt_id\": \"p\", \"token_ids\": [7], \"logprobs\": [-2]}\r\n"
      "{\"id\": 3, \"sample\": 4, \"tokens\": [8], \"log_probs\": [NaN], \"sampled\": true}\n");
  EXPECT_THAT(IdsOf(scores), ElementsAre(5, 6, 7, 8));
  EXPECT_EQ(scores.logprobs[1], -1.25);
  EXPECT_TRUE(std::isnan(scores.logprobs[3]));
  ASSERT_EQ(scores.sequences.size(), 3U);
  EXPECT_EQ(scores.sequences[1].prompt, "p");
  EXPECT_EQ(scores.sequences[1].sample, 1);
  EXPECT_EQ(scores.sequences[2].prompt, "3");
  EXPECT_EQ(scores.sequences[2].sample, 4);
  EXPECT_TRUE(scores.names_prompts);
  EXPECT_EQ(scores.sampled, true);
}

// A whole sequence has one token more than log-probabilities; a trainer's list those of the answer.
TEST(TokenScores, GivesLogProbabilitiesToTheLastTokens) {
  EXPECT_THAT(IdsOf(Parsed("{\"input_ids\": [1, 2, 3], \"logprobs\": [-0.5, -1]}")),
              ElementsAre(2, 3));
  EXPECT_THAT(IdsOf(Parsed("{\"tokens\": [1, 2, 3], \"logprobs\": [null, -0.5, -1]}")),
              ElementsAre(2, 3));
  EXPECT_THAT(IdsOf(Parsed("{\"tokens\": [9, 9, 1, 2, 3], \"loss_mask\": [1, 0, 1],"
                           " \"rollout_log_probs\": [-0.5, -1, -2]}")),
              ElementsAre(1, 3));
}

TEST(TokenScores, KeepsTheColumnsOfTrainerAndSampler) {
  const TokenScores scores = Parsed(
      "{\"responses\": [1, 2], \"old_log_probs\": [-0.5, -1], \"rollout_log_probs\": [-0.6, "
      "-1.1]}");
  EXPECT_THAT(scores.logprobs, ElementsAre(-0.5, -1));
  EXPECT_THAT(scores.sampler, ElementsAre(-0.6, -1.1));
  EXPECT_FALSE(scores.sampled);
}

TEST(TokenScores, ReadsBatchesRowByRow) {
  const TokenScores scores = Parsed(
      "{\"uid\": [\"a\", \"b\"], \"responses\": [[1, 2], [3, 4]], \"response_mask\": [[1, 1], [1, "
      "0]],"
      " \"old_log_probs\": [[-1, -2], [-3, 0]]}");
  EXPECT_THAT(IdsOf(scores), ElementsAre(1, 2, 3));
  EXPECT_EQ(scores.sequences[1].prompt, "b");
}

// vllm/entrypoints/openai: completions and chats, the ids on request; the answers of a batch.
TEST(TokenScores, ReadsOpenAiResponses) {
  const TokenScores completion = Parsed(
      "{\"id\": \"cmpl-8f\", \"choices\": [{\"index\": 0, \"logprobs\": {\"tokens\": [\"a\", \" "
      "b\"],"
      " \"token_logprobs\": [-0.5, -1], \"top_logprobs\": null}, \"token_ids\": [5, 6]},"
      "{\"index\": 1, \"logprobs\": {\"tokens\": [\"token_id:7\"], \"token_logprobs\": [-2]}}]}");
  EXPECT_THAT(IdsOf(completion), ElementsAre(5, 6, 7));
  EXPECT_EQ(completion.sequences[1].sample, 1);
  EXPECT_FALSE(completion.names_prompts);  // the id of a response is another one each time
  EXPECT_EQ(completion.sampled, true);
  const TokenScores chat = Parsed(
      "{\"custom_id\": \"q1\", \"response\": {\"status_code\": 200, \"body\": {\"choices\": "
      "[{\"index\": 0,"
      " \"logprobs\": {\"content\": [{\"token\": \"a\", \"logprob\": -0.5, \"bytes\": "
      "[97]}]}}]}}}\n"
      "{\"custom_id\": \"q2\", \"response\": {\"status_code\": 500, \"body\": {\"error\": 1}}}");
  EXPECT_EQ(chat.sequences.front().prompt, "q1");
  EXPECT_EQ(chat.names.front().text, completion.names.front().text);  // "a", by its bytes
  EXPECT_THAT(chat.notes, ElementsAre("left out: 1 answers without choices"));
}

// A prompt is scored by asking for one token more, which is left out.
TEST(TokenScores, ReadsScoredPrompts) {
  const std::string prompt =
      "\"prompt_logprobs\": [null, {\"12\": {\"logprob\": -0.5, \"rank\": 2, \"decoded_token\": "
      "\"a\"},"
      " \"9\": {\"logprob\": -0.1, \"rank\": 1}}, {\"13\": {\"logprob\": -1}}]";
  const TokenScores response = Parsed(
      "{\"choices\": [{\"index\": 0, \"logprobs\": {\"tokens\": [\"x\"], \"token_logprobs\": "
      "[-3]}, " +
      prompt + "}]}");
  EXPECT_THAT(IdsOf(response), ElementsAre(12, 13));
  EXPECT_THAT(response.logprobs, ElementsAre(-0.5, -1));
  EXPECT_EQ(response.sampled, false);
  const TokenScores request =
      Parsed("{\"request_id\": \"0\", \"prompt_token_ids\": [11, 9, 13], " + prompt +
             ", \"outputs\": [{\"index\": 0, \"token_ids\": [4], \"logprobs\": [{\"4\": "
             "{\"logprob\": -3}}]}]}");
  EXPECT_THAT(IdsOf(request), ElementsAre(9, 13));  // the id decides, not the order
  EXPECT_THAT(request.logprobs, ElementsAre(-0.1, -1));
}

// vllm/outputs.py: CompletionOutput.
TEST(TokenScores, ReadsRequestOutputsWithTheirExperts) {
  const TokenScores scores = Parsed(
      "[{\"request_id\": \"0\", \"outputs\": [{\"index\": 0, \"token_ids\": [4, 5], \"logprobs\":"
      " [{\"4\": {\"logprob\": -1}}, {\"6\": {\"logprob\": -0.1}, \"5\": {\"logprob\": -2}}],"
      " \"routed_experts\": [[[9, 9], [9, 9]], [[1, 2], [3, 4]], [[2, 1], [3, 5]]]}]}]");
  EXPECT_THAT(scores.logprobs, ElementsAre(-1, -2));
  ASSERT_EQ(scores.sequences.front().layers, 2U);
  ASSERT_EQ(scores.experts.size(), 4U);
  EXPECT_EQ(scores.experts[0], scores.experts[2]);  // a set, whatever its order
  EXPECT_NE(scores.experts[1], scores.experts[3]);
}

// sglang/srt: meta_info of /generate.
TEST(TokenScores, ReadsSglangsAnswers) {
  const TokenScores scores = Parsed(
      "[{\"text\": \"x\", \"meta_info\": {\"id\": \"r\", \"output_token_logprobs\": [[-0.5, 5, "
      "null],"
      " [-1, 6, \" b\"]]}}, {\"meta_info\": {\"input_token_logprobs\": [[null, 1, null], [-2, 7, "
      "null]],"
      " \"output_token_logprobs\": [[-3, 8, null]]}}]");
  EXPECT_THAT(IdsOf(scores), ElementsAre(5, 6, 7));
  EXPECT_FALSE(scores.sampled);  // one sampled, one did not
}

TEST(TokenScores, SaysThatExpertsInBase64AreNotRead) {
  const TokenScores scores = Parsed(
      "{\"choices\": [{\"logprobs\": {\"tokens\": [\"a\"], \"token_logprobs\": [-1]},"
      " \"routed_experts\": \"k05VTVBZ\"}]}");
  EXPECT_THAT(scores.notes, ElementsAre("left out: 1 answers' experts, which are base64"));
}

TEST(TokenScores, ReadsOneValueOverManyLinesAndAByteOrderMark) {
  EXPECT_THAT(IdsOf(Parsed("{\n \"tokens\": [1],\n \"logprobs\": [-1]\n}\n")), ElementsAre(1));
  EXPECT_THAT(IdsOf(Parsed("\xef\xbb\xbf{\"tokens\": [1], \"logprobs\": [-1]}")), ElementsAre(1));
}

TEST(TokenScores, SeesCoarseNumbers) {
  std::string coarse, fine;
  for (int i = 1; i < 30; ++i) {
    coarse += (i > 1 ? ", -0." : "-0.") + std::to_string(i * 31 + 1);
    fine += (i > 1 ? ", -0.1234567890" : "-0.1234567890") + std::to_string(i);
  }
  EXPECT_EQ(Parsed("{\"logprobs\": [" + coarse + "]}").decimals, 3);
  // At the full precision of a double, each of them.
  std::string full;
  for (int i = 0; i < 30; ++i) full += (i > 0 ? "," : "") + std::string("-6.047613620758057");
  EXPECT_FALSE(Parsed("{\"logprobs\": [" + full + "]}").decimals);
  EXPECT_FALSE(Parsed("{\"logprobs\": [" + fine + "]}").decimals);
}

TEST(TokenScores, IsNotRecognisedInCurvesAndScores) {
  EXPECT_FALSE(LooksLikeTokenScores("{\"step\": 1, \"logprobs\": -1.5}"));
  EXPECT_FALSE(LooksLikeTokenScores("{\"step\": 1, \"logprobs/mean\": [1]}"));
  EXPECT_FALSE(LooksLikeTokenScores("{\"id\": 1, \"acc\": 1.0}"));
  EXPECT_FALSE(LooksLikeTokenScores("a,logprobs\n"));
  EXPECT_FALSE(LooksLikeTokenScores(""));
}

}  // namespace
}  // namespace rharness
