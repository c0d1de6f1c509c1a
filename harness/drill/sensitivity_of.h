// What a certificate of game days (reports/sensitivity.h) says of a run, and whether it still
// holds. Pure.
#ifndef RHARNESS_HARNESS_DRILL_SENSITIVITY_OF_H_
#define RHARNESS_HARNESS_DRILL_SENSITIVITY_OF_H_

#include <string>
#include <vector>

#include "harness/drill/drill.h"
#include "harness/records/manifest/manifest.h"
#include "reports/model.h"
#include "reports/sensitivity.h"

namespace rharness {

// Digest of what the verdict of a run is decided by, beside its configuration: its promise of
// bits, and the margins and resolutions of its metrics.
std::string TolerancesOf(const Manifest& run);

// Fills what the report says of the sensitivity of each equivalent run, and of each configuration
// that has one, from the newest certificate that speaks of it. One of another version, of other
// tolerances or of another way to drill is named with the reason, and says nothing else; so is a
// family whose certificate is of another configuration. `runs`: by run_id, those of the report.
void AddSensitivity(const DrillOptions& options, const std::vector<const Manifest*>& runs,
                    Report* report);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_DRILL_SENSITIVITY_OF_H_
