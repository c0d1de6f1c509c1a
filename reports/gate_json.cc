// "rharness.gate/v1" and its schema; members in the order of the structs.
#include "harness/base/json_members.h"
#include "harness/base/member_schema.h"
#include "reports/fingerprint_members.h"
#include "reports/gate_report.h"
#include "reports/schemas.h"

namespace rharness {

template <class Io, Is<GateReason> T>
void Members(Io& io, T& reason) {
  io.Noun("A reason, recorded where the decision was made.");
  io.Must("code", reason.code,
          "Stable, for machines: tree_changed, waived, baseline_expired, nothing_compared, ...");
  io.Must("subject", reason.subject,
          "A probe, a run, the baseline, the drill or the fingerprints.");
  io.Must("rule", reason.rule, "The rule that decided, in words.");
  io.Must("message", reason.message, "One sentence for people.");
  io.Must("closes", reason.closes, "Whether this reason closes the gate.");
  io.Must("lacks_evidence", reason.lacks_evidence,
          "It closes for lack of evidence, not by a change.");
  io.Must("warns", reason.warns,
          "It closes nothing, and somebody should look at it: rule_matches_nothing, "
          "waiver_matches_nothing.");
}

template <class Io, Is<ImpactedRun> T>
void Members(Io& io, T& run) {
  io.Noun("A historical run whose arithmetic is expected to move.");
  io.Must("run_id", run.run_id, "The run.");
  io.Must("family", run.family, "Its family.");
  io.MustPlain("probes", run.probes, "The changed probes that it depends on.");
}

template <class Io, Is<GateDecision> T>
void Members(Io& io, T& decision) {
  io.Schema("rharness.gate", kGateVersion);
  io.Must("open", decision.open, "The answer.");
  io.Must("exit_code", decision.exit_code,
          About("0 open, 1 closed by a change, 3 closed for lack of evidence.").OneOf("0 1 3"));
  io.Must("headline", decision.headline, "The answer and its first reason in one sentence.");
  io.MustList("reasons", decision.reasons, "Those that close first, then those that warn.");
  io.MustList("impacted_runs", decision.impacted_runs,
              "Historical runs that depend on what changed.");
  io.Must("unaffected_runs", decision.unaffected_runs, Count("Historical runs that do not."));
  io.Object("difference", decision.difference);
}

Json GateSchema() {
  return SchemaOf<GateDecision>({.id = "rharness.gate/v1",
                                 .title = "May a stack roll out?",
                                 .description = "Written by rharness gate --json.",
                                 .closed = true,
                                 .finite = true});
}

Json ToJson(const GateDecision& decision) { return MemberWriter::Written(decision); }

}  // namespace rharness
