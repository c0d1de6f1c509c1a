// The tokens of one side, with the limits and the checks that every format needs.
#include "compare/tokens/token_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compare/curves/printed_number.h"
#include "harness/base/crc32c.h"
#include "harness/base/digest.h"

namespace rharness {
namespace {

// Rounding makes log-probabilities slightly positive; logits and probabilities are others.
constexpr double kMostLogprob = 1e-3;
// Numbers whose digits are looked at, and the decimals from which they have those of a float.
constexpr int kMostLookedAt = 1000;
constexpr int kLeastLookedAt = 20;
constexpr int kFloatDecimals = 7;

}  // namespace

std::uint64_t DigestOfText(std::string_view text) {
  constexpr std::size_t kMostHeld = 7;
  std::uint64_t digest = 0;
  if (text.size() <= kMostHeld) {
    for (const char byte : text) digest = digest << 8 | static_cast<std::uint8_t>(byte);
    return text.size() << 56 | digest;
  }
  const Sha256Bytes bytes = Sha256Of(std::as_bytes(std::span(text)));
  for (std::size_t i = 0; i < sizeof digest; ++i) digest = digest << 8 | bytes[i];
  return std::min(std::uint64_t{1} << 63 | digest, TokenName::kNoText - 1);
}

std::uint32_t DigestOfExperts(std::vector<std::int64_t> experts) {
  std::ranges::sort(experts);
  const auto bytes = std::as_bytes(std::span(experts));
  return Crc32c({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

Status TokenBuilder::Add(const std::optional<std::string>& prompt,
                         std::optional<std::int64_t> sample, std::span<const ScoredToken> tokens,
                         bool has_sampler, std::span<const std::uint32_t> experts,
                         const TokenPrompt& of_prompt) {
  if (has_sampler_.value_or(has_sampler) != has_sampler) {
    return Fail("has the sampler's log-probabilities in some records and not in others");
  }
  has_sampler_ = has_sampler;
  if (scores_.logprobs.size() + tokens.size() > kMostTokens) {
    return Fail(fmt::format("more than {} tokens; compare parts of the file", kMostTokens));
  }
  if (scores_.sequences.size() >= kMostSequences) {
    return Fail(fmt::format("more than {} sequences; compare parts of the file", kMostSequences));
  }
  if (scores_.experts.size() + experts.size() > kMostExpertSets) {
    return Fail(
        fmt::format("more than {} sets of experts; compare parts of the file", kMostExpertSets));
  }
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    for (const double value : {tokens[i].logprob, has_sampler ? tokens[i].sampler : 0.0}) {
      if (!(value > kMostLogprob)) continue;  // NaN passes
      return Fail(fmt::format("token {}: a log-probability of {:g}; expected at most 0", i, value));
    }
  }
  TokenSequence sequence{
      .prompt = prompt.value_or(fmt::format("{}", records == 0 ? 0 : records - 1)),
      .begin = scores_.logprobs.size(),
      .count = tokens.size(),
      .experts = scores_.experts.size(),
      .layers = tokens.empty() ? 0 : experts.size() / tokens.size(),
      .of_prompt = of_prompt};
  unnamed_ = unnamed_ || !prompt;
  sequence.sample = sample ? *sample : next_sample_[sequence.prompt]++;
  if (!stated_.emplace(sequence.prompt, sequence.sample).second) {
    return Fail(fmt::format("prompt {} has sample {} twice", QuoteForError(sequence.prompt),
                            sequence.sample));
  }
  for (const ScoredToken& token : tokens) {
    scores_.logprobs.push_back(token.logprob);
    scores_.names.push_back(token.name);
    if (has_sampler) scores_.sampler.push_back(token.sampler);
  }
  scores_.experts.insert(scores_.experts.end(), experts.begin(), experts.end());
  scores_.sequences.push_back(std::move(sequence));
  return {};
}

Status TokenBuilder::LeaveOutAnswer(std::string_view content) {
  if (scores_.unscored.size() >= kMostSequences) {
    return Fail(fmt::format("more than {} answers; compare parts of the file", kMostSequences));
  }
  LeaveOut("answers without log-probabilities");
  scores_.unscored.push_back(DigestOfText(content));
  return {};
}

void TokenBuilder::Sampled(bool sampled) {
  sampled_differs_ = sampled_differs_ || sampled_.value_or(sampled) != sampled;
  sampled_ = sampled;
}

void TokenBuilder::Printed(double value) {
  if (printed_ >= kMostLookedAt || !std::isfinite(value) || value == std::floor(value)) return;
  ++printed_;
  const auto number = PrintedOf(Json(value));
  if (!number) return;
  const bool full = number->place == kFullPrecision;
  most_decimals_ = std::max(most_decimals_, full ? kFloatDecimals : -number->place);
}

Result<TokenScores> TokenBuilder::Finish() && {
  if (scores_.logprobs.empty()) {
    return InvalidInput("no log-probability of a token", file_);
  }
  scores_.names_prompts = !unnamed_;
  if (!sampled_differs_) scores_.sampled = sampled_;
  if (printed_ >= kLeastLookedAt && most_decimals_ < kFloatDecimals) {
    scores_.decimals = most_decimals_;
  }
  for (const auto& [why, count] : left_out_) {
    scores_.notes.push_back(fmt::format("left out: {} {}", count, why));
  }
  std::ranges::sort(scores_.notes);
  std::ranges::sort(scores_.unscored);
  return std::move(scores_);
}

}  // namespace rharness
