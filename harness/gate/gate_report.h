// A gate's decision as reports: terminal, HTML, JUnit, Markdown. JSON is gate.h's.
//
// Role: the writers; nothing is decided here. All escape what strangers wrote for their format.
#ifndef RHARNESS_HARNESS_GATE_GATE_REPORT_H_
#define RHARNESS_HARNESS_GATE_GATE_REPORT_H_

#include <string>

#include "harness/gate/gate.h"

namespace rharness {

// What to do next: one sentence, for people.
std::string NextStep(const GateDecision& decision);

// At most `rows` lines of at most `columns` characters; what is left out is counted.
std::string WriteTerminal(const GateDecision& decision, int columns, int rows, bool color);
// A self-contained page: reasons, the grid of probes and layers, trees before and now, impacted
// runs, the stack.
std::string WriteHtml(const GateDecision& decision, const GateInput& input);
// A case a probe, and one for every other reason that closes.
std::string WriteJunit(const GateDecision& decision, const GateInput& input);
// A step summary, below 1 MiB.
std::string WriteMarkdown(const GateDecision& decision);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_GATE_GATE_REPORT_H_
