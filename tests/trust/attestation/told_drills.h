// A history that was told of one drill, without a database.
#ifndef RHARNESS_TESTS_TRUST_ATTESTATION_TOLD_DRILLS_H_
#define RHARNESS_TESTS_TRUST_ATTESTATION_TOLD_DRILLS_H_

#include <optional>
#include <string>

#include "harness/history/entered_drill.h"
#include "harness/trust/attestation/verdict_statement.h"

namespace rharness {

// Has what the verdict says of its drill, until somebody changes it.
struct ToldDrills : EnteredDrills {
  explicit ToldDrills(const AttestedVerdict& said)
      : drill(EnteredDrill{.drill = {said.drill_id, said.started, said.decided, 0},
                           .reruns = {},
                           .verdicts = {VerdictRecord{said.drill_id, said.run_id, said.verdict,
                                                      said.decided, 1, "[]"}},
                           .superseded = {}}) {}
  Result<std::optional<EnteredDrill>> FindDrill(const std::string& drill_id) override {
    if (!drill || !drill->drill.drill_id.starts_with(drill_id)) {
      return std::optional<EnteredDrill>();
    }
    return drill;
  }
  Result<std::optional<VerdictMeasures>> MeasuresOf(const std::string&,
                                                    const std::string&) override {
    return std::optional<VerdictMeasures>();
  }

  std::optional<EnteredDrill> drill;
};

}  // namespace rharness

#endif  // RHARNESS_TESTS_TRUST_ATTESTATION_TOLD_DRILLS_H_
