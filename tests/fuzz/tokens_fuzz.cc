// Fuzzes the reader of log-probabilities of tokens, and the comparison of two sides: what is
// accepted obeys token_scores.h, a side beside itself has no token that differs, and beside another
// the counts hold.
//
// Run: rharness-tokens-fuzz -max_total_time=60 -dict=tokens.dict CORPUS tokens_seeds
#include <cmath>

#include "compare/tokens/compare_tokens.h"
#include "tests/fuzz/fuzz_check.h"

namespace rharness {
namespace {

void CheckScores(const TokenScores& scores) {
  const std::size_t tokens = scores.logprobs.size();
  Require(scores.names.size() == tokens && !scores.format.empty());
  Require(scores.sampler.empty() || scores.sampler.size() == tokens);
  for (const TokenSequence& sequence : scores.sequences) {
    Require(sequence.begin <= tokens && sequence.count <= tokens - sequence.begin);
    const std::size_t sets = sequence.layers * sequence.count;
    Require(sequence.experts <= scores.experts.size() &&
            sets <= scores.experts.size() - sequence.experts);
  }
}

void CheckComparison(const TokenComparison& compared) {
  const TokenDifference& difference = compared.difference;
  Require(difference.differing <= difference.tokens);
  Require(difference.routed_otherwise <= difference.routed);
  Require(difference.first.has_value() == (difference.differing > 0));
  Require(!(difference.k3.value < 0.0) && difference.beyond_two <= difference.tokens);
}

void Check(std::string_view text) {
  const auto scores = ParseTokenScores(text, "fuzz");
  if (!scores.ok()) {
    return RequireError(scores.error(), {ErrorCode::kInvalidInput}, "fuzz");
  }
  CheckScores(*scores);
  TokenRules rules{.kl_margin = 0.01};
  const TokenComparison same = CompareTokens(*scores, *scores, rules);
  CheckComparison(same);
  Require(same.difference.differing == 0 && same.difference.only_a == 0);
  TokenScores other = *scores;
  for (std::size_t i = 0; i < other.logprobs.size(); i += 2) other.logprobs[i] -= 0.125;
  if (!other.sequences.empty()) other.sequences.pop_back();
  rules.sampled_by_b = true;
  CheckComparison(CompareTokens(*scores, other, rules));
  CheckComparison(CompareTokens(other, *scores, {}));
}

}  // namespace
}  // namespace rharness

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  rharness::Check(rharness::TextOf(data, size));
  return 0;
}
