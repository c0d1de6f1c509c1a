// Which facts of its stack set a node apart from others.
//
// Role: private to fleet.cc. Pure. What names the one machine (UUIDs, serial numbers, host and node
// names, addresses) sets nobody apart.
#ifndef RHARNESS_COMPARE_FINGERPRINTS_FLEET_FACTS_H_
#define RHARNESS_COMPARE_FINGERPRINTS_FLEET_FACTS_H_

#include <span>
#include <string>
#include <vector>

#include "compare/fingerprints/fleet.h"

namespace rharness {

// Facts in which all of `ours` agree, and whose value none of `theirs` has: what people change
// first (variables, versions, drivers, models), then the rest, digests last. Of a library whose
// version differs its digests say nothing more, so there is one fact a library. Empty where either
// side is.
std::vector<FleetFact> FactsApart(std::span<const Fingerprint* const> ours,
                                  std::span<const Fingerprint* const> theirs);

// "gpu_driver is 590 here and 580.65 in the majority, ... and 2 more facts"; empty for none.
std::string FactsInWords(const std::vector<FleetFact>& facts);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_FINGERPRINTS_FLEET_FACTS_H_
