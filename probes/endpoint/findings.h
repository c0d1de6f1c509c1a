// What a server's answers say: probes of a fingerprint, and sentences. Pure.
//
// The fingerprint is "rharness.fingerprint/v1" with four probes of the family "serving", a case a
// prompt:
//   endpoint_alone   "choice": the answer ("tokens", "text_sha256", "finish_reason", without tokens
//                    "text") with its "logprobs"; "bits": of all of it. A prompt whose answers
//                    differ is unstable
//   endpoint_batch   "choice": whether the answers beside so many others are those alone
//                    ("as_alone"); where they never are, "differs" says where they part
//   endpoint_order   the same of the answers in other orders
//   endpoint_prefix  the same of warm answers and cold ones ("as_cold")
// Answers that differ now and then make a case unstable; so does a server that was changed
// meanwhile. The model, the server, its version and "system_fingerprint" are the stack's
// "endpoint".
#ifndef RHARNESS_PROBES_ENDPOINT_FINDINGS_H_
#define RHARNESS_PROBES_ENDPOINT_FINDINGS_H_

#include <string>
#include <string_view>
#include <vector>

#include "harness/base/json.h"
#include "probes/endpoint/measure.h"

namespace rharness {

enum class EndpointFindingKind {
  kNotDeterministic,   // the same prompt alone, other answers
  kNotBatchInvariant,  // as alone alone, and not beside others
  kOrder,              // not as alone after other prompts
  kPrefix,             // not as cold from the cache
  kOpen,               // answers differ in one of these, too rarely to tell it from chance
  kSeveralServers,     // "system_fingerprint" changes from answer to answer
  kChanged,            // alone, another answer than at the beginning: a restart, another model
  kStored,             // whole answers come from a cache: that they are equal shows nothing
};

struct EndpointFinding {
  EndpointFindingKind kind = EndpointFindingKind::kOpen;
  std::string sentence;
};

// A difference that comes only in one condition is that condition's if its chance is below this,
// were all answers alike in theirs: the answers that differ are all there by Fisher's exact test.
inline constexpr double kConditionAlpha = 0.01;

struct EndpointFingerprint {
  Json probes;    // by name
  Json endpoint;  // of the stack
  std::vector<EndpointFinding> findings;
  int failed = 0;            // cases
  std::string first_failed;  // "prompt 3 '...': why"
};
EndpointFingerprint JudgeEndpoint(const EndpointAnswers& answers);

}  // namespace rharness

#endif  // RHARNESS_PROBES_ENDPOINT_FINDINGS_H_
