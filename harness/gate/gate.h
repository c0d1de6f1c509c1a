// May this stack roll out? Baseline and candidate fingerprints, a policy, and perhaps a drill.
//
// Role: the composition behind `rharness gate`. Pure except for the loaders. The gate opens only on
// evidence: a fingerprint that is empty, of another schema, broken, or without a probe in common
// closes it.
#ifndef RHARNESS_HARNESS_GATE_GATE_H_
#define RHARNESS_HARNESS_GATE_GATE_H_

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "compare/fingerprints/fingerprint_diff.h"
#include "harness/base/clock.h"
#include "harness/gate/baseline.h"
#include "harness/records/manifest/environment.h"
#include "harness/records/manifest/manifest.h"
#include "harness/records/policy/policy.h"
#include "reports/gate_report.h"
#include "reports/model.h"

namespace rharness {

// Environments of reruns, by their run.
using RerunPlaces = std::multimap<std::string, Environment>;

struct GateInput {
  Fingerprint baseline;
  Fingerprint candidate;
  std::optional<BaselineRecord> record;  // of the baseline, if it was accepted as one
  Policy policy;
  std::vector<Manifest> history;  // for impact; may be empty
  std::optional<Report> drill;    // on the candidate; if given, it must pass
  // Environments of the drill's reruns, by run, from their evidence; a run without one is of
  // unknown origin. None at all: the caller answers for the drill's place.
  std::optional<RerunPlaces> drilled_in;
  // The gate had them rerun here: probes or the caller say that this is the candidate.
  bool place_proven = false;
  // The same runs, drilled on the stack in use (shadow.h), and their environments.
  std::optional<Report> in_use;
  std::optional<RerunPlaces> in_use_at;
  WallTime now{};
};
GateDecision DecideGate(const GateInput& input);

// For the page and JUnit: the decision with its inputs.
GateReport BuildReport(const GateInput& input, GateDecision decision);

// The runs that depend on what changed: those that declare a family of a changed probe
// (probe_families of the manifest); every run depends on scalar arithmetic, and one that declares
// no family on everything. A run of a family that is not among `compared`, those of probes that
// worked on both sides, is impacted whatever changed: nothing shows that it stayed the same. A new
// probe is no change. In the order of the history.
std::vector<ImpactedRun> FindImpacted(const FingerprintDifference& difference,
                                      const std::set<std::string>& compared,
                                      const std::vector<Manifest>& history);

// Rules and waivers of the policy that name no probe of either side, nor, in a waiver, a family
// that a run depends on: misspelt, or left from a removed probe. They open nothing, but their
// author expects it: a warning reason each.
std::vector<GateReason> FindUnmatched(const GateInput& input);

// Variables whose value differs between the candidate's stack and the baseline's: a rerun on the
// candidate needs them. Without a value: the candidate has it unset.
std::map<std::string, std::optional<std::string>> CandidateVariables(const Fingerprint& baseline,
                                                                     const Fingerprint& candidate);

// The first probe with another result here than on the candidate; nullptr: none. A case that
// repeats on one side only may be chance as much as place, and additional cases are no
// contradiction. `between`: from the candidate to here.
const ProbeDifference* FindContradiction(const FingerprintDifference& between);

// The parts of the stack that show that this is another machine: libraries that its probes loaded
// and the candidate's did not, with the options that name the candidate's; else differing facts of
// both. Also for a fingerprint with fewer probes than the candidate's. Empty: none.
std::string WhatDiffersHere(const Fingerprint& candidate, const Fingerprint& here);

// Why a rerun in this environment says nothing about the candidate: a variable, a driver, a CPU, a
// GPU or the version of a library differs, or the candidate's driver, CPU or GPU is not seen there,
// or, unless the place is proven, nothing that sets the candidate apart from the baseline is. A
// library counts if the run states its version ("openblas", "cudnn") and the candidate's stack that
// of libNAME.so. Empty: it was rerun there.
std::string WhyElsewhere(const GateInput& input, const Environment& environment);
// The same of all reruns of a run; one without any says nothing either.
std::string WhyElsewhere(const GateInput& input, const RerunPlaces& places,
                         const std::string& run_id);

// Why a drill that began then says nothing about the candidate: this was measured later, and may be
// another stack by then. Empty: it was measured before.
std::string WhyOfBefore(const Fingerprint& candidate, WallTime drilled);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_GATE_GATE_H_
