// Where the history is that `--history` names: a folder stands for the one of its manifests or of
// its drill.
#ifndef RHARNESS_HARNESS_CLI_HISTORY_PLACE_H_
#define RHARNESS_HARNESS_CLI_HISTORY_PLACE_H_

#include <string>

#include "harness/base/result.h"
#include "harness/cli/command.h"

namespace rharness {

// Declares it, for a verb that calls HistoryAt. `what`: "Store with the runs".
Option& AddHistoryOption(Command* verb, std::string* url, const std::string& what);

// What is no folder is returned as it is, an empty text, too. The folder of a drill stands for the
// history that the drill was begun with. Any other one stands for the store runs.db in it, which is
// made of the manifests below the folder and gets those that are new each time. Errors: not_found
// where it has none of these; those of AddNewManifests.
Result<std::string> HistoryAt(const std::string& given);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_CLI_HISTORY_PLACE_H_
