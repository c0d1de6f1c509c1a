// One probe on two stacks: what kind of change it saw, in one sentence.
//
// Role: private to fingerprint_diff.cc and fleet.cc. Pure.
#ifndef RHARNESS_COMPARE_FINGERPRINTS_PROBE_DIFF_H_
#define RHARNESS_COMPARE_FINGERPRINTS_PROBE_DIFF_H_

#include <set>
#include <string>

#include "compare/fingerprints/fingerprint.h"
#include "compare/fingerprints/fingerprint_diff.h"

namespace rharness {

// Cases of the probe with a choice, a tree or bits.
std::set<std::string> CasesOf(const FingerprintProbe& probe);
// Those of them whose repeats differed.
std::set<std::string> UnstableCasesOf(const FingerprintProbe& probe);

// nullptr: the probe is not in that fingerprint. change is kNone, and the sentence empty, if
// nothing changed.
ProbeDifference CompareProbe(const FingerprintProbe* before, const FingerprintProbe* after);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_FINGERPRINTS_PROBE_DIFF_H_
