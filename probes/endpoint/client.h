// Requests to an OpenAI-compatible server, one at a time or several.
//
// Role: the effects of this room. Protocol: POST {base}/chat/completions or {base}/completions with
// "model", "messages" or "prompt", "max_tokens", "temperature" 0, "seed" 0, "stream" false and log-
// probabilities ("logprobs" true with "top_logprobs" 1; of completions "logprobs" 1), of a server
// that refuses these without. {base} is the URL, with "/v1" where it has no path. The model is that
// of GET {base}/models if it lists one alone.
// Source: OpenAI API reference ("Create chat completion", "Create completion", "List models");
// vLLM, "OpenAI-Compatible Server"; the version is that of GET /version (vLLM), /props (llama.cpp),
// /get_server_info (SGLang) or /info (Text Generation Inference), beside the base.
#ifndef RHARNESS_PROBES_ENDPOINT_CLIENT_H_
#define RHARNESS_PROBES_ENDPOINT_CLIENT_H_

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/net/http.h"
#include "probes/endpoint/answer.h"
#include "probes/endpoint/prompts.h"

namespace rharness {

struct EndpointOptions {
  std::string url;
  std::string model;  // empty: the only one that the server lists
  HttpCredentials credentials;
  std::string certificates;  // of authorities; empty: the system's
  HttpLimits limits = {};    // of each request
  std::function<bool()> interrupted = {};
};

// Kept of each thing that a server says of itself.
inline constexpr std::size_t kMostIdentityBytes = 200;

// What the server says of itself. "": not said.
struct EndpointIdentity {
  std::string model;    // as asked for
  std::string server;   // the header "Server"
  std::string version;  // of the engine
};

class EndpointClient {
 public:
  // Finds the model. Errors: those of HttpClient; invalid_input where the server lists no model or
  // several and none is named.
  static Result<EndpointClient> Connect(const EndpointOptions& options);

  const EndpointIdentity& identity() const { return identity_; }
  const std::string& base() const { return base_; }
  // Whether log-probabilities are asked for; after the first answer.
  bool logprobs() const { return logprobs_; }
  const std::string& without_logprobs() const { return without_logprobs_; }

  // Whether the server answers, and answers with log-probabilities. An error of the server's: that
  // of the request with them.
  Result<EndpointAnswer> AskFirst(const EndpointPrompt& prompt);

  // Takes the answer to the prompt of this number, or an error that is the prompt's own. An error
  // of its own ends all.
  using TakeAnswer = std::function<Status(std::size_t, Result<EndpointAnswer>)>;
  // As many at a time, each as soon as another has ended; `take` is called once at a time, in the
  // order in which answers come. Errors: the connection's (io, timeout), of the first that failed.
  Status AskAll(const std::vector<const EndpointPrompt*>& prompts, int at_a_time,
                const TakeAnswer& take);

 private:
  Result<HttpClient> MakeClient() const;
  Json BodyOf(const EndpointPrompt& prompt) const;
  Result<EndpointAnswer> Ask(HttpClient* client, const EndpointPrompt& prompt) const;

  EndpointOptions options_;
  std::string base_;
  EndpointIdentity identity_;
  bool logprobs_ = true;
  std::string without_logprobs_;  // why; empty: with
  std::vector<HttpClient> clients_;
};

}  // namespace rharness

#endif  // RHARNESS_PROBES_ENDPOINT_CLIENT_H_
