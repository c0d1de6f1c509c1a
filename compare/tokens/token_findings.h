// What a comparison of tokens says beside its decision: findings and notes, in words.
//
// Role: private to this folder, under compare_tokens.h. Pure.
#ifndef RHARNESS_COMPARE_TOKENS_TOKEN_FINDINGS_H_
#define RHARNESS_COMPARE_TOKENS_TOKEN_FINDINGS_H_

#include "compare/tokens/compare_tokens.h"
#include "compare/tokens/token_pairs.h"

namespace rharness {

// Adds to the findings and notes of a comparison that is otherwise filled.
void AddTokenFindings(const TokenScores& a, const TokenScores& b, const SequencePairs& pairs,
                      const TokenRules& rules, TokenComparison* out);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_TOKENS_TOKEN_FINDINGS_H_
