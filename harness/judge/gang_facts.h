// The nodes and ranks of a gang as facts. Pure.
#ifndef RHARNESS_HARNESS_JUDGE_GANG_FACTS_H_
#define RHARNESS_HARNESS_JUDGE_GANG_FACTS_H_

#include <string_view>
#include <vector>

#include "compare/facts.h"
#include "harness/records/manifest/evidence.h"
#include "harness/records/manifest/manifest.h"

namespace rharness {

// The hosts by node number, where they are others than the recorded ones: the same in another
// order, or others. Comparable, as other processors of one class are.
inline constexpr std::string_view kGangNodeOrder = "gang.node_order";
inline constexpr std::string_view kGangNodeSet = "gang.node_set";

// Behind a key and before a number: a fact of one node or rank alone.
inline constexpr std::string_view kOnNode = " on node ";
inline constexpr std::string_view kOnRank = " on rank ";

struct GangFacts {
  std::vector<Fact> recorded;
  std::vector<Fact> observed;
};

// Beside the facts of node 0 and rank 0 (facts_of.h): of every other node and rank, the facts that
// differ from those on either side. Their key ends in " on node 1" or " on rank 5"; a value that
// differs ends in the host. Node N of the rerun is compared with node N of the record, rank with
// rank. Nothing where either has no gang.
GangFacts FactsOfGang(const Manifest& manifest, const Evidence& evidence);
// Of two records.
GangFacts FactsOfGang(const Manifest& recorded, const Manifest& other);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_JUDGE_GANG_FACTS_H_
