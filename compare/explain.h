// Why do they differ? Ranked causes, each with its evidence and the command that confirms it.
//
// Role: pure; reads a judged comparison and adds `causes`. A table of rules, one function a cause.
// Not here: any new measurement; a cause never changes a verdict. What several reruns say of each
// other: explain_reruns.h.
#ifndef RHARNESS_COMPARE_EXPLAIN_H_
#define RHARNESS_COMPARE_EXPLAIN_H_

#include <string>
#include <vector>

#include "compare/comparison.h"

namespace rharness {

// Most suspicious first: what is shown by a hash or by the bits before what a pattern makes likely
// before what is merely possible; within one strength in the order of the layers. Empty for an
// identical pair. `facts_a`, `facts_b`: all that is known of each side, the equal facts included: a
// determinism flag that is off on both sides is a cause as well. Within the environment: variables
// that numeric libraries read, then what the run used, drivers, the rest, and digests last.
std::vector<Cause> Explain(const Comparison& comparison, const std::vector<Fact>& facts_a,
                           const std::vector<Fact>& facts_b);

// What a green verdict stands in spite of: "Identical, although numpy went from 1.26.4 to 2.4.6,
// and 2 more facts changed." The most telling change is named; digests, and packages that the run
// is not known to have used, are neither named nor counted. Empty for any other verdict, and where
// nothing telling changed.
std::string AlthoughSentence(const Comparison& comparison);
// Adds it as a finding that does not decide ("facts_changed"), so that every writer shows it. For a
// judged comparison; adds nothing where the sentence is empty.
void NoteAlthough(Comparison* comparison);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_EXPLAIN_H_
