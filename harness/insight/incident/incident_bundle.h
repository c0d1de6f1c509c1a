// The result folder of an incident: the basis of all answers, index.html first.
//
// Role: writes; answers.h has the content.
#ifndef RHARNESS_HARNESS_INSIGHT_INCIDENT_INCIDENT_BUNDLE_H_
#define RHARNESS_HARNESS_INSIGHT_INCIDENT_INCIDENT_BUNDLE_H_

#include <filesystem>
#include <optional>

#include "compare/comparison.h"
#include "harness/base/result.h"
#include "harness/insight/incident/answers.h"
#include "reports/history_report.h"

namespace rharness {

struct BundleContent {
  const IncidentFacts& facts;
  const FamilyHistory& family;
  std::optional<ComparisonSet> comparison;
  std::filesystem::path drill;  // the folder of the rollback drill; empty: there is none
};

// Errors: invalid_input if the folder exists and is not empty; on resume it reports a finished
// bundle.
Status RefuseTakenFolder(const std::filesystem::path& out, bool resumed);

// Writes all files into `staging`, which is made anew, names them in the report, and renames it to
// `out`: the folder appears completely or not at all. The folder is for its owner alone. Errors:
// io, those of RefuseTakenFolder.
Status WriteIncidentBundle(const BundleContent& content, const std::filesystem::path& staging,
                           const std::filesystem::path& out, IncidentReport* report);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_INSIGHT_INCIDENT_INCIDENT_BUNDLE_H_
