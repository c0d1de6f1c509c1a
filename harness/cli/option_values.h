// Values of options from elsewhere than the command line: from a profile of a policy file.
//
// Role: what the parser does with a word, for a table of names and values that was read already.
#ifndef RHARNESS_HARNESS_CLI_OPTION_VALUES_H_
#define RHARNESS_HARNESS_CLI_OPTION_VALUES_H_

#include "harness/base/result.h"
#include "harness/cli/command.h"
#include "harness/records/policy/policy.h"

namespace rharness {

// Puts the profile's values where the command's options have theirs, but not in place of what was
// given already, and counts them as given. A flag takes true or false. Errors: invalid_input, with
// the place in the file, for a name that is no option here (and the nearest), one of `barred`, a
// value that the option would refuse, and several of one that takes one.
Status ApplyProfile(const Profile& profile, const std::vector<std::string>& barred,
                    Command* command);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_CLI_OPTION_VALUES_H_
