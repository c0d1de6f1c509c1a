// `rharness import --complete`: puts into a manifest what the tool that it was imported from does
// not say.
#ifndef RHARNESS_HARNESS_CLI_COMPLETE_MANIFEST_H_
#define RHARNESS_HARNESS_CLI_COMPLETE_MANIFEST_H_

#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/cli/command.h"
#include "harness/cli/record_options.h"

namespace rharness {

struct CompletionArguments {
  std::string file;           // --complete; empty: an import
  RecordArguments arguments;  // those that record has, too
  std::string out;            // of the verb; empty: in place of `file`
  std::string run_id;
  std::vector<std::string> outputs;
  std::string repository;
  std::string commit;
  std::string working_directory;
  std::string started;
  std::string ended;
  std::string croissant;
  bool here = false;
  std::vector<const Option*> options;  // those that go with --complete alone
};

// --complete and what goes with it.
void AddCompletionOptions(Command* verb, CompletionArguments* arguments);

// Errors: invalid_input for an option that goes with --complete alone.
Status RequireComplete(const CompletionArguments& arguments);

// `determinism`: whether --determinism or --scope was given. Returns the exit code.
Result<int> Complete(const CompletionArguments& arguments, bool determinism);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_CLI_COMPLETE_MANIFEST_H_
