// The policy of a drill: its options, who signed it, and the profile that is taken of it.
#include <fmt/format.h>

#include "harness/base/clock.h"
#include "harness/base/files.h"
#include "harness/cli/drill_options.h"
#include "harness/cli/option_values.h"
#include "harness/cli/trusted_policy.h"

namespace rharness {
namespace {

// A profile sets no options that say which drill this is.
const std::vector<std::string>& NotInProfiles() {
  static const std::vector<std::string> names = {"--policy", "--profile", "--trust",
                                                 "--resume", "--dry-run", "--json"};
  return names;
}

}  // namespace

Status TakeDrillPolicy(DrillArguments* arguments, Command* command) {
  if (arguments->policy.empty()) {
    if (arguments->profile.empty() && arguments->trust.empty()) return {};
    return InvalidInput("goes with --policy FILE",
                        arguments->trust.empty() ? "--profile" : "--trust");
  }
  ASSIGN_OR_RETURN(const Policy policy,
                   LoadTrustedPolicy(arguments->policy, arguments->trust, SystemClock().Now()));
  arguments->drill.substitutes = policy.substitutes;
  arguments->drill.stakes = policy.stakes;
  if (arguments->profile.empty()) return {};
  const std::vector<Profile>& profiles = policy.*(arguments->profiles);
  const Profile* profile = FindProfile(profiles, arguments->profile);
  if (profile == nullptr) {
    std::vector<std::string> names;
    for (const Profile& one : profiles) names.push_back(one.name);
    return NotFound(
        TerminalSafe(fmt::format(
            "no profile '{}'; expected {}", arguments->profile,
            names.empty() ? "profiles in the file" : fmt::format("{}", fmt::join(names, ", ")))),
        arguments->policy);
  }
  return ApplyDrillProfile(*profile, command);
}

Status ApplyDrillProfile(const Profile& profile, Command* command) {
  return ApplyProfile(profile, NotInProfiles(), command);
}

void AddPolicyOptions(Command* command, DrillArguments* arguments) {
  command->Heading("Decisions of the site");
  command
      ->Add("--policy", &arguments->policy,
            "YAML with profiles of options and substitutes for hardware; see `rharness help "
            "policy`")
      .File()
      .NotEmpty()
      .Env("RHARNESS_POLICY");
  command
      ->Add("--trust", &arguments->trust,
            "Trust policy: the file must be signed by everybody whom its substitutes name")
      .File()
      .NotEmpty();
  command
      ->Add("--profile", &arguments->profile,
            "Take the options of this profile of it; those of the command line go first")
      .Value("NAME")
      .NotEmpty();
}

Status CheckDrillProfile(const Profile& profile) {
  DrillArguments arguments;
  Command root("rharness", "");
  Command& verb = DeclareDrill(root, &arguments);
  RETURN_IF_ERROR(ApplyDrillProfile(profile, &verb));
  arguments.drill.history = "any";
  const Status complete = CompleteDrill(&arguments, &verb);
  return complete.ok() ? complete : AtProfile(profile, complete.error());
}

Error AtProfile(const Profile& profile, Error error) {
  error.message =
      fmt::format("profile {}: {}: {}", TerminalSafe(profile.name), error.where, error.message);
  error.where = profile.options.front().where;
  return error;
}

}  // namespace rharness
