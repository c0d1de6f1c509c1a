// `rharness report --to`: a drill's verdicts, written back to where its runs came from.
#ifndef RHARNESS_HARNESS_CLI_REPORT_TO_H_
#define RHARNESS_HARNESS_CLI_REPORT_TO_H_

#include <string>

#include "harness/base/result.h"
#include "harness/cli/command.h"
#include "harness/insight/publish/mlflow_writer.h"

namespace rharness {

struct ReportToArguments {
  std::string to;  // TARGET=URL; empty: nothing is written back
  std::string history;
  PublishOptions options;
};

// The options under their own heading, and the paragraphs that say what they do.
void AddToOptions(Command* verb, ReportToArguments* arguments);
void AddToNotes(Command* verb);

// Errors: invalid_input for an unknown target, for options that render beside --to, and for options
// of --to without it.
Status CheckTo(const ReportToArguments& arguments, const Command& command);

// Writes the verdicts of the drill `source`, and prints a line a run; `json`: the
// outcome as JSON instead; `json_file` gets that, too, - is stdout. Returns the exit code. Errors:
// not_found for a drill without runs of that server; those of the drill, its history and the
// server.
Result<int> WriteBack(const std::string& source, bool json, const std::string& json_file,
                      ReportToArguments arguments);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_CLI_REPORT_TO_H_
