// The options of `rharness gameday`.
#include "harness/cli/gameday_options.h"

#include <algorithm>

#include "harness/cli/history_place.h"
#include "harness/experiments/gameday/faults.h"

namespace rharness {
namespace {

void AddFaultOptions(Command* verb, GamedayArguments* arguments) {
  GamedayOptions& gameday = arguments->gameday;
  DrillOptions& drill = arguments->drill.drill;
  verb->Heading("Which runs");
  AddHistoryOption(verb, &drill.history,
                   "Store with the runs, which gets no verdict of a game day");
  verb->Add("--select", &drill.selection, "Runs to plant faults in, as for a drill")
      .Value("EXPRESSION");
  verb->Add("--trials", &gameday.trials, "Runs of each configuration at most")
      .Between(1, 100000)
      .ShowDefault();
  verb->Heading("Planted faults");
  verb->Add("--fault", &gameday.faults, "A fault, beside those that every run gets; repeatable")
      .Value("KIND:WHAT")
      .OneEach();
  verb->Add("--no-default-faults", &gameday.only_given, "Plant none but those of --fault");
  verb->Heading("How it is judged");
  verb->Add("--together", &gameday.together,
            "Runs of a configuration that one drill has, all of them with the fault: a trial")
      .Between(1, 100000)
      .ShowDefault();
  verb->Add("--beside", &gameday.beside,
            "Further runs of a trial's drill, without the fault: of a fault that one run has among "
            "many")
      .Between(0, 100000)
      .ShowDefault();
  verb->Add("--no-confirm", &arguments->drill.no_confirm,
            "As drills that do not rerun a suspected drift once more");
  verb->Add("--width", &arguments->width_percent,
            "Percentage points: a rate is printed where its interval is no wider")
      .Between(1, 100)
      .ShowDefault();
  verb->Add("--resume", &drill.resume,
            "Continue the interrupted game day in --out, with its own settings");
}

}  // namespace

Command& DeclareGameday(Command& root, GamedayArguments* arguments) {
  arguments->drill.out = "gameday";
  arguments->drill.profiles = &Policy::gamedays;
  arguments->drill.drill.plan.slots.cpus = 0;
  Command& verb =
      root.AddVerb("gameday", "Measure detection by fault injection into copies of recorded runs");
  AddFaultOptions(&verb, arguments);
  AddResourceOptions(&verb, &arguments->drill);
  AddPlaceOptions(&verb, &arguments->drill);
  AddPolicyOptions(&verb, &arguments->drill);
  verb.Heading("Output");
  verb.Add("--out", &arguments->drill.out, "Folder of this game day; must not hold a different one")
      .Folder()
      .ShowDefault()
      .Env("RHARNESS_OUT");
  verb.Add("--dry-run", &arguments->drill.dry_run, "Print what would be planted and its cost");
  verb.Add("--json", &arguments->drill.json, "Print rharness.gameday/v1 instead of text");
  return verb;
}

Status CompleteGameday(GamedayArguments* arguments, Command* command) {
  if (arguments->drill.drill.resume && !arguments->drill.profile.empty()) {
    return InvalidInput("--resume goes on with the game day's own settings", "--profile");
  }
  RETURN_IF_ERROR(CompleteDrill(&arguments->drill, command));
  const DrillOptions& drill = arguments->drill.drill;
  if (drill.distribute) return InvalidInput("is for drills alone", "--distribute");
  for (const char* option :
       {"--fault", "--no-default-faults", "--trials", "--together", "--beside", "--width"}) {
    if (drill.resume && command->Given(option)) {
      return InvalidInput("--resume goes on with the game day's own settings", option);
    }
  }
  arguments->gameday.width = arguments->width_percent / 100.0;
  arguments->gameday.drill = drill;
  return {};
}

Status CheckGamedayProfile(const Profile& profile) {
  GamedayArguments arguments;
  Command root("rharness", "");
  Command& verb = DeclareGameday(root, &arguments);
  RETURN_IF_ERROR(ApplyDrillProfile(profile, &verb));
  arguments.drill.drill.history = "any";
  const Status complete = CompleteGameday(&arguments, &verb);
  if (!complete.ok()) return AtProfile(profile, complete.error());
  for (const std::string& text : arguments.gameday.faults) {
    const auto faults = ParseFaults(text);
    if (faults.ok()) continue;
    const auto at = std::ranges::find(profile.options, "fault", &ProfileOption::name);
    Error error = AtProfile(profile, faults.error());
    if (at != profile.options.end()) error.where = at->where;
    return error;
  }
  return {};
}

}  // namespace rharness
