// "rharness.gate/v1" (gate.schema.json); keys in the order of the structs.
#include <fmt/format.h>

#include "reports/fingerprint_report.h"
#include "reports/gate_report.h"
#include "reports/json_parts.h"

namespace rharness {
namespace {

Json ReasonJson(const GateReason& reason) {
  Json json;
  json.Set("code", reason.code)
      .Set("subject", reason.subject)
      .Set("rule", reason.rule)
      .Set("message", reason.message)
      .Set("closes", reason.closes)
      .Set("lacks_evidence", reason.lacks_evidence)
      .Set("warns", reason.warns);
  return json;
}

Json ImpactedRunJson(const ImpactedRun& run) {
  Json json;
  json.Set("run_id", run.run_id).Set("family", run.family).Set("probes", PlainArray(run.probes));
  return json;
}

}  // namespace

Json ToJson(const GateDecision& decision) {
  Json json;
  json.Set("schema", fmt::format("rharness.gate/v{}", kGateVersion))
      .Set("open", decision.open)
      .Set("exit_code", decision.exit_code)
      .Set("headline", decision.headline)
      .Set("reasons", ArrayOf(decision.reasons, ReasonJson))
      .Set("impacted_runs", ArrayOf(decision.impacted_runs, ImpactedRunJson))
      .Set("unaffected_runs", decision.unaffected_runs)
      .Set("difference", DifferenceJson(decision.difference));
  return json;
}

}  // namespace rharness
