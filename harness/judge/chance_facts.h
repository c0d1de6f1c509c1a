// What hooks saw of generators, orders and switches, as facts.
#ifndef RHARNESS_HARNESS_JUDGE_CHANCE_FACTS_H_
#define RHARNESS_HARNESS_JUDGE_CHANCE_FACTS_H_

#include <vector>

#include "compare/facts.h"
#include "harness/records/manifest/observation.h"

namespace rharness {

// "unseeded.SOURCE", "unordered.sets", "unordered.workers", "nondeterministic.OPERATOR": equal on
// both sides they are causes all the same; and that of the layer not everything is known.
void AddChance(const Observation& seen, std::vector<Fact>* out);
// "flag.NAME"; "file_order.FOLDER", of the data; "unrecorded.NAME", of a record alone. `again`: of
// a rerun.
void AddFlags(const Observation& seen, bool again, std::vector<Fact>* out);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_JUDGE_CHANCE_FACTS_H_
