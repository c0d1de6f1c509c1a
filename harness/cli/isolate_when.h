// `rharness isolate --when`: where two runs part.
#ifndef RHARNESS_HARNESS_CLI_ISOLATE_WHEN_H_
#define RHARNESS_HARNESS_CLI_ISOLATE_WHEN_H_

#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/cli/command.h"
#include "harness/drill/drill.h"

namespace rharness {

struct WhenArguments {
  bool when = false;
  std::vector<std::string> replicates;
  std::string steps;
  bool no_rerun = false;
};

// The options under their own heading, and the paragraph that says what they do.
void AddWhenOptions(Command* verb, WhenArguments* arguments);
void AddWhenNotes(Command* verb);

// Errors: invalid_input for options of the search that say nothing here, and the other way round.
Status CheckWhen(const WhenArguments& arguments, const std::string& run, const std::string& against,
                 const DrillOptions& drill, const Command& command);

// Carries it out and prints. Returns the exit code.
int RunWhen(const WhenArguments& arguments, const std::string& run, const std::string& against,
            const DrillOptions& drill, bool json);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_CLI_ISOLATE_WHEN_H_
