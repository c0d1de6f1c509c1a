// Why do they differ? Ranked causes, each with its evidence and the command that confirms it.
//
// Role: pure; reads a judged comparison and adds `causes`. A table of rules, one function a cause.
// Not here: any new measurement; a cause never changes a verdict. explain_reruns.h compares several
// reruns with each other.
#ifndef RHARNESS_COMPARE_EXPLAIN_H_
#define RHARNESS_COMPARE_EXPLAIN_H_

#include <string>
#include <vector>

#include "compare/comparison.h"

namespace rharness {

// Most suspicious first. The first row that fits a cause gives its place. The column depends on how
// the difference begins: by more than rounding (or not known), or by rounding alone.
//
//   what is known of the cause                                          beyond   rounding
//   the recorded run lost a process (killed, out of memory)                1        1
//   input: data, seeds, hyperparameters, code, image are not equal         2        2
//   seen on each side, not equal: seeds as set, hash seed, order of files  3        3
//   the bits show how: one element, names, shapes, tied weights            4        4
//   the run's own code draws from a generator without a seed               5        10
//   a variable that the run reads, or that was named, differs              6        7
//   a curve of settings differs (learning rate)                            7        8
//   its own code goes by an order of sets, files or workers                8        9
//   libraries, arithmetic variables, switches, driver, hardware differ     9        5
//   nondeterministic switches and operators, on both sides                10        6
//   command, family, commit, locale differ                                11       11
//   chance on both sides that is not known to reach the result            12       12
//   what the shape of the difference suggests                             13       13
//   changed, and nothing of the run is known to use it                    14       14
//
// Row 12 is left out if anything is shown or likely, and for a rerun that was not carried out.
// Within a row the order is that of the rules. "shown": by a hash, by bits, or seen. "likely": at
// most one, the first of all, if it is alone in its row. The rest is "possible". No cause
// contradicts known facts: with equal data and code no other batch, setting or schedule is named.
// Empty for an identical pair. `facts_a`, `facts_b`: all known facts of each side, the equal ones
// included: a fact of both sides may be a cause as well.
std::vector<Cause> Explain(const Comparison& comparison, const std::vector<Fact>& facts_a,
                           const std::vector<Fact>& facts_b);

// What changed where the verdict is green all the same: "Identical, although numpy went from 1.26.4
// to 2.4.6, and 2 more facts changed." Names the most telling change; neither names nor counts
// digests and packages that the run is not known to have used. Empty for any other verdict, and if
// nothing telling changed.
std::string AlthoughSentence(const Comparison& comparison);
// Adds it as a finding that does not decide ("facts_changed"), so that every writer shows it. For a
// judged comparison; adds nothing if the sentence is empty.
void NoteAlthough(Comparison* comparison);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_EXPLAIN_H_
