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
#include <string_view>
#include <vector>

#include "compare/fingerprints/fingerprint_diff.h"
#include "harness/base/clock.h"
#include "harness/gate/baseline.h"
#include "harness/gate/policy.h"
#include "harness/manifest/environment.h"
#include "harness/manifest/manifest.h"
#include "reports/model.h"

namespace rharness {

struct GateReason {
  std::string code;     // "tree_changed", "waived", "baseline_expired", "nothing_compared", ...
  std::string subject;  // a probe, a run, the baseline
  std::string rule;     // the rule of the policy that decided
  std::string message;  // one sentence
  bool closes = false;
  bool lacks_evidence = false;  // it closes for want of evidence, not by a change
};

// A historical run whose arithmetic is expected to move, and the changed probes it depends on.
struct ImpactedRun {
  std::string run_id;
  std::string family;
  std::vector<std::string> probes;
};

// The reason in one sentence that names its subject.
std::string SentenceOf(const GateReason& reason);

struct GateDecision {
  bool open = false;
  int exit_code = 3;     // 0 open, 1 closed by a change, 3 closed for want of evidence
  std::string headline;  // one sentence
  FingerprintDifference difference;
  std::vector<GateReason> reasons;  // those that close first
  std::vector<ImpactedRun> impacted_runs;
  int unaffected_runs = 0;
};

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
  WallTime now{};
};
GateDecision DecideGate(const GateInput& input);

// A file that could not be read as a fingerprint: one that shows nothing, with the reason as its
// suite's, so that the gate closes on it for want of evidence.
Fingerprint UnreadableFingerprint(std::string_view file, const Error& error);

inline constexpr char kScalarFamily[] = "scalar";  // every run depends on it

// The runs that depend on what changed: those that declare a family of a changed probe
// (probe_families of the manifest); every run depends on scalar arithmetic, and one that declares
// no family on everything. A run of a family that is not among `compared`, those of probes that
// worked on both sides, is impacted whatever changed: that it stayed the same is not shown. A probe
// that only appeared has changed nothing. In the order of the history.
std::vector<ImpactedRun> FindImpacted(const FingerprintDifference& difference,
                                      const std::set<std::string>& compared,
                                      const std::vector<Manifest>& history);

// Variables whose value the candidate's stack states otherwise than the baseline's: a rerun on the
// candidate needs them. Without a value: the candidate has it unset.
std::map<std::string, std::optional<std::string>> CandidateVariables(const Fingerprint& baseline,
                                                                     const Fingerprint& candidate);

// Why a run that was rerun in this environment says nothing of the candidate: a variable, a driver,
// a CPU, a GPU or the version of a library that is not the candidate's. A library counts where the
// run states its version ("openblas", "cudnn") and the candidate's stack that of libNAME.so. Empty:
// nothing speaks against it.
std::string WhyElsewhere(const GateInput& input, const Environment& environment);

inline constexpr int kGateVersion = 1;
Json ToJson(const GateDecision& decision);  // "rharness.gate/v1": "open", "reasons", ...

}  // namespace rharness

#endif  // RHARNESS_HARNESS_GATE_GATE_H_
