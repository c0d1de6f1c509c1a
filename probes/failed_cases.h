// Cases of a probe that failed, beside others that worked.
//
// Role: such a case is an entry of choices, {"failed": the error's text} beside what was chosen,
// and shows nothing: it has neither bits nor a tree, and compares with nothing.
#ifndef RHARNESS_PROBES_FAILED_CASES_H_
#define RHARNESS_PROBES_FAILED_CASES_H_

#include <string>

#include "harness/base/json.h"
#include "harness/base/result.h"
#include "probes/probe.h"

namespace rharness {

inline constexpr char kFailedMember[] = "failed";
inline constexpr char kFailedCases[] = "failed cases";  // of counts

// Adds the member, a note and one to the count; takes bits and tree away.
void RecordFailure(const std::string& name, const Error& error, ProbeResult* result);

// Two processes of a probe: a case that failed in one of them has failed in both, and is no case
// whose repeats differ. Parts of a case, "NAME tile 0,1", go with it.
void UniteFailures(ProbeResult* first, ProbeResult* next);

// Of a fingerprint's probe: "3 cases failed, of 40 (first: fp32 1x1x4096: ...)"; empty: none.
std::string FailuresInWords(const Json& probe);

}  // namespace rharness

#endif  // RHARNESS_PROBES_FAILED_CASES_H_
