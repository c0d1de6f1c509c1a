// The report of a gate: every number and every sentence of it, decided once.
//
// Role: harness/gate fills it; a Document of it has every format. "rharness.gate/v1" is the JSON
// form of the decision.
#ifndef RHARNESS_REPORTS_GATE_REPORT_H_
#define RHARNESS_REPORTS_GATE_REPORT_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compare/fingerprints/fingerprint.h"
#include "compare/fingerprints/fingerprint_diff.h"
#include "harness/base/clock.h"
#include "harness/base/json.h"
#include "harness/verdict/verdict.h"
#include "reports/document.h"

namespace rharness {

struct GateReason {
  std::string code;     // "tree_changed", "waived", "baseline_expired", "nothing_compared", ...
  std::string subject;  // a probe, a run, the baseline
  std::string rule;     // the rule of the policy that decided
  std::string message;  // one sentence
  bool closes = false;
  bool lacks_evidence = false;  // it closes for lack of evidence, not by a change
  bool warns = false;           // it closes nothing, but needs attention
};

// A historical run whose arithmetic is expected to move, and the changed probes it depends on.
struct ImpactedRun {
  std::string run_id;
  std::string family;
  std::vector<std::string> probes;
};

struct GateDecision {
  bool open = false;
  int exit_code = 3;     // 0 open, 1 closed by a change, 3 closed for lack of evidence
  std::string headline;  // one sentence
  FingerprintDifference difference;
  std::vector<GateReason> reasons;  // those that close first, then those that warn
  std::vector<ImpactedRun> impacted_runs;
  int unaffected_runs = 0;
};

// The baseline's acceptance: by whom, why and through which day.
struct BaselineAcceptance {
  std::string accepted_by;
  std::string reason;
  std::string holds;  // "through 2026-12-31 (UTC)"
};

// The decision, and its inputs.
struct GateReport {
  GateDecision decision;
  Fingerprint baseline;
  Fingerprint candidate;
  std::optional<BaselineAcceptance> acceptance;  // of the baseline, if it was accepted
  std::size_t rules = 0;                         // of the policy
  std::size_t waivers = 0;
  bool drill_required = false;
  bool has_history = false;                // without one no run is known to be impacted
  std::map<std::string, Verdict> drilled;  // by run
  WallTime made{};
};

inline constexpr int kGateVersion = 1;
Json ToJson(const GateDecision& decision);  // "rharness.gate/v1": "open", "reasons", ...

// The reason in one sentence that names its subject.
std::string SentenceOf(const GateReason& reason);
// What to do next: one sentence, for people.
std::string NextStep(const GateDecision& decision);

// Reasons, impacted runs, the grid of probes and layers, trees before and now, the stack. In JUnit
// one case per probe, and one for every other subject of a reason.
Document DocumentOf(const GateReport& report);

}  // namespace rharness

#endif  // RHARNESS_REPORTS_GATE_REPORT_H_
