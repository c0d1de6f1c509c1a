// How the log-probabilities of two programs for the same tokens differ.
//
// Role: made by compare_tokens.h, part of a Comparison; reports/ lay it out. Values only.
#ifndef RHARNESS_COMPARE_TOKENS_TOKEN_DIFFERENCE_H_
#define RHARNESS_COMPARE_TOKENS_TOKEN_DIFFERENCE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "compare/stats/student_t.h"
#include "compare/weights/tensor_diff.h"

namespace rharness {

// Where: positions count the scored tokens of the answer, from 0.
struct TokenPlace {
  std::string prompt;
  std::int64_t sample = 0;
  std::uint64_t position = 0;
  std::uint64_t layer = 0;  // of experts; from 0
  double a = 0.0;           // log-probabilities, nats
  double b = 0.0;
  std::uint64_t ulp = 0;  // steps between; 0: not finite
};

// An estimate of the divergence in nats a token, with the interval that its maker states.
struct KlEstimate {
  double value = 0.0;
  stats::Interval interval;  // NaN: there is none
};

struct TokenDifference {
  std::uint64_t sequences = 0;  // on both sides
  std::uint64_t only_a = 0;     // sequences on one side alone
  std::uint64_t only_b = 0;
  std::uint64_t other_tokens = 0;  // sequences in which the tokens differ from a place on
  std::optional<TokenPlace> first_other;
  std::uint64_t ended = 0;     // sequences with fewer tokens on one side
  std::uint64_t unscored = 0;  // tokens that one side alone scored, before those of both

  std::uint64_t tokens = 0;      // compared
  std::uint64_t differing = 0;   // of them, by bits
  std::string steps_of = "F32";  // what `ulp` counts in: F32 if all values are, else F64
  std::optional<TokenPlace> first;
  std::optional<TokenPlace> farthest;
  double max_abs = 0.0;  // of |b - a| over all tokens that are finite on both sides, nats
  double median_abs = 0.0;
  double p99_abs = 0.0;  // quantiles
  double p999_abs = 0.0;
  double mean = 0.0;  // of b - a
  std::uint64_t max_ulp = 0;
  UlpHistogram ulp_histogram{};         // of finite tokens that differ
  std::uint64_t non_finite = 0;         // not finite on a side or both; in no mean and no estimate
  std::uint64_t became_non_finite = 0;  // finite in A, not in B
  std::uint64_t ceased = 0;             // the other way round

  bool sampled_by_b = false;     // the tokens were drawn by B: the divergence is of A from B
  bool sampler_stated = false;   // else A is taken for the sampler
  KlEstimate k1;                 // of the mean of -log r, r the ratio of the other to the sampler
  KlEstimate k3;                 // of the mean of r - 1 - log r
  std::uint64_t beyond_two = 0;  // tokens whose ratio is above 2 or below 1/2
  std::uint64_t sequences_beyond_two = 0;  // the same of the products over sequences
  double largest_log_product = 0.0;        // the product farthest from 1: its logarithm
  double effective_sequences = 0.0;  // (sum w)^2 / sum w^2 of the products w; `sequences` if equal

  std::uint64_t routed = 0;            // expert sets compared: tokens times layers
  std::uint64_t routed_otherwise = 0;  // of them, other sets
  std::optional<TokenPlace> first_routed;
};

// "prompt p1, sample 0, token 12"
std::string PlaceWords(const TokenPlace& place);
// "12 of 4,567 tokens have other log-probabilities, first prompt p1, ...: -1.25 in A, -1.5 in B"
std::string BitsWords(const TokenDifference& difference);
// "KL(A||B)": of A from B, tokens drawn by A.
std::string_view KlName(bool sampled_by_b);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_TOKENS_TOKEN_DIFFERENCE_H_
