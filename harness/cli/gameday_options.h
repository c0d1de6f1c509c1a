// The options of `rharness gameday`: what they are called, what they mean together.
//
// Role: declared here once for the verb itself and for the game days of a policy, which set them,
// too.
#ifndef RHARNESS_HARNESS_CLI_GAMEDAY_OPTIONS_H_
#define RHARNESS_HARNESS_CLI_GAMEDAY_OPTIONS_H_

#include "harness/base/result.h"
#include "harness/cli/command.h"
#include "harness/cli/drill_options.h"
#include "harness/experiments/gameday/gameday.h"
#include "harness/records/policy/policy.h"

namespace rharness {

struct GamedayArguments {
  GamedayOptions gameday;
  DrillArguments drill;  // history, places, limits, dispatch
  double width_percent = 30.0;
};

// Adds the verb with its options, which fill `arguments`, and no action yet.
Command& DeclareGameday(Command& root, GamedayArguments* arguments);

// Makes of what was given what a game day takes. Errors: those of CompleteDrill; invalid_input for
// what does not go together.
Status CompleteGameday(GamedayArguments* arguments, Command* command);

// Whether `rharness gameday` can take this game day of a policy, its faults included. Errors:
// invalid_input with its place in the file.
Status CheckGamedayProfile(const Profile& profile);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_CLI_GAMEDAY_OPTIONS_H_
