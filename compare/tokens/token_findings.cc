// Findings and notes of two programs' log-probabilities.
#include "compare/tokens/token_findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "compare/curves/printed_number.h"

namespace rharness {
namespace {

double ShareOf(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0.0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

std::string NameOf(const TokenSequence& sequence) {
  return fmt::format("prompt {}, sample {}", ExcerptForError(sequence.prompt), sequence.sample);
}

Finding FindingOf(std::string code, std::optional<Layer> layer, std::string observed,
                  std::string limit, std::string rule, std::string message, bool decisive = false) {
  return {.code = std::move(code),
          .layer = layer,
          .subject = "log-probabilities",
          .observed = std::move(observed),
          .limit = std::move(limit),
          .rule = std::move(rule),
          .message = std::move(message),
          .decisive = decisive};
}

void AddOtherSequences(const TokenScores& a, const TokenScores& b, const SequencePairs& pairs,
                       TokenComparison* out) {
  if (pairs.only_a.empty() && pairs.only_b.empty()) return;
  const bool in_a = !pairs.only_a.empty();
  const TokenSequence& first =
      in_a ? a.sequences[pairs.only_a.front()] : b.sequences[pairs.only_b.front()];
  out->findings.push_back(FindingOf(
      "other_sequences", Layer::kData, fmt::format("{} in A alone", pairs.only_a.size()),
      fmt::format("{} in B alone", pairs.only_b.size()), "both sides must score the same answers",
      fmt::format("{} sequences are in A alone and {} in B alone, first {} of {}; {} are in both",
                  pairs.only_a.size(), pairs.only_b.size(), NameOf(first), in_a ? "A" : "B",
                  pairs.pairs.size()),
      true));
}

void AddOtherTokens(const TokenScores& a, const TokenScores& b, TokenComparison* out) {
  const TokenDifference& d = out->difference;
  if (d.other_tokens > 0) {
    // Texts that are cut into other tokens differ nearly everywhere; answers that part do not.
    const bool most = d.other_tokens * 2 > d.sequences && d.sequences > 1;
    out->findings.push_back(FindingOf(
        "other_tokens", Layer::kData, fmt::format("{} sequences", d.other_tokens),
        "the same tokens", "log-probabilities of other tokens are not comparable",
        fmt::format("other tokens from {} on, in {} of {} sequences{}; up to there {} tokens were "
                    "compared",
                    PlaceWords(*d.first_other), d.other_tokens, d.sequences,
                    most ? ", as of another tokenizer, template or answer" : "", d.tokens),
        true));
  }
  if (d.ended > 0) {
    out->findings.push_back(FindingOf(
        "missing_tokens", Layer::kData, fmt::format("{} sequences", d.ended), "equal lengths",
        "what decides must be on both sides",
        fmt::format("{} of {} sequences lack tokens on one side, at their end or before the others",
                    d.ended, d.sequences)));
  }
  if (a.unscored != b.unscored) {
    out->findings.push_back(FindingOf(
        "missing_tokens", Layer::kData, fmt::format("{} answers of A", a.unscored.size()),
        fmt::format("{} answers of B", b.unscored.size()), "what decides must be on both sides",
        fmt::format("{} answers of A and {} of B have no log-probabilities, and do not say the "
                    "same",
                    a.unscored.size(), b.unscored.size())));
  }
}

void AddOtherPrompts(const TokenScores& a, const TokenScores& b, const SequencePairs& pairs,
                     TokenComparison* out) {
  const auto other = [&](const SequencePair& pair) { return HasOtherPrompts(a, b, pair); };
  const auto first = std::ranges::find_if(pairs.pairs, other);
  if (first == pairs.pairs.end()) return;
  const auto count = std::ranges::count_if(pairs.pairs, other);
  out->findings.push_back(
      FindingOf("other_prompts", Layer::kData, fmt::format("{} sequences", count),
                "the same prompts", "log-probabilities after other prompts are not comparable",
                fmt::format("other prompts in {} of {} sequences, first {}", count,
                            pairs.pairs.size(), NameOf(a.sequences[first->a])),
                true));
}

std::string DistanceWords(const TokenDifference& d) {
  std::string text;
  if (d.non_finite > 0) {
    text = fmt::format("; {} have no finite value on a side or both", d.non_finite);
  }
  if (d.max_ulp == 0 && d.non_finite > 0) return text;  // the finite ones are equal
  return text + fmt::format(
                    "; |B - A|{} is at most {:.3g} nats, {:.3g} at the median and {:.3g} "
                    "for 99 %",
                    d.non_finite > 0 ? " of the others" : "", d.max_abs, d.median_abs, d.p99_abs);
}

void AddDistances(TokenComparison* out) {
  const TokenDifference& d = out->difference;
  if (d.differing == 0) return;
  out->findings.push_back(FindingOf("logprobs_differ", Layer::kEnvironment,
                                    fmt::format("{} of {} tokens", d.differing, d.tokens), {},
                                    "one model, precision and order of sums give the same bits",
                                    BitsWords(d) + DistanceWords(d)));
  if (d.became_non_finite + d.ceased > 0) {
    out->findings.push_back(
        FindingOf("non_finite_logprobs", Layer::kEnvironment,
                  fmt::format("{} tokens", d.became_non_finite + d.ceased), "finite on both sides",
                  "a token with a probability on one side must have one on the other",
                  fmt::format("{} tokens are finite in A alone, {} in B alone", d.became_non_finite,
                              d.ceased)));
  }
  if (d.beyond_two > 0) {
    out->findings.push_back(
        FindingOf("ratio_tail", Layer::kEnvironment, fmt::format("{} tokens", d.beyond_two), "none",
                  "a ratio beyond 2 is clipped or dropped by most policy losses",
                  fmt::format("{} tokens ({:.2g} %) have more than twice or less than half of the "
                              "probability, first of all {}: {:.6g} in A, {:.6g} in B",
                              d.beyond_two, ShareOf(d.beyond_two, d.tokens),
                              PlaceWords(*d.farthest), d.farthest->a, d.farthest->b)));
  }
}

void AddRoutingFinding(TokenComparison* out) {
  const TokenDifference& d = out->difference;
  if (d.routed == 0) return;
  if (d.routed_otherwise == 0) {
    out->notes.push_back(fmt::format("experts: all {} sets of a token and layer agree", d.routed));
    return;
  }
  out->findings.push_back(
      FindingOf("routing_differs", Layer::kEnvironment,
                fmt::format("{} of {} sets", d.routed_otherwise, d.routed), "the same experts",
                "a token must go through the same experts on both sides",
                fmt::format("{} of {} sets of experts differ ({:.2g} %), first {}, layer {}",
                            d.routed_otherwise, d.routed, ShareOf(d.routed_otherwise, d.routed),
                            PlaceWords(*d.first_routed), d.first_routed->layer)));
}

void AddEstimates(TokenComparison* out) {
  const TokenDifference& d = out->difference;
  if (d.tokens == 0 || d.differing == 0 || !out->decision) return;
  const auto words = [](const KlEstimate& estimate) {
    return std::isnan(estimate.interval.low)
               ? fmt::format("{:.3g}", estimate.value)
               : fmt::format("{:.3g} [{:.3g}, {:.3g}]", estimate.value, estimate.interval.low,
                             estimate.interval.high);
  };
  out->notes.push_back(
      fmt::format("{} in nats a token, with 90 % intervals over {} sequences: k3 {}, k1 {}",
                  KlName(d.sampled_by_b), d.sequences, words(d.k3), words(d.k1)));
  out->notes.push_back(fmt::format(
      "ratios of sequences: {} of {} beyond 2, the farthest e^{:.3g}; {:.1f} effective of {}",
      d.sequences_beyond_two, d.sequences, d.largest_log_product, d.effective_sequences,
      d.sequences));
}

void AddSampler(const TokenScores& a, const TokenScores& b, TokenComparison* out) {
  const TokenDifference& d = out->difference;
  if (d.differing > 0 && out->decision && !d.sampler_stated) {
    const bool both = a.sampled.value_or(false) && b.sampled.value_or(false);
    const bool none = a.sampled && b.sampled && !both;
    out->notes.push_back(fmt::format(
        "{}: the estimates take them as drawn by A; --sampled-by says who drew them",
        both   ? "both sides drew these tokens"
        : none ? "neither side drew these tokens, so that the estimates are of these texts alone"
               : "the files do not say who drew the tokens"));
  }
}

void AddNames(const TokenScores& a, const TokenScores& b, const SequencePairs& pairs,
              const TokenRules& rules, TokenComparison* out) {
  if (!rules.sampler_as_b && out->difference.tokens > 0 && !NamesTokens(a, b)) {
    out->findings.push_back(FindingOf(
        "missing_token_names", Layer::kData, "not stated on both sides", "token ids or texts",
        "an unknown token is never called the same",
        "the tokens have no ids or texts that both sides state: whether they are the same is not "
        "known"));
  }
  if (pairs.by_tokens) {
    out->notes.emplace_back("prompts without an id in another order were paired by their tokens");
  }
  if (out->difference.unscored > 0) {
    out->notes.push_back(
        fmt::format("not compared: {} tokens before the others that one side alone "
                    "scored",
                    out->difference.unscored));
  }
  for (const auto& [side, scores] : {std::pair{"A", &a}, std::pair{"B", &b}}) {
    for (const std::string& note : scores->notes) {
      out->notes.push_back(fmt::format("{}: {}", side, note));
    }
    if (scores->decimals) {
      out->notes.push_back(
          fmt::format("{} prints log-probabilities with at most {} decimals: equal "
                      "ones show no equal bits",
                      side, *scores->decimals));
    }
  }
}

}  // namespace

std::string PlaceWords(const TokenPlace& place) {
  return fmt::format("prompt {}, sample {}, token {}", ExcerptForError(place.prompt), place.sample,
                     place.position);
}

std::string BitsWords(const TokenDifference& d) {
  if (d.differing == 0 || !d.first) return fmt::format("all {} tokens are bit-equal", d.tokens);
  const std::string steps =
      d.first->ulp == 0 ? "" : fmt::format(", {} steps of {}", d.first->ulp, d.steps_of);
  return fmt::format(
      "{} of {} tokens ({:.3g} %) have other log-probabilities, first {}: {} in A, {} in B{}",
      d.differing, d.tokens, ShareOf(d.differing, d.tokens), PlaceWords(*d.first), d.first->a,
      d.first->b, steps);
}

void AddTokenFindings(const TokenScores& a, const TokenScores& b, const SequencePairs& pairs,
                      const TokenRules& rules, TokenComparison* out) {
  AddOtherSequences(a, b, pairs, out);
  AddOtherPrompts(a, b, pairs, out);
  AddOtherTokens(a, b, out);
  AddDistances(out);
  AddRoutingFinding(out);
  AddEstimates(out);
  AddSampler(a, b, out);
  AddNames(a, b, pairs, rules, out);
}

}  // namespace rharness
