// Which sequence of one side is which of the other, and which of their tokens are the same.
//
// Role: private to this folder, under compare_tokens.h. Pure.
#ifndef RHARNESS_COMPARE_TOKENS_TOKEN_PAIRS_H_
#define RHARNESS_COMPARE_TOKENS_TOKEN_PAIRS_H_

#include <cstddef>
#include <vector>

#include "compare/tokens/token_scores.h"

namespace rharness {

struct SequencePair {
  std::size_t a = 0;  // of TokenScores::sequences
  std::size_t b = 0;
};

struct SequencePairs {
  std::vector<SequencePair> pairs;  // in the order of A
  std::vector<std::size_t> only_a;
  std::vector<std::size_t> only_b;
  bool by_tokens = false;  // some were paired by their tokens
};

SequencePairs PairSequences(const TokenScores& a, const TokenScores& b);

// What of a pair can be compared.
struct CommonTokens {
  std::size_t skip_a = 0;  // tokens before the first of both
  std::size_t skip_b = 0;
  std::size_t count = 0;
  bool other = false;  // the next tokens differ
  bool ended = false;  // the next is on one side alone, or one before that no side states to be of
                       // the prompt
};

CommonTokens CommonOf(const TokenScores& a, const TokenScores& b, const SequencePair& pair);

// Whether both sides state the prompt and it differs: by its token ids, messages or text, the first
// of these that both state.
bool HasOtherPrompts(const TokenScores& a, const TokenScores& b, const SequencePair& pair);

// Whether both sides name their tokens in one way: any token of both, by id or text.
bool NamesTokens(const TokenScores& a, const TokenScores& b);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_TOKENS_TOKEN_PAIRS_H_
