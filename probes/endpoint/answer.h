// One answer of a served model, and where two answers to one prompt part.
//
// Role: pure values between client.h and findings.h. Source of the members: the OpenAI API
// reference, "The chat completion object" and "The completion object"; vLLM, "OpenAI-Compatible
// Server"; llama.cpp's server gives the form of chat completions for both.
#ifndef RHARNESS_PROBES_ENDPOINT_ANSWER_H_
#define RHARNESS_PROBES_ENDPOINT_ANSWER_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/json.h"
#include "harness/base/result.h"

namespace rharness {

struct EndpointAnswer {
  std::vector<std::string> tokens;    // of the answer; none where the server gives none
  std::vector<std::string> logprobs;  // of each, the shortest decimal that is the received double
  std::string text;                   // with the reasoning before it, if that is given apart
  std::string finish;                 // "stop", "length"; empty: not said
  std::string model;                  // that says it has answered; empty: not said
  std::string system_fingerprint;     // empty: not said
  std::string id;                     // of the response; empty: not said. No part of the answer

  bool SameCompletion(const EndpointAnswer& other) const {
    return tokens == other.tokens && text == other.text && finish == other.finish;
  }
  // Of every token. Some servers write null or -9999 for what they do not compute.
  bool HasLogprobs() const;
  bool operator==(const EndpointAnswer& other) const {
    return SameCompletion(other) && logprobs == other.logprobs;
  }
};

// Errors: invalid_input with `where`, the path and what was expected: no first choice, no text,
// neither text nor token, an error in its place, tokens and log-probabilities of different numbers,
// more tokens than kMostAnswerTokens. Missing log-probabilities are no error.
Result<EndpointAnswer> ParseEndpointAnswer(const Json& json, bool chat, std::string_view where);

// SHA-256 of tokens, log-probabilities, text and finish.
std::string DigestOf(const EndpointAnswer& answer);

// "at token 5: ' red' and ' blue'", "at character 17: ...", "in the log-probability of token 2
// alone: -0.5 and -0.6". Tokens count from 1. Empty: they are equal.
std::string PartingOf(const EndpointAnswer& a, const EndpointAnswer& b);

}  // namespace rharness

#endif  // RHARNESS_PROBES_ENDPOINT_ANSWER_H_
