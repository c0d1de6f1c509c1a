// Decides whether a model may be registered or promoted, from its record, its last drill and its
// files.
//
// Role: pure; its input comes from mlflow_registry.h and the history.
#ifndef RHARNESS_HARNESS_INSIGHT_PUBLISH_REGISTRATION_H_
#define RHARNESS_HARNESS_INSIGHT_PUBLISH_REGISTRATION_H_

#include <optional>
#include <string>
#include <vector>

#include "harness/history/records.h"
#include "harness/insight/publish/mlflow_registry.h"
#include "harness/records/manifest/manifest.h"
#include "harness/verdict/stored_verdict.h"

namespace rharness {

// What is known of the run that the entry is.
struct RunKnown {
  std::optional<Manifest> manifest;
  bool manifest_differs = false;        // two records of the run differ
  std::optional<std::string> retired;   // why, and who signed
  std::string retirement_doubt;         // it differs from its signed form; then nobody is named
  std::vector<VerdictRecord> verdicts;  // in order of entry
  // Paths of checkpoints with a finding file_unproven in the deciding verdict's drill.
  std::vector<std::string> unproven = {};
};

// The verdict that counts: the last one that is not "infra", which says nothing about the run.
const VerdictRecord* DecidingVerdict(const RunKnown& known);

// Empty: admitted. `max_age_days`: of the last good verdict; empty: any.
std::vector<Reason> DecideRegistration(const RegistryEntry& entry, const RunKnown& known,
                                       std::optional<double> max_age_days, WallTime now);

// The weights with a hash among the artifacts.
std::vector<Artifact> WeightsOf(const Manifest& manifest);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_INSIGHT_PUBLISH_REGISTRATION_H_
