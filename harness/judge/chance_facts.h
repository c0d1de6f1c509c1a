// Facts about generators, orders and switches that hooks saw.
#ifndef RHARNESS_HARNESS_JUDGE_CHANCE_FACTS_H_
#define RHARNESS_HARNESS_JUDGE_CHANCE_FACTS_H_

#include <vector>

#include "compare/facts.h"
#include "harness/records/manifest/observation.h"

namespace rharness {

// "unseeded.SOURCE", "unordered.sets", "unordered.workers", "nondeterministic.OPERATOR": equal on
// both sides they are still causes; and the fact that not everything is known of the layer.
void AddChance(const Observation& seen, std::vector<Fact>* out);
// "flag.NAME"; "file_order.FOLDER", in the data layer; "unrecorded.NAME", for a record alone.
// `again`: for a rerun.
void AddFlags(const Observation& seen, bool again, std::vector<Fact>* out);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_JUDGE_CHANCE_FACTS_H_
