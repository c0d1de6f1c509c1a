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
// one hardware class only. Variables, software, packages, drivers and the rest are kContext. What a
// record does not hold (packages, in those of before) is a fact of its own: not known. What was
// observed is kContext and explains, and without an observation there is no fact of one.
std::vector<Fact> FactsOf(const Manifest& manifest);
// As the record stands for a rerun: what the drill overrides (--env) and the record does not name
// would have been unset. Libraries of packages whose version changed are left out.
std::vector<Fact> FactsAsRerun(const Manifest& manifest, const Evidence& evidence);
// `manifest` says which keys to speak of.
std::vector<Fact> FactsOf(const Evidence& evidence, const Manifest& manifest);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_JUDGE_FACTS_OF_H_
