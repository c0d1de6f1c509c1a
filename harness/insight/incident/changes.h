// The known changes for the run of an incident, and between which sides.
//
// Role: pure; a part of answers.h. Runs of a family differ in their seeds on purpose: between two
// of them a seed is no change, and neither are its consequences.
#ifndef RHARNESS_HARNESS_INSIGHT_INCIDENT_CHANGES_H_
#define RHARNESS_HARNESS_INSIGHT_INCIDENT_CHANGES_H_

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "compare/comparison.h"
#include "compare/facts.h"
#include "harness/insight/incident/answers.h"

namespace rharness {

enum class ChangeBetween {
  kDrills,  // the run's last good drill and the first bad one after it
  kRecord,  // its record and the first bad drill's rerun; no drill saw it good
  kRuns,    // the good run and this one, without their seeds
};

struct KnownChange {
  ChangeBetween between = ChangeBetween::kRuns;
  std::array<LayerComparison, 5> layers;
  std::string source;  // of a fact: "history: where drill ID reran mlp-7, beside its record"
};

// The first of these that is known, in the order of ChangeBetween; kRuns only for a run that no
// drill found bad, since the record of a different run does not show the changes of a bad drill.
// nullopt: none is.
std::optional<KnownChange> ChangeOf(const IncidentFacts& facts);

// The comparison of the two runs without the effects of their seeds: facts that name seeds of both,
// commands that are otherwise equal, and causes that rest on these or on results. Needs a
// comparison.
std::array<LayerComparison, 5> LayersBeyondSeeds(const IncidentFacts& facts);
std::vector<Cause> CausesBeyondSeeds(const IncidentFacts& facts);
// The two runs have different seeds and otherwise equal records. False without a comparison.
bool SeedsDiffer(const IncidentFacts& facts);
bool SeedsAloneDiffer(const IncidentFacts& facts);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_INSIGHT_INCIDENT_CHANGES_H_
