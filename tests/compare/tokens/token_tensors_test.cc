// Log-probabilities in tensors, as trainers hold their batches.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "compare/tokens/token_scores.h"
#include "tests/compare/weights/safetensors_file.h"

namespace rharness {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class TokenTensors : public testing::Test {
 protected:
  Result<TokenScores> Read(const std::vector<TestTensor>& tensors) const {
    const auto path = folder_.path() / "batch.safetensors";
    EXPECT_TRUE(WriteFileAtomic(path, FileOf(tensors)).ok());
    const auto checkpoint = OpenCheckpoint(path);
    EXPECT_TRUE(checkpoint.ok());
    looks_ = LooksLikeTokenScores(**checkpoint);
    return LoadTokenScores(**checkpoint, "f");
  }
  TokenScores Good(const std::vector<TestTensor>& tensors) const {
    const auto scores = Read(tensors);
    EXPECT_TRUE(scores.ok()) << (scores.ok() ? "" : scores.error().ToString());
    EXPECT_TRUE(looks_);
    return scores.ok() ? *scores : TokenScores();
  }
  std::string ErrorOf(const std::vector<TestTensor>& tensors) const {
    const auto scores = Read(tensors);
    EXPECT_FALSE(scores.ok());
    return scores.ok() ? "" : scores.error().ToString();
  }

  ScopedTempDir folder_ = *ScopedTempDir::Make("rharness-tokens-");
  mutable bool looks_ = false;
};

const TestTensor kLogprobs = {"old_log_probs", "F32", "[2,2]", BytesOf<float>({-1, -2, -3, -4})};
const TestTensor kIds = {"responses", "I64", "[2,2]", BytesOf<std::int64_t>({5, 6, 7, 8})};

TEST_F(TokenTensors, ReadsRowsWithTheirMask) {
  const TokenScores scores = Good({kLogprobs,
                                   {"response_mask", "BOOL", "[2,2]", BytesOf<char>({1, 1, 1, 0})},
                                   kIds,
                                   {"rollout_log_probs", "BF16", "[2,2]",
                                    BytesOf<std::uint16_t>({0xbf80, 0xc000, 0xc040, 0})}});
  EXPECT_THAT(scores.logprobs, ElementsAre(-1, -2, -3));
  EXPECT_THAT(scores.sampler, ElementsAre(-1, -2, -3));
  EXPECT_EQ(scores.names[2].id, 7U);
  EXPECT_EQ(scores.sequences[1].count, 1U);
  EXPECT_FALSE(scores.names_prompts);
}

// OpenRLHF: whole sequences, and log-probabilities of their last tokens. Half precision: numpy.
TEST_F(TokenTensors, GivesLogProbabilitiesToTheLastTokens) {
  const TokenScores scores =
      Good({{"action_log_probs", "F16", "[2,2]",
             BytesOf<std::uint16_t>({0xbc00, 0xc000, 0x8001, 0xb555})},
            {"action_mask", "I64", "[2,2]", BytesOf<std::int64_t>({1, 1, 1, 1})},
            {"prompt_id", "I32", "[2]", BytesOf<std::int32_t>({40, 41})},
            {"sequences", "I64", "[2,3]", BytesOf<std::int64_t>({1, 2, 3, 4, 5, 6})}});
  EXPECT_THAT(scores.logprobs, ElementsAre(-1, -2, -5.960464477539063e-08, -0.333251953125));
  EXPECT_EQ(scores.names[2].id, 5U);
  EXPECT_EQ(scores.sequences[1].prompt, "41");
}

TEST_F(TokenTensors, ReadsSequencesThatFollowEachOther) {
  const TestTensor flat = {"logprobs", "F64", "[3]", BytesOf<double>({-1, -2, -3})};
  const TestTensor ids = {"token_ids", "I32", "[3]", BytesOf<std::int32_t>({5, 6, 7})};
  const TokenScores by_length =
      Good({{"lengths", "I64", "[2]", BytesOf<std::int64_t>({2, 1})}, flat, ids});
  ASSERT_EQ(by_length.sequences.size(), 2U);
  EXPECT_EQ(by_length.sequences[1].begin, 2U);
  const TokenScores by_prompt =
      Good({flat, {"prompt_id", "I64", "[3]", BytesOf<std::int64_t>({8, 9, 9})}, ids});
  ASSERT_EQ(by_prompt.sequences.size(), 2U);
  EXPECT_EQ(by_prompt.sequences[1].prompt, "9");
  EXPECT_EQ(by_prompt.sequences[1].count, 2U);
  EXPECT_THAT(ErrorOf({{"lengths", "I64", "[2]", BytesOf<std::int64_t>({2, 7})}, flat, ids}),
              HasSubstr("do not add up to the 3"));
  EXPECT_THAT(ErrorOf({{"lengths", "I64", "[2]", BytesOf<std::int64_t>({3, 7})}, flat, ids}),
              HasSubstr("do not add up to the 3"));
}

TEST_F(TokenTensors, ReadsExpertsByLayer) {
  const TokenScores scores = Good(
      {kLogprobs,
       kIds,
       {"routed_experts", "U8", "[2,2,1,2]", BytesOf<std::uint8_t>({1, 2, 2, 1, 1, 3, 3, 1})}});
  ASSERT_EQ(scores.experts.size(), 4U);
  EXPECT_EQ(scores.experts[0], scores.experts[1]);
  EXPECT_NE(scores.experts[1], scores.experts[2]);
  EXPECT_EQ(scores.sequences[1].layers, 1U);
}

TEST_F(TokenTensors, RefusesShapesThatDoNotAgree) {
  EXPECT_THAT(ErrorOf({kLogprobs, {"responses", "I64", "[1,2]", BytesOf<std::int64_t>({5, 6})}}),
              HasSubstr("tensor responses has 1 rows of 2; expected 2 of 2"));
  EXPECT_THAT(ErrorOf({kLogprobs, {"responses", "F32", "[2,2]", BytesOf<float>({5, 6, 7, 8})}}),
              HasSubstr("expected integers"));
  EXPECT_THAT(ErrorOf({{"old_log_probs", "I64", "[1]", BytesOf<std::int64_t>({1})}, kIds}),
              HasSubstr("expected floating point"));
  EXPECT_THAT(
      ErrorOf({kLogprobs, {"responses", "I64", "[2,2]", BytesOf<std::int64_t>({5, -6, 7, 8})}}),
      HasSubstr("sequence 0"));
  EXPECT_THAT(ErrorOf({{"lengths", "I64", "[1]", BytesOf<std::int64_t>({2})}, kLogprobs, kIds}),
              HasSubstr("expected 2 integers"));
  EXPECT_THAT(ErrorOf({{"lengths", "I64", "[2]", BytesOf<std::int64_t>({2, 3})}, kLogprobs, kIds}),
              HasSubstr("sequence 1: a length of 3; expected 0 to 2"));
  EXPECT_THAT(ErrorOf({{"lengths", "I64", "[2]", BytesOf<std::int64_t>({-1, 2})}, kLogprobs, kIds}),
              HasSubstr("sequence 0: a length of -1"));
  for (const float mask : {0.5F, std::nanf(""), 2.0F}) {
    EXPECT_THAT(
        ErrorOf(
            {kLogprobs, kIds, {"response_mask", "F32", "[2,2]", BytesOf<float>({1, 1, 0, mask})}}),
        HasSubstr("sequence 1: token 1: expected a mask of 0 or 1"));
  }
  EXPECT_THAT(
      ErrorOf({kLogprobs, kIds, {"routed_experts", "U8", "[2,2]", BytesOf<char>({1, 2, 3, 4})}}),
      HasSubstr("routed_experts"));
}

TEST_F(TokenTensors, LeavesOtherCheckpointsAlone) {
  const auto path = folder_.path() / "model.safetensors";
  ASSERT_TRUE(
      WriteFileAtomic(path, FileOf({{"fc.weight", "F32", "[1]", BytesOf<float>({1})}})).ok());
  EXPECT_FALSE(LooksLikeTokenScores(**OpenCheckpoint(path)));
}

}  // namespace
}  // namespace rharness
