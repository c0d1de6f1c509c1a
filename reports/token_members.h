// The members of a difference of log-probabilities.
//
// Role: private to reports/; each list writes, reads and describes.
#ifndef RHARNESS_REPORTS_TOKEN_MEMBERS_H_
#define RHARNESS_REPORTS_TOKEN_MEMBERS_H_

#include "compare/tokens/token_difference.h"
#include "harness/base/json_members.h"
#include "reports/json_nouns.h"

namespace rharness {

template <class Io, Is<TokenPlace> T>
void Members(Io& io, T& place) {
  io.Noun("Where, and the log-probabilities there.");
  io.Must("prompt", place.prompt, "Its id, or its place in the file from 0.");
  io.May("sample", place.sample);
  io.Must("position", place.position, "Of the scored tokens of the answer, from 0.");
  io.MayIf(place.layer > 0, "layer", place.layer, "Of experts, from 0; absent: 0.");
  io.May("a", place.a, "Nats.");
  io.May("b", place.b, "Nats.");
  io.May("ulp", place.ulp, "Steps between representable values; 0: not measured.");
}

template <class Io, Is<KlEstimate> T>
void Members(Io& io, T& estimate) {
  io.Noun("An estimate of the divergence, in nats a token.");
  io.Must("value", estimate.value);
  io.May("low", estimate.interval.low, "Of the 90 % interval over sequences; nan: there is none.");
  io.May("high", estimate.interval.high);
}

template <class Io, Is<TokenDifference> T>
void Members(Io& io, T& tokens) {
  io.Must("sequences", tokens.sequences, "Answers that both sides scored.");
  io.May("only_a", tokens.only_a, "Answers on one side alone.");
  io.May("only_b", tokens.only_b);
  io.May("other_tokens", tokens.other_tokens, "Answers whose tokens differ from a place on.");
  io.MayObject("first_other", tokens.first_other);
  io.May("ended", tokens.ended, "Answers with fewer tokens on one side.");
  io.May("unscored", tokens.unscored, "Tokens before those of both that one side alone scored.");
  io.Must("tokens", tokens.tokens, "Compared.");
  io.Must("differing", tokens.differing, "Of them, by bits.");
  io.MayObject("first", tokens.first, "The first that differs.");
  io.MayObject("farthest", tokens.farthest);
  io.May("max_abs", tokens.max_abs, "Of |b - a|, nats, as the next three and the mean of b - a.");
  io.May("median_abs", tokens.median_abs);
  io.May("p99_abs", tokens.p99_abs);
  io.May("p999_abs", tokens.p999_abs);
  io.May("mean", tokens.mean);
  io.May("steps_of", tokens.steps_of, "What ulp counts in: F32 or F64.");
  io.May("max_ulp", tokens.max_ulp);
  HistogramMembers(io, tokens.ulp_histogram);
  io.May("non_finite", tokens.non_finite, "Tokens that are not finite on a side or both.");
  io.May("became_non_finite", tokens.became_non_finite, "Finite in A alone.");
  io.May("ceased", tokens.ceased, "Finite in B alone.");
  io.Must("sampled_by_b", tokens.sampled_by_b, "The divergence is of A from B; else of B from A.");
  io.May("sampler_stated", tokens.sampler_stated, "Else A is taken for the sampler.");
  io.Object("k1", tokens.k1, "The mean of -log r, r the ratio of the other side to the sampler.");
  io.Object("k3", tokens.k3, "The mean of r - 1 - log r.");
  io.May("beyond_two", tokens.beyond_two, "Tokens with a ratio above 2 or below 1/2.");
  io.May("sequences_beyond_two", tokens.sequences_beyond_two, "By the products of the ratios.");
  io.May("largest_log_product", tokens.largest_log_product);
  io.May("effective_sequences", tokens.effective_sequences,
         "(sum w)^2 / sum w^2 of the products w.");
  io.May("routed", tokens.routed, "Sets of experts compared: tokens times layers.");
  io.May("routed_otherwise", tokens.routed_otherwise);
  io.MayObject("first_routed", tokens.first_routed);
}

}  // namespace rharness

#endif  // RHARNESS_REPORTS_TOKEN_MEMBERS_H_
