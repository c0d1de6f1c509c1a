// rharness properties: what must hold without a recorded result.

#include <memory>
#include <string>

#include "harness/base/stderr_line.h"
#include "harness/cli/document_options.h"
#include "harness/cli/drill_options.h"
#include "harness/cli/history_place.h"
#include "harness/cli/interrupts.h"
#include "harness/cli/outputs.h"
#include "harness/cli/progress_line.h"
#include "harness/cli/verb.h"
#include "harness/experiments/properties/properties.h"

namespace rharness {
namespace {

struct PropertiesArguments {
  PropertiesOptions properties;
  DrillArguments drill;  // history, places, limits, dispatch
};

int FinishProperties(const PropertiesReport& report, const PropertiesArguments& arguments) {
  const auto text = [&] {
    std::string lines = ScreenText(DocumentOf(report));
    if (!report.planned) {
      lines += PlaceLine("report", arguments.drill.drill.out / "properties.html");
    }
    return lines;
  };
  return PrintReport({}, {.verb = "properties",
                          .headline = report.headline,
                          .exit_code = report.exit_code,
                          .as_json = arguments.drill.json,
                          .json = [&] { return ToJson(report); },
                          .text = text});
}

Status CompleteProperties(PropertiesArguments* arguments, Command* command) {
  DrillOptions& drill = arguments->drill.drill;
  arguments->drill.needs_history = false;  // a manifest needs none
  RETURN_IF_ERROR(CompleteDrill(&arguments->drill, command));
  if (drill.distribute) return InvalidInput("is for drills alone", "--distribute");
  for (const char* option : {"RUN", "--declare", "--repeats"}) {
    if (drill.resume && command->Given(option)) {
      return InvalidInput("--resume continues with the drill's own settings", option);
    }
  }
  if (!drill.resume && arguments->properties.runs.empty()) {
    return InvalidInput("expected runs: their manifests, or their ids with --history",
                        "rharness properties");
  }
  arguments->properties.drill = drill;
  return {};
}

int RunProperties(PropertiesArguments* arguments, Command* command) {
  if (const Status status = CompleteProperties(arguments, command); !status.ok()) {
    return FailWith(status.error());
  }
  if (arguments->drill.dry_run) {
    const auto plan = PlanProperties(arguments->properties, &SystemClock());
    return plan.ok() ? FinishProperties(*plan, *arguments) : FailWith(plan.error());
  }
  CountInterrupts();
  auto line = std::make_unique<ProgressLine>(VerbProgress());
  const DrillHooks hooks{.progress = [&](const Progress& progress) { line->Show(progress); },
                         .should_stop = Interrupted};
  const auto report = DrillProperties(arguments->properties, hooks, &SystemClock());
  line.reset();
  return report.ok() ? FinishProperties(*report, *arguments) : FailWith(report.error());
}

void AddClaimOptions(Command* verb, PropertiesArguments* arguments) {
  PropertiesOptions& properties = arguments->properties;
  DrillOptions& drill = arguments->drill.drill;
  verb->Heading("What is claimed");
  verb->Add("RUN", &properties.runs, "Runs: their manifests, or their ids with --history").Path();
  verb->Add("--declare", &properties.declare,
            "JSON with \"properties\" as a manifest has them, in place of the runs' own")
      .File();
  AddHistoryOption(verb, &drill.history,
                   "Store that has the runs, and keeps what became of their properties");
  verb->Heading("How it is judged");
  verb->Add("--repeats", &properties.repeats,
            "Straight runs, and legs of properties that are lost, or open where straight runs "
            "differ among themselves; 4 decide about one metric")
      .Between(2, 10)
      .ShowDefault();
  verb->Add("--resume", &drill.resume,
            "Continue the interrupted drill in --out, with its own settings");
}

void AddPropertiesNotes(Command* verb) {
  verb->Note(
      "Properties are declared in a manifest's \"properties\", or in a file by --declare: repeated "
      "(the run twice), resumed (straight = stopped and gone on, at several steps), accumulated (a "
      "batch = its parts), loader_workers (one = several), processes (one = several), resharded (a "
      "checkpoint = loaded and saved again), evaluated_twice and batch_invariant (an item's answer "
      "= the same alone, in other batches, orders and settings of an engine). Two legs differ in "
      "arguments, a command or variables; the guide has an example of each.");
  verb->Note(
      "A property claims every bit of the declared metrics, curves and checkpoints, unless "
      "\"within\" states margins. Two straight runs are made. Where they are equal, a leg that "
      "differs has lost the property. Where they differ, no leg can be judged by its bits, and the "
      "report says so first: a leg within its stated margins of every straight run holds, and only "
      "an exact permutation test (energy distance; wrong for 0.05 of the properties that hold) "
      "calls a property lost. It needs enough --repeats; the report says how many.");
  verb->Note(
      "batch_invariant is judged item by item, matched by ids: log-probabilities of tokens, or "
      "scores of an evaluation, in files that the record declares as other or items; without any "
      "by the bits of all declared outputs. Margins are \"logprobs\" and \"scores\". The probe "
      "batch_invariance predicts it for products of matrices (`rharness probe run`).");
  verb->Note(
      "With a history, the result of each property is kept. A property that held in the drill "
      "before and is lost now is reported with both dates. `rharness history show RUN` lists "
      "them.");
  verb->Note(
      "A leg exits with 77 where it cannot run here. A stopped leg whose curves reach the end of "
      "the straight run's did not stop, and shows nothing.");
  verb->ExitCode(kExitOk, "all held, or within stated margins; with --dry-run: the plan is shown");
  verb->ExitCode(kExitDrift, "a property is lost");
  verb->ExitCode(kExitUsage, "usage or invalid input");
  verb->ExitCode(kExitInconclusive, "none is lost, and some could not be judged");
  verb->ExitCode(kExitInfrastructure, "none is lost, and a leg failed; or an interrupt");
  verb->ExitCode(kExitIntegrity, "integrity");
  verb->Example("rharness properties run.json --out properties --dry-run");
  verb->Example("rharness properties --history runs.db digits-0007 --declare claims.json");
}

}  // namespace

void AddProperties(Command& root) {
  auto arguments = std::make_shared<PropertiesArguments>();
  arguments->drill.out = "properties";
  arguments->drill.drill.plan.slots.cpus = 0;
  Command& verb = root.AddVerb("properties", "Check invariants that need no recorded result");
  verb.Describe(
      "Reruns each run in two ways that must agree, such as straight, and stopped and resumed; "
      "compares the outputs; and reports for each declared property whether it held, held within "
      "stated margins, was lost, or could not be judged.");
  AddClaimOptions(&verb, arguments.get());
  AddResourceOptions(&verb, &arguments->drill);
  AddPlaceOptions(&verb, &arguments->drill);
  verb.Heading("Output");
  verb.Add("--out", &arguments->drill.out, "Folder of this drill; must not hold a different one")
      .Folder()
      .ShowDefault()
      .Env("RHARNESS_OUT");
  verb.Add("--dry-run", &arguments->drill.dry_run, "Print the legs and their cost; run nothing");
  verb.Add("--json", &arguments->drill.json, "Print rharness.properties/v1 instead of text");
  AddPropertiesNotes(&verb);
  verb.Do([arguments, &verb] { return RunProperties(arguments.get(), &verb); });
}

}  // namespace rharness
