// Applies a certificate of game days (reports/sensitivity.h) to a run, and checks whether it is
// still valid. Pure.
#ifndef RHARNESS_HARNESS_DRILL_SENSITIVITY_OF_H_
#define RHARNESS_HARNESS_DRILL_SENSITIVITY_OF_H_

#include <string>
#include <vector>

#include "harness/drill/drill.h"
#include "harness/records/manifest/manifest.h"
#include "reports/model.h"
#include "reports/sensitivity.h"

namespace rharness {

// Digest of the rules that decide the verdict of a run, beside its configuration: its promise of
// bits, and the margins and resolutions of its metrics.
std::string TolerancesOf(const Manifest& run);

// Fills what the report says of the sensitivity of each equivalent run, and of each configuration
// that has one, from its newest certificate. A certificate of another version, of other tolerances
// or of another kind of drill is named with the reason, without rates; so is a family whose
// certificate is of another configuration. `runs`: by run_id, those of the report.
void AddSensitivity(const DrillOptions& options, const std::vector<const Manifest*>& runs,
                    Report* report);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_DRILL_SENSITIVITY_OF_H_
