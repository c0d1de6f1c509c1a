// Compares the lineage of two subjects' data: metrics on other eval sets, data of other makers.
#ifndef RHARNESS_HARNESS_JUDGE_COMPARISON_LINEAGE_FINDINGS_H_
#define RHARNESS_HARNESS_JUDGE_COMPARISON_LINEAGE_FINDINGS_H_

#include <vector>

#include "compare/comparison.h"
#include "harness/judge/comparison/subject.h"
#include "harness/records/manifest/lineage.h"

namespace rharness {

// Metrics of both that were not measured on one set. Evidence has no definitions; if the other side
// is a manifest its definitions hold, with the data that the evidence saw.
std::vector<OtherEvalSet> OtherEvalSets(const Subject& a, const Subject& b);

// Adds a finding for each of these, and for data of equal content from another transform; notes
// metrics whose set only one manifest states. Pure.
void NoteLineage(const Subject& a, const Subject& b, Comparison* comparison);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_JUDGE_COMPARISON_LINEAGE_FINDINGS_H_
