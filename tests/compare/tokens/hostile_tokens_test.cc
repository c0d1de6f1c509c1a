// Log-probabilities from strangers: a clear error with its place, or a finding.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "compare/tokens/token_scores.h"
#include "harness/base/files.h"

namespace rharness {
namespace {

using testing::HasSubstr;

std::string ErrorOf(const std::string& text) {
  const auto scores = ParseTokenScores(text, "f");
  EXPECT_FALSE(scores.ok()) << text;
  return scores.ok() ? "" : scores.error().ToString();
}

TEST(HostileTokens, NamesFileLineAndToken) {
  const std::string good = "{\"tokens\": [1, 2], \"logprobs\": [-1, -2]}\n";
  const std::string error = ErrorOf(good + "{\"tokens\": [1, 2], \"logprobs\": [-1, \"x\"]}");
  EXPECT_THAT(error, HasSubstr("f: line 2"));
  EXPECT_THAT(error, HasSubstr("token 1: expected a log-probability, found 'x'"));
  EXPECT_THAT(ErrorOf(good + "{\"logprobs\": [-1"), HasSubstr("f: line 2"));
  EXPECT_THAT(ErrorOf("[" + good + ", 5]"), HasSubstr("f: element 1"));
}

TEST(HostileTokens, RefusesWhatIsNoLogProbability) {
  EXPECT_THAT(ErrorOf("{\"tokens\": [1], \"logprobs\": [5.25]}"),
              HasSubstr("token 0: a log-probability of 5.25; expected at most 0"));
  EXPECT_THAT(ErrorOf("{\"tokens\": [1], \"logprobs\": [0.01]}"), HasSubstr("expected at most 0"));
  for (const std::string mask : {"0.5", "NaN", "2", "\"1\"", "null"}) {
    EXPECT_THAT(ErrorOf("{\"logprobs\": [-1, -2], \"loss_mask\": [1, " + mask + "]}"),
                HasSubstr("f: line 1: token 1: expected a mask of 0 or 1"));
  }
  EXPECT_THAT(ErrorOf("{\"tokens\": [1], \"logprobs\": [1e999]}"), HasSubstr("f"));
  EXPECT_THAT(ErrorOf("{\"tokens\": [1, 2], \"logprobs\": [-1, null]}"), HasSubstr("token 1"));
  EXPECT_THAT(ErrorOf("{\"tokens\": [-4], \"logprobs\": [-1]}"), HasSubstr("expected the id"));
  EXPECT_THAT(ErrorOf("{\"tokens\": [1e30], \"logprobs\": [-1]}"), HasSubstr("expected the id"));
  EXPECT_THAT(ErrorOf("{\"tokens\": [1], \"logprobs\": [-1, -2]}"),
              HasSubstr("2 log-probabilities and 1 tokens"));
  EXPECT_THAT(ErrorOf("{\"tokens\": [1]}"), HasSubstr("no log-probabilities"));
  EXPECT_THAT(ErrorOf("{\"tokens\": [], \"logprobs\": []}"), HasSubstr("no log-probability"));
  EXPECT_THAT(ErrorOf("5"), HasSubstr("expected an object"));
  EXPECT_THAT(ErrorOf(""), HasSubstr("f"));
  EXPECT_THAT(ErrorOf(std::string(200, '[') + std::string(200, ']')), HasSubstr("f"));
}

TEST(HostileTokens, RefusesTwoAnswersOfOneName) {
  const std::string line = "{\"prompt_id\": 1, \"sample\": 0, \"logprobs\": [-1]}\n";
  EXPECT_THAT(ErrorOf(line + line), HasSubstr("prompt '1' has sample 0 twice"));
  EXPECT_THAT(ErrorOf("{\"logprobs\": [-1]}\n{\"logprobs\": [-1], \"rollout_log_probs\": [-1]}"),
              HasSubstr("in some records and not in others"));
}

TEST(HostileTokens, RefusesBrokenAnswersOfServers) {
  const auto choice = [](const std::string& of) {
    return "{\"choices\": [{\"logprobs\": " + of + "}]}";
  };
  EXPECT_THAT(ErrorOf(choice("{\"content\": [{\"token\": \"a\"}]}")), HasSubstr("token 0"));
  EXPECT_THAT(ErrorOf(choice("{\"tokens\": [], \"token_logprobs\": [-1]}")),
              HasSubstr("1 log-probabilities of 0 tokens"));
  EXPECT_THAT(ErrorOf(choice("null")), HasSubstr("no log-probability of a token"));
  EXPECT_THAT(ErrorOf("{\"choices\": [7], \"a\": {\"logprobs\": []}}"), HasSubstr("no object"));
  EXPECT_THAT(
      ErrorOf("{\"outputs\": [{\"token_ids\": [4], \"logprobs\": [{\"5\": {\"logprob\": -1}}]}]}"),
      HasSubstr("none of the log-probabilities is of its id 4"));
  EXPECT_THAT(ErrorOf("{\"outputs\": [{\"token_ids\": [4], \"logprobs\": [{}]}]}"),
              HasSubstr("token 0"));
  EXPECT_THAT(ErrorOf("{\"meta_info\": {\"output_token_logprobs\": [[-1]]}}"),
              HasSubstr("expected [logprob, token id, text]"));
  EXPECT_THAT(ErrorOf("{\"tokens\": [1], \"logprobs\": [-1], \"experts\": [[]]}"),
              HasSubstr("experts"));
}

// Longer than memory should be for one record; many lines of any total size are read.
TEST(HostileTokens, BoundsALineAndReadsLongFiles) {
  const ScopedTempDir folder = *ScopedTempDir::Make();
  const auto path = folder.path() / "long.jsonl";
  const std::string line =
      "{\"text\": \"" + std::string(3 << 20, 'x') + "\", \"logprobs\": [-1]}\n";
  {
    std::ofstream file(path);
    for (int i = 0; i < 7; ++i) file << line;
  }
  const auto scores = LoadTokenScores(path);
  ASSERT_TRUE(scores.ok()) << scores.error().ToString();
  EXPECT_EQ(scores->sequences.size(), 7U);
  {
    std::ofstream file(path, std::ios::app);
    file << "{\"text\": \"" << std::string(17 << 20, 'x') << "\"}";
  }
  const auto refused = LoadTokenScores(path);
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().ToString(), HasSubstr("line 8"));
  EXPECT_THAT(refused.error().ToString(), HasSubstr("a line of more than 16777216 bytes"));
}

TEST(HostileTokens, ReadsNoFolderPipeOrMissingFile) {
  const ScopedTempDir folder = *ScopedTempDir::Make();
  EXPECT_FALSE(LoadTokenScores(folder.path()).ok());
  EXPECT_FALSE(LoadTokenScores(folder.path() / "none").ok());
}

}  // namespace
}  // namespace rharness
