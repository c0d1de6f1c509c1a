// `rharness check --available`: can runs still be rerun? What of them can be had, asked before it
// is needed.
#ifndef RHARNESS_HARNESS_CLI_CHECK_AVAILABLE_H_
#define RHARNESS_HARNESS_CLI_CHECK_AVAILABLE_H_

#include <functional>
#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/cli/command.h"
#include "harness/execution/rebuild/rebuild.h"

namespace rharness {

struct AvailableArguments {
  bool asked = false;  // --available
  std::vector<std::string> maps;
  std::string cache;
  bool network = false;
  bool packages = false;
  bool verify = false;
  double limit_seconds = 20.0;
};

void AddAvailableOptions(Command* verb, AvailableArguments* arguments);

// Errors: invalid_input for what goes with --available where that is missing, or for a map that is
// none.
Result<RebuildOptions> RebuildOptionsOf(const AvailableArguments& arguments,
                                        const std::string& root,
                                        std::function<bool()> should_cancel);

// A line for each part that is gone or not known; with `had` for the others, too.
std::string LinesOf(const std::string& place, const RunParts& run, bool had);
// "1 had, 2 gone"; empty without runs.
std::string CountsOf(const std::vector<RunParts>& runs);
// Of the worst.
int ExitCodeOfParts(const std::vector<RunParts>& runs);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_CLI_CHECK_AVAILABLE_H_
