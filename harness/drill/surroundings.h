// Host and inputs of a rerun, as the history keeps them once the drill's folder is gone. Pure.
#ifndef RHARNESS_HARNESS_DRILL_SURROUNDINGS_H_
#define RHARNESS_HARNESS_DRILL_SURROUNDINGS_H_

#include <string_view>

#include "harness/base/result.h"
#include "harness/history/store.h"
#include "harness/records/manifest/evidence.h"

namespace rharness {

// The parts of the evidence that are facts: image, code, data, seeds, what was observed (without
// what is seen in samples) and all of the environment, a part each. Excludes outputs, and
// everything that changes with every rerun. Empty for a rerun that was not carried out and saw
// nothing.
Surroundings SurroundingsOf(const Evidence& evidence);
// Evidence of this run with these parts and nothing else; FactsOf reads it like complete evidence.
// Errors: invalid_input (`where` names the record) if the parts are invalid.
Result<Evidence> EvidenceFrom(const Surroundings& surroundings, const Manifest& manifest,
                              std::string_view where);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_DRILL_SURROUNDINGS_H_
