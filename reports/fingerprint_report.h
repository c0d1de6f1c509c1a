// Differences of fingerprints, and fleets of them, as reports: JSON and documents.
//
// Role: layout; compare/fingerprints decides what changed.
#ifndef RHARNESS_REPORTS_FINGERPRINT_REPORT_H_
#define RHARNESS_REPORTS_FINGERPRINT_REPORT_H_

#include <string>
#include <string_view>
#include <vector>

#include "compare/fingerprints/fingerprint_diff.h"
#include "compare/fingerprints/fleet.h"
#include "harness/base/json.h"
#include "reports/document.h"

namespace rharness {

inline constexpr int kFingerprintDiffVersion = 1;
inline constexpr int kFleetVersion = 1;

Json ToJson(const FingerprintDifference& difference);  // "rharness.fingerprint_diff/v1"
Json ToJson(const Fleet& fleet);                       // "rharness.fleet/v1"
// The same member without the schema, for records that hold a difference.
Json DifferenceJson(const FingerprintDifference& difference);

// 0 the same, 1 changed, 3 not comparable. Facts of the stack alone change nothing.
int ExitCodeOf(const FingerprintDifference& difference);

// Every format of a difference, and of a fleet.
Document DocumentOf(const FingerprintDifference& difference, const Fingerprint& before,
                    const Fingerprint& after, std::string_view version);
Document DocumentOf(const Fleet& fleet, std::string_view version);

// The parts that a difference shares with a gate. Probes by layer: what changed, and what did not.
std::vector<DocumentSection> GridSections(const FingerprintDifference& difference,
                                          const Fingerprint& before, const Fingerprint& after);
// Trees before and now of one case a probe.
std::vector<DocumentSection> TreeSections(const FingerprintDifference& difference,
                                          const Fingerprint& before, const Fingerprint& after);
DocumentSection StackSection(const FingerprintDifference& difference);

}  // namespace rharness

#endif  // RHARNESS_REPORTS_FINGERPRINT_REPORT_H_
