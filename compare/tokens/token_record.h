// One record on its way from JSON to the builder.
//
// Role: private to this folder: what the readers of records share.
#ifndef RHARNESS_COMPARE_TOKENS_TOKEN_RECORD_H_
#define RHARNESS_COMPARE_TOKENS_TOKEN_RECORD_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compare/tokens/token_builder.h"
#include "harness/base/json.h"

namespace rharness {

struct TokenRecord {
  std::optional<std::string> prompt;
  std::optional<std::int64_t> sample;
  std::vector<ScoredToken> tokens;
  bool has_sampler = false;
  std::vector<std::uint32_t> experts;
  TokenPrompt of_prompt;
};

// A member of that kind; nullptr without one.
const Json* ArrayIn(const Json& object, std::string_view name);
const Json* ObjectIn(const Json& object, std::string_view name);

// Of the token at this place. Errors: invalid_input.
Result<double> LogprobAt(const Json& value, std::size_t place, TokenBuilder* out);
Result<std::uint32_t> TokenIdAt(const Json& value, std::size_t place, const TokenBuilder& out);
// vLLM writes the id in place of the text on request: "token_id:1234".
TokenName NameOfText(std::string_view text);
// Past the nulls that a list begins with: a first token has no log-probability.
std::size_t FirstStated(const Json::Array& list);

// Texts, messages or token ids of a prompt, in the members that have them; what is stated already
// stays.
void StatePrompt(const Json& object, TokenPrompt* out);

// [[first layer's experts], ...] of each token; those of the last tokens count. nullptr: none.
Status AddExperts(const Json* list, TokenRecord* record, const TokenBuilder& out);
Status Give(const TokenRecord& record, TokenBuilder* out);

// The answers of servers; see token_scores.h. `response` may have a body.
Status AddResponse(const Json& response, const TokenRecord& record, TokenBuilder* out);
Status AddRequestOutput(const Json& request, const TokenRecord& of, TokenBuilder* out);
Status AddSglang(const Json& answer, TokenRecord record, TokenBuilder* out);
// A record of lm-evaluation-harness with `resps`.
Status AddLikelihoods(const Json& sample, TokenRecord record, TokenBuilder* out);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_TOKENS_TOKEN_RECORD_H_
