// Two programs that scored the same tokens: are they bit-equal, where not, how much, does it
// matter?
//
// Role: two TokenScores in; numbers, the decision on their divergence and findings out, for a
// Comparison. Pure.
#ifndef RHARNESS_COMPARE_TOKENS_COMPARE_TOKENS_H_
#define RHARNESS_COMPARE_TOKENS_COMPARE_TOKENS_H_

#include <optional>
#include <string>
#include <vector>

#include "compare/metrics/decision.h"
#include "compare/tokens/token_difference.h"
#include "compare/tokens/token_scores.h"
#include "harness/verdict/verdict.h"

namespace rharness {

struct TokenRules {
  std::optional<double> kl_margin;   // nats a token, > 0
  std::optional<bool> sampled_by_b;  // who drew the tokens; empty: as the files say
  // Both columns of one file: B is its sampler. Needs a.sampler.
  bool sampler_as_b = false;
};

struct TokenComparison {
  TokenDifference difference;
  std::optional<MetricDecision> decision;  // "KL(A||B)"; empty: no token was compared, or
                                           // the values are of whole continuations
  // Not decisive but "other_tokens", "other_prompts" and "other_sequences": not comparable.
  // "missing_tokens", "missing_token_names": something that decides is not known. "non_finite".
  // "logprobs_differ", "ratio_tail", "routing_differs": how far.
  std::vector<Finding> findings;
  std::vector<std::string> notes;
};

// Sequences are paired by prompt and sample. Where a side does not name its prompts they are paired
// by place; pairs with different tokens are then paired again by equal tokens, in their order. In a
// pair, tokens are compared up to the first that differs. Tokens that one side alone scored before
// the first common one, such as those of a prompt, are skipped. Tokens are the same by their ids if
// both sides state these, else by their texts.
// Cost: O(tokens), 4 bytes for each beside the two sides.
TokenComparison CompareTokens(const TokenScores& a, const TokenScores& b, const TokenRules& rules);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_TOKENS_COMPARE_TOKENS_H_
