// `rharness compare --trace`: where two runs part.
#ifndef RHARNESS_HARNESS_CLI_COMPARE_TRACE_H_
#define RHARNESS_HARNESS_CLI_COMPARE_TRACE_H_

#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/cli/command.h"
#include "harness/cli/drill_options.h"

namespace rharness {

struct TraceArguments {
  bool trace = false;
  std::string steps;
  bool no_rerun = false;
  DrillArguments drill;  // how reruns are carried out
};

// What `compare` has of its own.
struct TraceSides {
  std::string a;
  std::string b;
  std::vector<std::string> replicates;
  std::string root;
  bool json = false;
};

// The options under their own headings, and the paragraph that says what they do.
void AddTraceOptions(Command* verb, TraceArguments* arguments);
void AddTraceNotes(Command* verb);

// Errors: invalid_input for options of a comparison that say nothing here, and the other way round.
Status CheckTrace(const TraceArguments& arguments, const Command& command);

// Carries it out and prints. Returns the exit code.
int RunTrace(const TraceSides& sides, TraceArguments* arguments, Command* command);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_CLI_COMPARE_TRACE_H_
