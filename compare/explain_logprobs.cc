// Causes from the shape of a difference of log-probabilities.
#include <fmt/format.h>

#include "compare/explain_rules.h"

namespace rharness {
namespace {

// Half of the tokens apart by as much is no rounding: bf16, which rounds at 2^-9, moves logits of
// 20 by 0.04, and few tokens by all of it.
constexpr double kBeyondPrecision = 0.1;

std::string DistanceWords(const TokenDifference& tokens) {
  return fmt::format("|B - A| is {:.2g} nats at the median, {:.2g} for 99 % and at most {:.2g}",
                     tokens.median_abs, tokens.p99_abs, tokens.max_abs);
}

const TokenDifference* DifferingTokens(const ExplainInput& in) {
  const auto& tokens = in.comparison.tokens;
  return tokens && tokens->differing > 0 ? &*tokens : nullptr;
}

void OtherExperts(const ExplainInput& in, CauseList* out) {
  const TokenDifference* tokens = DifferingTokens(in);
  if (tokens == nullptr || tokens->routed_otherwise == 0) return;
  out->Add(CausePlace::kBits,
           {"experts_differ",
            Layer::kEnvironment,
            Strength::kPossible,
            "Tokens go through other experts: rounding decides between experts that are nearly "
            "equal, and the tokens after them follow.",
            {fmt::format("{} of {} sets of experts differ, first {}, layer {}",
                         tokens->routed_otherwise, tokens->routed,
                         PlaceWords(*tokens->first_routed), tokens->first_routed->layer)},
            "replay the experts of the sampler in the trainer, and compare again"});
}

void OtherNumerics(const ExplainInput& in, CauseList* out) {
  const TokenDifference* tokens = DifferingTokens(in);
  if (tokens == nullptr || tokens->median_abs >= kBeyondPrecision) return;
  out->Add(
      CausePlace::kPattern,
      {"numerics_differ",
       Layer::kEnvironment,
       Strength::kPossible,
       "The two programs round differently: kernels, precision, batch sizes or padding, the "
       "order of sums.",
       {DistanceWords(*tokens), fmt::format("{} of {} tokens are bit-equal",
                                            tokens->tokens - tokens->differing, tokens->tokens)},
       "score both with one request at a time, in float32 and with one kind of attention; "
       "where the bits return, change one of these at a time"});
}

void OtherModel(const ExplainInput& in, CauseList* out) {
  const TokenDifference* tokens = DifferingTokens(in);
  if (tokens == nullptr || tokens->median_abs < kBeyondPrecision) return;
  out->Add(CausePlace::kPattern,
           {"model_differs",
            Layer::kCode,
            Strength::kPossible,
            "More than rounding: weights of another step, an adapter or quantisation on one side, "
            "a temperature, another context before the tokens.",
            {DistanceWords(*tokens), fmt::format("B - A is {:+.2g} on average", tokens->mean)},
            "run `rharness hash WEIGHTS` for what each side loaded, and compare temperature, "
            "template and adapters"});
}

}  // namespace

const std::vector<ExplainRule>& LogprobRules() {
  static const std::vector<ExplainRule> rules = {OtherExperts, OtherNumerics, OtherModel};
  return rules;
}

}  // namespace rharness
