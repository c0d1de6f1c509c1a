// The options of `rharness drill`: what they are called, what they mean together.
//
// Role: declared here once for the verb itself and for profiles of a policy, which set them, too.
#ifndef RHARNESS_HARNESS_CLI_DRILL_OPTIONS_H_
#define RHARNESS_HARNESS_CLI_DRILL_OPTIONS_H_

#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/cli/command.h"
#include "harness/cli/drill_audit.h"
#include "harness/drill/drill.h"
#include "harness/records/policy/policy.h"

namespace rharness {

struct DrillArguments {
  std::string runs;  // a folder of manifests, in place of --history
  DrillOptions drill;
  std::string out = "drill";
  std::string root = ".";
  std::vector<std::string> maps;
  std::string data_cache;
  std::string python_environment;
  bool make_environments = false;
  std::string environment_cache;
  std::vector<std::string> environment;
  std::string policy;
  std::string trust;
  std::string profile;
  std::vector<Profile> Policy::*profiles = &Policy::profiles;  // those of the verb
  std::vector<std::string> quiet_hours;
  std::vector<std::string> certificates;
  std::string ports;
  DrillAudit audit;
  double budget_hours = 0.0;
  bool needs_history = true;  // unless --resume names its own
  bool no_confirm = false;
  bool dry_run = false;
  bool json = false;
};

// What every verb that reruns takes: what reruns share and are limited to, where and how they are
// carried out. Fill `arguments`.
void AddResourceOptions(Command* command, DrillArguments* arguments);
void AddPlaceOptions(Command* command, DrillArguments* arguments);
// Of these, what one rerun on this machine needs; both under the heading that is given there.
void AddHereOptions(Command* command, DrillArguments* arguments);
void AddLimitOptions(Command* command, DrillArguments* arguments);

// A policy, and the name of one of its profiles for this verb.
void AddPolicyOptions(Command* command, DrillArguments* arguments);
// What the policy says of drills, into `arguments`, held to its signers where a trust policy is
// given. Errors: invalid_input (a profile or a trust policy without a policy), those of
// LoadTrustedPolicy and ApplyDrillProfile, not_found (no such profile).
Status TakeDrillPolicy(DrillArguments* arguments, Command* command);

// Adds the verb with its options, which fill `arguments`, and no action yet.
Command& DeclareDrill(Command& root, DrillArguments* arguments);

// Makes of what was given what a drill takes: the profile's options, then defaults that depend on
// others. Errors: invalid_input, which names the option, for what does not go together.
Status CompleteDrill(DrillArguments* arguments, Command* command);

// Takes the options of a profile for a verb of drills, none of those that say which drill it is.
// Errors: invalid_input with the place in the file.
Status ApplyDrillProfile(const Profile& profile, Command* command);

// Whether `rharness drill` can take this profile. Errors: invalid_input with its place in the file.
Status CheckDrillProfile(const Profile& profile);
// What a verb finds wrong with the options of a profile together, told with their place.
Error AtProfile(const Profile& profile, Error error);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_CLI_DRILL_OPTIONS_H_
