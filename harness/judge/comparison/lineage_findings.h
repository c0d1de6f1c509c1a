// What two subjects say of their data's lineage: metrics on other eval sets, data of other makers.
#ifndef RHARNESS_HARNESS_JUDGE_COMPARISON_LINEAGE_FINDINGS_H_
#define RHARNESS_HARNESS_JUDGE_COMPARISON_LINEAGE_FINDINGS_H_

#include <vector>

#include "compare/comparison.h"
#include "harness/judge/comparison/subject.h"
#include "harness/records/manifest/lineage.h"

namespace rharness {

// Metrics that both have and that were not measured on one set. Evidence does not say on what;
// where the other side is a manifest its definitions hold, with the data that the evidence saw.
std::vector<OtherEvalSet> OtherEvalSets(const Subject& a, const Subject& b);

// Adds a finding for each of these, and for data of one content that another transform made; notes
// on metrics of which one manifest alone says the set. Pure.
void NoteLineage(const Subject& a, const Subject& b, Comparison* comparison);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_JUDGE_COMPARISON_LINEAGE_FINDINGS_H_
