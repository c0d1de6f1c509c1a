// Two answers of a served model, as the choice of a probe of the family "serving" has them.
//
// Role: private to probe_diff.cc. Pure. Members: "tokens" or "text", "finish_reason", "as_alone" or
// "as_cold", and "differs": words on answers that differ among themselves.
#ifndef RHARNESS_COMPARE_FINGERPRINTS_ANSWER_CHANGE_H_
#define RHARNESS_COMPARE_FINGERPRINTS_ANSWER_CHANGE_H_

#include <string>

#include "compare/fingerprints/fingerprint.h"

namespace rharness {

// "token 5 ' red' → ' blue'"; "is no longer as alone: at token 5: ..."; for other members as of any
// choice.
std::string AnswerChange(const std::string& before, const std::string& after);
// ": log-probability of token 2 -0.5 → -0.6" of the case's first that differs; empty: unknown.
std::string LogprobChange(const FingerprintProbe& before, const FingerprintProbe& after,
                          const std::string& name);
// ": 3 distinct completions of 10, ..." of a case whose answers differ; empty: no words on it.
std::string AnswersDiffer(const FingerprintProbe& probe, const std::string& name);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_FINGERPRINTS_ANSWER_CHANGE_H_
