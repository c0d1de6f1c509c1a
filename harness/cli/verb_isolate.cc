// rharness isolate: which of the things that changed make a run drift.

#include <memory>
#include <string>

#include "harness/base/stderr_line.h"
#include "harness/cli/document_options.h"
#include "harness/cli/drill_options.h"
#include "harness/cli/history_place.h"
#include "harness/cli/interrupts.h"
#include "harness/cli/outputs.h"
#include "harness/cli/progress_line.h"
#include "harness/cli/record_options.h"
#include "harness/cli/verb.h"
#include "harness/experiments/isolate/isolate.h"

namespace rharness {
namespace {

struct IsolateArguments {
  IsolateOptions isolate;
  DrillArguments drill;  // places, limits, dispatch
  double confidence_percent = 95.0;
};

int FinishIsolate(const IsolationReport& report, const IsolateArguments& arguments) {
  const auto text = [&] {
    std::string lines = ScreenText(DocumentOf(report));
    if (!report.planned) {
      lines += PlaceLine("report", arguments.drill.drill.out / "isolation.html");
    }
    return lines;
  };
  return PrintReport({}, {.verb = "isolate",
                          .headline = report.headline,
                          .exit_code = report.exit_code,
                          .as_json = arguments.drill.json,
                          .json = [&] { return ToJson(report); },
                          .text = text});
}

Status CompleteIsolate(IsolateArguments* arguments, Command* command) {
  DrillOptions& drill = arguments->drill.drill;
  arguments->drill.needs_history = false;  // a manifest needs none
  RETURN_IF_ERROR(CompleteDrill(&arguments->drill, command));
  if (drill.distribute) return InvalidInput("is for drills alone", "--distribute");
  IsolateOptions& isolate = arguments->isolate;
  if (drill.resume) {
    for (const char* option : {"RUN", "--against", "--axis", "--confidence", "--parallel",
                               "--alternatives", "--end-reruns", "--bits", "--dry-run"}) {
      if (command->Given(option)) {
        return InvalidInput("--resume goes on with the search's own settings", option);
      }
    }
  } else if (isolate.run.empty()) {
    return InvalidInput("expected a run: its manifest, or its id with --history",
                        "rharness isolate");
  }
  if (arguments->drill.budget_hours > 0) {
    return InvalidInput("say how many reruns: --budget-reruns", "--budget");
  }
  isolate.rules.confidence = arguments->confidence_percent / 100.0;
  isolate.parse_image = ParseImage;
  isolate.drill = drill;
  return {};
}

int RunIsolate(IsolateArguments* arguments, Command* command) {
  if (const Status status = CompleteIsolate(arguments, command); !status.ok()) {
    return FailWith(status.error());
  }
  if (arguments->drill.dry_run) {
    const auto plan = PlanIsolation(arguments->isolate, &SystemClock());
    return plan.ok() ? FinishIsolate(*plan, *arguments) : FailWith(plan.error());
  }
  CountInterrupts();
  auto line = std::make_unique<ProgressLine>(VerbProgress());
  const DrillHooks hooks{.progress = [&](const Progress& progress) { line->Show(progress); },
                         .should_stop = Interrupted};
  const auto report = Isolate(arguments->isolate, hooks, &SystemClock());
  line.reset();
  return report.ok() ? FinishIsolate(*report, *arguments) : FailWith(report.error());
}

void AddSearchOptions(Command* verb, IsolateArguments* arguments) {
  IsolateOptions& isolate = arguments->isolate;
  verb->Heading("What changed");
  verb->Add("RUN", &isolate.run, "The run that drifts: its manifest, or its id with --history")
      .Path();
  verb->Add(
          "--against", &isolate.against,
          "How it is now: a manifest, evidence of a rerun, the folder of a drill that has one, or "
          "with --history the id of such a drill")
      .Path();
  verb->Add("--axis", &isolate.axes,
            "A change, in place of the one that was found between the two or beside it; repeatable")
      .Value("KIND:NAME=VALUE")
      .OneEach();
  AddHistoryOption(verb, &arguments->drill.drill.history,
                   "Store that has the run, and the runs of its family");
  verb->Add("--bits", &isolate.bits,
            "Every bit counts, also of a run that is not declared bitwise");
  verb->Heading("The search");
  verb->Add("--budget-reruns", &isolate.rules.budget, "Reruns at most; 0: no limit")
      .Between(0, 1000000)
      .ShowDefault();
  verb->Add("--confidence", &arguments->confidence_percent,
            "Per cent: one hundred minus the chance that a wrong cause is named, over the whole "
            "search")
      .Between(50, 99.99)
      .ShowDefault();
  verb->Add("--parallel", &isolate.rules.width,
            "Settings that are tried at a time: more of them end sooner, and cost more reruns")
      .Between(1, 1000)
      .ShowDefault();
  verb->Add("--alternatives", &isolate.rules.alternatives,
            "Look for so many further causes that are each enough by themselves")
      .Between(0, 100)
      .ShowDefault();
  verb->Add("--end-reruns", &isolate.end_reruns,
            "Of a run that is not declared bitwise: reruns of each end, changed and not, that show "
            "how much they differ among themselves")
      .Between(2, 1000)
      .ShowDefault();
  verb->Add("--resume", &arguments->drill.drill.resume,
            "Continue the search in --out, with its own settings; a larger --budget-reruns is "
            "accepted");
}

void AddIsolateNotes(Command* verb) {
  verb->Note(
      "Axes: env:NAME=VALUE, env:NAME (unset), argument:NAME=VALUE, hyperparameter:NAME=VALUE "
      "and seed:NAME=VALUE (as the command passes them), commit:COMMIT or commit:GOOD..BAD, "
      "data:NAME=SHA256@LOCATION, image:REFERENCE@sha256:DIGEST, python:FOLDER (an "
      "environment), cpus:NUMBER, node:NAME (of Slurm; of a run over several nodes NAME,NAME). "
      "Behind one of the first four ' on rank N' or ' on node N' sets it there alone. Several "
      "values between commas are a "
      "chain: the search finds its first bad value. git lists the commits between two. "
      "Variables and seeds have one value, and so has an argument whose recorded value has a "
      "comma.");
  verb->Note(
      "Differences that cannot be set here, such as a driver, the host's packages or an "
      "undeclared file, are listed and not judged. Between two runs of a family, seeds are "
      "left out: a different seed makes a different run, not drift. A rerun that fails in "
      "another way, or shows a different difference, is no evidence; the report lists it as "
      "another failure.");
  verb->Note(
      "The folder --out gets isolation.html, isolation.json and the evidence of every rerun. "
      "A run that is declared bitwise takes one rerun a step. For other runs both ends are "
      "rerun first; where their reruns differ among themselves, steps are repeated until the "
      "cause is as certain as --confidence requires.");
  verb->ExitCode(kExitOk, "a cause is named; with --dry-run: the plan is shown");
  verb->ExitCode(kExitUsage, "usage or invalid input");
  verb->ExitCode(
      kExitInconclusive,
      "no cause is named; the report says what is missing, or what differs and cannot be set");
  verb->ExitCode(kExitInfrastructure, "it could not be done, or an interrupt");
  verb->ExitCode(kExitIntegrity, "integrity");
  verb->Example("rharness isolate mlp-7 --history runs.db --against tonight --out why --dry-run");
  verb->Example("rharness isolate runs/mlp-7.json --against runs/mlp-8.json --out why");
  verb->Example(
      "rharness isolate runs/mlp-7.json --axis env:OMP_NUM_THREADS=8 --axis "
      "commit:$(git rev-parse v1.4)..$(git rev-parse HEAD) --out why");
  verb->Example("rharness isolate --resume --out why --budget-reruns 60");
}

}  // namespace

void AddIsolate(Command& root) {
  auto arguments = std::make_shared<IsolateArguments>();
  arguments->drill.out = "isolate";
  arguments->drill.drill.plan.slots.cpus = 0;
  Command& verb = root.AddVerb("isolate", "Find the root cause of a drift among what changed");
  verb.Describe(
      "Searches what changed between a recorded run and one that drifted for the smallest set of "
      "changes that makes it drift: some are set as they drifted, the run is rerun, and the answer "
      "says which are tried next. It names the cause, the reruns that show it, and the fewest "
      "settings to take back.");
  AddSearchOptions(&verb, arguments.get());
  AddResourceOptions(&verb, &arguments->drill);
  AddPlaceOptions(&verb, &arguments->drill);
  verb.Heading("Output");
  verb.Add("--out", &arguments->drill.out, "Folder of this search; must not hold a different one")
      .Folder()
      .ShowDefault()
      .Env("RHARNESS_OUT");
  verb.Add("--dry-run", &arguments->drill.dry_run, "Print what would be tried and its cost");
  verb.Add("--json", &arguments->drill.json, "Print rharness.isolation/v1 instead of text");
  AddIsolateNotes(&verb);
  verb.Do([arguments, &verb] { return RunIsolate(arguments.get(), &verb); });
}

}  // namespace rharness
