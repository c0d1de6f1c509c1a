// Puts the tokens of one side together, within the limits of token_scores.h.
//
// Role: private to this folder, under the readers.
#ifndef RHARNESS_COMPARE_TOKENS_TOKEN_BUILDER_H_
#define RHARNESS_COMPARE_TOKENS_TOKEN_BUILDER_H_

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "compare/tokens/token_scores.h"
#include "harness/base/json.h"
#include "harness/base/result.h"

namespace rharness {

// Names of the same thing in the files of several programs, the first that is there counts.
inline constexpr std::string_view kLogprobNames[] = {
    "logprobs",         "log_probs",     "token_logprobs", "old_log_probs", "old_per_token_logps",
    "action_log_probs", "prev_logprobs", "per_token_logps"};
inline constexpr std::string_view kSamplerNames[] = {"rollout_log_probs", "rollout_logprobs",
                                                     "sampling_per_token_logps",
                                                     "sampling_logprobs", "generation_logprobs"};
inline constexpr std::string_view kTokenNames[] = {"responses",  "response_ids", "completion_ids",
                                                   "output_ids", "token_ids",    "tokens",
                                                   "input_ids",  "sequences"};
inline constexpr std::string_view kMaskNames[] = {
    "response_mask", "completion_mask", "action_mask",   "loss_mask",
    "token_mask",    "token_loss_mask", "attention_mask"};
inline constexpr std::string_view kExpertNames[] = {"routed_experts", "experts"};

// One token of a record; the sampler's log-probability where the record has both.
struct ScoredToken {
  double logprob = 0.0;
  double sampler = 0.0;
  TokenName name;
};

class TokenBuilder {
 public:
  explicit TokenBuilder(std::string file) : file_(std::move(file)) {}

  // The place that errors name: "FILE: line 3".
  void At(std::string where) { where_ = std::move(where); }
  const std::string& where() const { return where_; }
  Error Fail(std::string message) const { return InvalidInput(std::move(message), where_); }

  // `prompt` empty: the sequence is known by its place. Without a sample, the next of its prompt.
  // `experts`: digests of sets, `layers` for each token; or none.
  Status Add(const std::optional<std::string>& prompt, std::optional<std::int64_t> sample,
             std::span<const ScoredToken> tokens, bool has_sampler,
             std::span<const std::uint32_t> experts = {}, const TokenPrompt& of_prompt = {});
  // States of every sequence so far and to come; two that disagree are not stated.
  void Sampled(bool sampled);
  void Format(std::string_view name) {
    if (scores_.format.empty()) scores_.format = name;
  }
  // Of a number as printed.
  void Printed(double value);
  // Of every sequence: one value for each given text.
  void OfContinuations() { scores_.continuations = true; }
  void LeaveOut(std::string why) { ++left_out_[std::move(why)]; }
  // An answer without log-probabilities: what it says must be the same on both sides.
  Status LeaveOutAnswer(std::string_view content);

  std::size_t records = 0;  // begun; the place of one without an id

  Result<TokenScores> Finish() &&;

 private:
  std::string file_;
  std::string where_;
  TokenScores scores_;
  bool unnamed_ = false;
  std::optional<bool> has_sampler_;
  std::optional<bool> sampled_;
  bool sampled_differs_ = false;
  std::unordered_map<std::string, std::int64_t> next_sample_;
  std::set<std::pair<std::string, std::int64_t>> stated_;
  std::unordered_map<std::string, std::size_t> left_out_;
  int printed_ = 0;
  int most_decimals_ = 0;
};

// Of a token's text or bytes; see TokenName. Of a set of experts, whatever their order.
std::uint64_t DigestOfText(std::string_view text);
std::uint32_t DigestOfExperts(std::vector<std::int64_t> experts);

// Reads one JSON record into the builder. Errors: invalid_input, at the builder's place.
Status AddTokenRecord(const Json& record, TokenBuilder* out);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_TOKENS_TOKEN_BUILDER_H_
