// Completion of the declared commands in bash, zsh and fish. Pure.
#ifndef RHARNESS_HARNESS_CLI_COMPLETION_H_
#define RHARNESS_HARNESS_CLI_COMPLETION_H_

#include <string>
#include <vector>

#include "harness/cli/command.h"

namespace rharness {

// Each is a file that its shell reads; `everywhere` are options of the whole program that are not
// declared: --help, --version, --config.
std::string BashCompletion(const Command& root, const std::vector<OptionFacts>& everywhere);
std::string ZshCompletion(const Command& root, const std::vector<OptionFacts>& everywhere);
std::string FishCompletion(const Command& root, const std::vector<OptionFacts>& everywhere);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_CLI_COMPLETION_H_
