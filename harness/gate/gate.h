// May this stack roll out? Baseline and candidate fingerprints, a policy, and perhaps a drill.
//
// Role: the composition that `rharness gate` calls. Pure but for the loaders. The gate opens only
// on evidence: a fingerprint that is empty, of another schema, broken, or without a probe in common
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

struct GateInput {
  Fingerprint baseline;
  Fingerprint candidate;
  std::optional<BaselineRecord> record;  // of the baseline, where it was accepted as one
  Policy policy;
  std::vector<Manifest> history;  // for impact; may be empty
  std::optional<Report> drill;    // on the candidate; where given, it must pass
  // Where the drill's runs were rerun, by run, as their evidence says; a run without is of unknown
  // origin. None at all: the caller answers for the drill's place.
  std::optional<std::map<std::string, Environment>> drilled_in;
  // The same runs, drilled on the stack in use (shadow.h), and where; as for the candidate's.
  std::optional<Report> in_use;
  std::optional<std::map<std::string, Environment>> in_use_at;
  WallTime now{};
};
GateDecision DecideGate(const GateInput& input);

// What the page and JUnit tell: the decision with what it was made of.
GateReport BuildReport(const GateInput& input, GateDecision decision);

// The runs that depend on what changed: those that declare a family of a changed probe
// (probe_families of the manifest); every run depends on scalar arithmetic, and one that declares
// no family on everything. A run of a family that is not among `compared`, those of probes that
// worked on both sides, is impacted whatever changed: that it stayed the same is not shown. A probe
// that only appeared has changed nothing. In the order of the history.
std::vector<ImpactedRun> FindImpacted(const FingerprintDifference& difference,
                                      const std::set<std::string>& compared,
                                      const std::vector<Manifest>& history);

// Rules and waivers of the policy that name no probe of either side, nor, in a waiver, a family
// that a run depends on: misspelt, or left from a probe that is gone. They open nothing, and
// whoever wrote them believes otherwise: a reason each that warns.
std::vector<GateReason> FindUnmatched(const GateInput& input);

// Variables whose value the candidate's stack states otherwise than the baseline's: a rerun on the
// candidate needs them. Without a value: the candidate has it unset.
std::map<std::string, std::optional<std::string>> CandidateVariables(const Fingerprint& baseline,
                                                                     const Fingerprint& candidate);

// The first probe that shows something else here than on the candidate; nullptr: none does. That a
// case repeats on one side and not on the other is chance as much as place, and more to see is no
// contradiction. `between`: from the candidate to here.
const ProbeDifference* FindContradiction(const FingerprintDifference& between);

// What of the stack makes another machine of this one: libraries that its probes loaded and the
// candidate's did not, with the options that name the candidate's; else facts of both that differ.
// Of a fingerprint of fewer probes than the candidate's, too. Empty: nothing does.
std::string WhatDiffersHere(const Fingerprint& candidate, const Fingerprint& here);

// Why a run that was rerun in this environment says nothing of the candidate: a variable, a driver,
// a CPU, a GPU or the version of a library that is not the candidate's. A library counts where the
// run states its version ("openblas", "cudnn") and the candidate's stack that of libNAME.so. Empty:
// nothing speaks against it.
std::string WhyElsewhere(const GateInput& input, const Environment& environment);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_GATE_GATE_H_
