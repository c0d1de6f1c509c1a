// The log-probabilities that one program gave to tokens, from the files that programs write.
//
// Role: one side of compare_tokens.h. Nothing in a file is executed. A record is a JSON object, one
// a line (JSON Lines), or an element of one array; a record with a list of lists is a batch. Read
// are, by their members:
//   choices                 OpenAI's responses, as vLLM and others write them: logprobs.content[]
//   of
//                           a chat, logprobs.tokens and .token_logprobs of a completion; token_ids,
//                           prompt_token_ids and prompt_logprobs (vLLM); also inside
//                           response.body with a custom_id, as batches are answered
//   outputs                 vLLM's RequestOutput as an object (vllm/outputs.py, vllm/logprobs.py)
//   meta_info               SGLang's /generate: [logprob, token id, text] in output_token_logprobs
//                           and input_token_logprobs
//   a list of log-prob.     logprobs, log_probs, token_logprobs; old_log_probs (veRL 0.9),
//                           old_per_token_logps (TRL 1.16), action_log_probs (OpenRLHF 0.11),
//                           prev_logprobs (NeMo-RL, train_data_stepN.jsonl); of the sampler beside
//                           them: rollout_log_probs, sampling_per_token_logps, generation_logprobs
//   resps                   lm-evaluation-harness's samples: the log-likelihood of each
//   continuation
//                           is read as one token
// The same names of lists are the names of tensors in .npz, safetensors and .pt, [sequences,
// length] with a mask or lengths, as those trainers hold them: responses, completion_ids,
// sequences, tokens, token_ids; response_mask, completion_mask, action_mask, loss_mask.
#ifndef RHARNESS_COMPARE_TOKENS_TOKEN_SCORES_H_
#define RHARNESS_COMPARE_TOKENS_TOKEN_SCORES_H_

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compare/weights/checkpoint.h"
#include "harness/base/result.h"

namespace rharness {

// What is read of one side: beyond it, an error. 32 bytes a token at most.
inline constexpr std::size_t kMostTokens = std::size_t{1} << 25;
inline constexpr std::size_t kMostSequences = std::size_t{1} << 21;
inline constexpr std::size_t kMostExpertSets = std::size_t{1} << 27;
inline constexpr std::size_t kMostTokenLine = std::size_t{16} << 20;       // bytes
inline constexpr std::size_t kMostTokenDocument = std::size_t{256} << 20;  // one value, no lines

// By which a token is the same on both sides: its id, and its text or bytes: themselves up to 7 of
// them, else 63 bits of their SHA-256.
struct TokenName {
  static constexpr std::uint32_t kNotStated = 0xffffffff;
  static constexpr std::uint64_t kNoText = ~std::uint64_t{0};
  std::uint32_t id = kNotStated;
  std::uint64_t text = kNoText;
};

// What a record states of its prompt beside its id.
struct TokenPrompt {
  std::uint64_t ids = TokenName::kNoText;  // digests; kNoText: not stated
  std::uint64_t messages = TokenName::kNoText;
  std::uint64_t text = TokenName::kNoText;
  std::size_t scored = 0;  // so many of the first tokens are of the prompt
  std::size_t masked = 0;  // so many before the first token are left out by a mask
};

// The tokens of one answer to one prompt, in order; those without a log-probability are left out.
struct TokenSequence {
  std::string prompt;       // its id; its place in the file, from 0, where none is stated
  std::int64_t sample = 0;  // of several answers to the prompt
  std::size_t begin = 0;    // of the tokens in TokenScores
  std::size_t count = 0;
  std::size_t experts = 0;  // where its expert sets begin
  std::size_t layers = 0;   // of routed experts, for each of its tokens; 0: none are stated
  TokenPrompt of_prompt;
};

struct TokenScores {
  std::string format;  // "OpenAI responses"
  std::vector<TokenSequence> sequences;
  bool names_prompts = false;    // every record states the id of its prompt
  std::vector<double> logprobs;  // natural, exactly as stated: widened, or as printed
  std::vector<TokenName> names;
  std::vector<double> sampler;          // a second column: of the program that sampled; or empty
  std::vector<std::uint32_t> experts;   // a digest of each set: by token, then layer
  bool continuations = false;           // of given texts, one value for each: nobody drew them
  std::optional<bool> sampled;          // this program drew the tokens itself; empty: not stated
  std::optional<int> decimals;          // printed with at most so many, fewer than single precision
  std::vector<std::uint64_t> unscored;  // digests of answers without log-probabilities, sorted
  std::vector<std::string> notes;       // what was left out
};

// Whether JSON that begins so has log-probabilities of tokens.
bool LooksLikeTokenScores(std::string_view head);
// The same of tensors, by their names.
bool LooksLikeTokenScores(const Checkpoint& checkpoint);

// Errors: invalid_input with file, line or array element, and token: a log-probability above
// 0.001 (rounding makes small positive ones), a mask of other values than 0 and 1, lists of unequal
// length, a prompt with one sample twice, more than the limits above. Not finite values are read.
Result<TokenScores> ParseTokenScores(std::string_view text, std::string_view file);
// Reads line by line. Errors also: io, not_found, integrity.
Result<TokenScores> LoadTokenScores(const std::filesystem::path& path);
Result<TokenScores> LoadTokenScores(const Checkpoint& checkpoint, std::string_view file);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_TOKENS_TOKEN_SCORES_H_
