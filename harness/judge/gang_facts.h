// The nodes and ranks of a gang as facts. Pure.
#ifndef RHARNESS_HARNESS_JUDGE_GANG_FACTS_H_
#define RHARNESS_HARNESS_JUDGE_GANG_FACTS_H_

#include <vector>

#include "compare/facts.h"
#include "harness/records/manifest/evidence.h"
#include "harness/records/manifest/manifest.h"

namespace rharness {

struct GangFacts {
  std::vector<Fact> recorded;
  std::vector<Fact> observed;
};

// Beside the facts of node 0 and rank 0 (facts_of.h): of every other node and rank, the facts that
// differ from those on either side, under the key of the fact with " on node 1" or " on rank 5"
// behind it. Node N of the rerun is compared with node N of the record, rank with rank. Nothing
// where either has no gang.
GangFacts FactsOfGang(const Manifest& manifest, const Evidence& evidence);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_JUDGE_GANG_FACTS_H_
