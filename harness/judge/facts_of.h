// Manifests and evidence as facts in the five layers: the bridge from records to comparison. Pure.
#ifndef RHARNESS_HARNESS_JUDGE_FACTS_OF_H_
#define RHARNESS_HARNESS_JUDGE_FACTS_OF_H_

#include <vector>

#include "compare/facts.h"
#include "harness/records/manifest/evidence.h"
#include "harness/records/manifest/manifest.h"

namespace rharness {

// Weights: data hashes, code identity, image digest and seeds are kIdentity. GPU model and count
// are kClass; without GPUs the architecture is, and the CPU model where the bits are promised on
// one hardware class only. Variables, software, packages, drivers and the rest are kContext. Parts
// missing from a record (packages, in older ones) are facts of their own: not known. Observations
// are kContext and explain; without an observation there is no such fact.
std::vector<Fact> FactsOf(const Manifest& manifest);
// The record as expected of a rerun: variables that the drill overrides (--env) and the record does
// not name count as unset. Leaves out libraries of packages whose version changed.
std::vector<Fact> FactsAsRerun(const Manifest& manifest, const Evidence& evidence);
// `manifest` says which keys to speak of.
std::vector<Fact> FactsOf(const Evidence& evidence, const Manifest& manifest);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_JUDGE_FACTS_OF_H_
