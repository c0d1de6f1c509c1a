// Finds the facts of its stack that set a node apart.
//
// Role: private to fleet.cc. Pure. The identity of the one machine (UUIDs, serial numbers, host and
// node names, addresses) sets no node apart.
#ifndef RHARNESS_COMPARE_FINGERPRINTS_FLEET_FACTS_H_
#define RHARNESS_COMPARE_FINGERPRINTS_FLEET_FACTS_H_

#include <span>
#include <string>
#include <vector>

#include "compare/fingerprints/fleet.h"

namespace rharness {

// Facts in which all of `ours` agree, and whose value none of `theirs` has: facts that people
// change often first (variables, versions, drivers, models), then the rest, digests last. A library
// yields one fact: beside a differing version its digests add nothing. Empty if either side is.
std::vector<FleetFact> FactsApart(std::span<const Fingerprint* const> ours,
                                  std::span<const Fingerprint* const> theirs);

// "gpu_driver is 590 here and 580.65 in the majority, ... and 2 more facts"; empty for none.
std::string FactsInWords(const std::vector<FleetFact>& facts);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_FINGERPRINTS_FLEET_FACTS_H_
