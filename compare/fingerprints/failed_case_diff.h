// Cases that failed beside others of their probe: on the new side alone, or on both.
//
// Role: private to probe_diff.cc. Pure.
#ifndef RHARNESS_COMPARE_FINGERPRINTS_FAILED_CASE_DIFF_H_
#define RHARNESS_COMPARE_FINGERPRINTS_FAILED_CASE_DIFF_H_

#include "compare/fingerprints/fingerprint.h"
#include "compare/fingerprints/fingerprint_diff.h"

namespace rharness {

// Completes what the other cases said. A case that worked and now fails is newly wrong, before
// every other kind of change; one that fails on both sides was never compared, so that its probe
// has not "not changed".
void AddFailedCases(const FingerprintProbe& before, const FingerprintProbe& after,
                    ProbeDifference* out);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_FINGERPRINTS_FAILED_CASE_DIFF_H_
