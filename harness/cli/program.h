// What both programs of the command line share: `rharness`, which holds the verbs of a first drill,
// and `rharness-more`, which holds all of them. To a user they are one.
#ifndef RHARNESS_HARNESS_CLI_PROGRAM_H_
#define RHARNESS_HARNESS_CLI_PROGRAM_H_

#include "harness/cli/command.h"
#include "harness/cli/command_line.h"

namespace rharness {

inline constexpr char kMoreProgram[] = "rharness-more";

const ProgramFacts& Program();

// Parses and acts; returns the exit code. `add_verbs` fills the root. What is thrown ends in one
// line.
int RunProgram(void (*add_verbs)(Command& root), int argc, char** argv);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_CLI_PROGRAM_H_
