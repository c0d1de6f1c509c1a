// Differences and fleets as JSON; keys in the order of the structs.
#include <fmt/format.h>

#include "reports/fingerprint_report.h"
#include "reports/json_parts.h"

namespace rharness {
namespace {

Json FactJson(const FactDifference& fact) {
  Json json;
  json.Set("layer", LayerName(fact.layer))
      .Set("key", fact.key)
      .Set("before", fact.recorded)
      .Set("after", fact.observed);
  return json;
}

Json ProbeJson(const ProbeDifference& probe) {
  Json json;
  json.Set("probe", probe.probe)
      .Set("family", probe.family)
      .Set("change", BehaviourChangeName(probe.change))
      .Set("sentence", probe.sentence)
      .Set("choice_cases", PlainArray(probe.choice_cases))
      .Set("tree_cases", PlainArray(probe.tree_cases))
      .Set("bits_cases", PlainArray(probe.bits_cases))
      .Set("gone_cases", PlainArray(probe.gone_cases))
      .Set("cases", probe.cases);
  return json;
}

void AddMembers(const FingerprintDifference& difference, Json* json) {
  json->Set("comparable", difference.comparable)
      .Set("why", difference.why)
      .Set("summary", difference.summary)
      .Set("compared", difference.compared)
      .Set("same", difference.same)
      .Set("stack", ArrayOf(difference.stack, FactJson))
      .Set("probes", ArrayOf(difference.probes, ProbeJson));
}

Json ClassJson(const FleetClass& one) {
  Json json;
  json.Set("hardware_class", one.hardware_class)
      .Set("arithmetic", one.arithmetic)
      .Set("majority", one.majority)
      .Set("nodes", PlainArray(one.nodes))
      .Set("files", PlainArray(one.files));
  return json;
}

Json FleetFactJson(const FleetFact& fact) {
  Json json;
  json.Set("layer", LayerName(LayerOfStack(fact.key)))
      .Set("key", fact.key)
      .Set("here", fact.here)
      .Set("majority", ArrayOf(fact.majority, [](const auto& value) { return Json(value); }))
      .Set("of_machine", fact.of_machine);
  return json;
}

Json OddJson(const OddNode& odd) {
  Json json;
  json.Set("node", odd.node)
      .Set("file", odd.file)
      .Set("hardware_class", odd.hardware_class)
      .Set("suspect", SuspectName(odd.suspect))
      .Set("sentence", odd.sentence)
      .Set("facts", ArrayOf(odd.facts, FleetFactJson))
      .Set("difference", DifferenceJson(odd.difference));
  return json;
}

}  // namespace

Json DifferenceJson(const FingerprintDifference& difference) {
  Json json;
  AddMembers(difference, &json);
  return json;
}

Json ToJson(const FingerprintDifference& difference) {
  Json json;
  json.Set("schema", fmt::format("rharness.fingerprint_diff/v{}", kFingerprintDiffVersion))
      .Set("exit_code", ExitCodeOf(difference));
  AddMembers(difference, &json);
  return json;
}

Json ToJson(const Fleet& fleet) {
  Json json;
  json.Set("schema", fmt::format("rharness.fleet/v{}", kFleetVersion))
      .Set("exit_code", fleet.exit_code)
      .Set("summary", fleet.summary)
      .Set("nodes", fleet.nodes)
      .Set("fingerprints", fleet.fingerprints)
      .Set("classes", ArrayOf(fleet.classes, ClassJson))
      .Set("odd", ArrayOf(fleet.odd, OddJson))
      .Set("unusable", PlainArray(fleet.unusable))
      .Set("notes", PlainArray(fleet.notes));
  return json;
}

int ExitCodeOf(const FingerprintDifference& difference) {
  if (!difference.comparable) return 3;
  return difference.probes.empty() ? 0 : 1;
}

}  // namespace rharness
