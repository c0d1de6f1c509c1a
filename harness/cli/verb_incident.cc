// rharness incident: the last good run, whether the way back to it is proven, and what changed.

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
#include "harness/insight/incident/incident.h"

namespace rharness {
namespace {

struct IncidentArguments {
  IncidentOptions incident;
  DrillArguments drill;  // places, limits, dispatch
  std::string artifacts;
  std::string signatures;
  std::string trust;
  std::string policy;
  bool no_rerun = false;
};

int FinishIncident(const IncidentReport& report, const IncidentArguments& arguments) {
  const auto text = [&] {
    std::string lines = ScreenText(DocumentOf(report));
    if (!report.planned && !report.interrupted) {
      lines += PlaceLine("bundle", arguments.incident.out / "index.html");
    }
    return lines;
  };
  return PrintReport({}, {.verb = "incident",
                          .headline = report.headline,
                          .exit_code = report.exit_code,
                          .as_json = arguments.drill.json,
                          .json = [&] { return ToJson(report); },
                          .text = text});
}

Status CompleteIncident(IncidentArguments* arguments, Command* command) {
  IncidentOptions& incident = arguments->incident;
  if (arguments->drill.drill.distribute) return InvalidInput("is for drills alone", "--distribute");
  if (incident.run.empty() && !incident.resume) {
    return InvalidInput("expected the id of a run of the history", "rharness incident");
  }
  if (incident.resume && (arguments->drill.dry_run || !incident.good.empty())) {
    return InvalidInput(
        "--resume continues with the incident's own run; it takes no --good or --dry-run",
        "rharness incident");
  }
  // The rollback drill goes on by itself; what is resumed here is the incident, which has all that
  // it was begun with.
  arguments->drill.drill.resume = incident.resume;
  RETURN_IF_ERROR(CompleteDrill(&arguments->drill, command));
  arguments->drill.drill.resume = false;
  incident.drill = arguments->drill.drill;
  incident.out = arguments->drill.out;
  incident.policy = arguments->policy;
  incident.rerun = !arguments->no_rerun;
  incident.files.artifacts = arguments->artifacts;
  incident.files.signatures = arguments->signatures;
  incident.files.trust = arguments->trust;
  return {};
}

int RunIncidentVerb(IncidentArguments* arguments, Command* command) {
  if (const Status status = CompleteIncident(arguments, command); !status.ok()) {
    return FailWith(status.error());
  }
  if (arguments->drill.dry_run) {
    const auto plan = PlanIncident(arguments->incident, &SystemClock());
    return plan.ok() ? FinishIncident(*plan, *arguments) : FailWith(plan.error());
  }
  CountInterrupts();
  auto line = std::make_unique<ProgressLine>(VerbProgress());
  const DrillHooks hooks{.progress = [&](const Progress& progress) { line->Show(progress); },
                         .should_stop = Interrupted};
  const auto report = RunIncident(arguments->incident, hooks, &SystemClock());
  line.reset();
  return report.ok() ? FinishIncident(*report, *arguments) : FailWith(report.error());
}

void AddFindOptions(Command* verb, IncidentArguments* arguments) {
  IncidentOptions& incident = arguments->incident;
  verb->Heading("The run, and the run to go back to");
  verb->Add("RUN", &incident.run, "Id of the run that went bad");
  AddHistoryOption(verb, &arguments->drill.drill.history, "Store with the runs and their verdicts");
  verb->Add("--good", &incident.good,
            "Go back to this run of the family, in place of the newest that was recorded before "
            "RUN and still reproduces")
      .Value("RUN")
      .NotEmpty();
  verb->Add("--artifacts", &arguments->artifacts,
            "Its files lie here, by their paths in the run (default: where its record says)")
      .Folder()
      .NotEmpty();
  verb->Add("--trust", &arguments->trust,
            "Trust policy (`rharness verify --help`): signed statements and bundles of Model "
            "Signing beside the files are checked against it, the record and the history")
      .File()
      .NotEmpty();
  verb->Add("--signatures", &arguments->signatures,
            "A further folder of such statements, as `rharness sign` makes")
      .Folder()
      .NotEmpty();
  verb->Add("--policy", &arguments->policy, "YAML whose objectives name the owner of the family")
      .File()
      .Env("RHARNESS_POLICY")
      .NotEmpty();
  verb->Heading("The rollback drill");
  verb->Add("--no-rerun", &arguments->no_rerun,
            "Rerun nothing; whether the last good run reproduces is then not shown");
  verb->Add("--reruns", &arguments->drill.drill.plan.reruns, "Reruns of the run to go back to")
      .Between(1, 1000)
      .ShowDefault();
  verb->Add("--resume", &incident.resume, "Continue the interrupted incident in --out");
}

void AddIncidentNotes(Command* verb) {
  verb->Note(
      "The last good run is the newest run of the family that is not retired, was recorded before "
      "RUN, and whose last conclusive verdict is identical or equivalent. Its checkpoints are "
      "checked against the SHA-256 of its record, and against what was signed beside them. Where "
      "one is changed, missing or unreadable, the next older good run is used, and the report says "
      "so. Then it is rerun and judged as by `rharness drill`. --root is the folder of the data "
      "and code that its record names by relative paths; without them it cannot be rerun.");
  verb->Note(
      "Conclusive verdicts are identical, equivalent, drifted and failed: inconclusive, not "
      "comparable and infra do not change whether a run is good. Where no checkpoint of a good run "
      "is found, nothing is rerun, since a wrong folder proves nothing about a run.");
  verb->Note(
      "--resume continues an interrupted incident with the settings of its start. A different "
      "--history, --root, --map, --artifacts, --trust, --signatures or --policy is refused, and so "
      "is a run to go back to that was retired meanwhile. --resume trusts --out.work, so a folder "
      "that somebody else owns or may write to is refused.");
  verb->Note(
      "The folder --out appears when all is done: index.html (what drifted, since when, what "
      "changed, which run is the last good one and whether it reproduces today, what to do; each "
      "fact with its source), the same as junit.xml, summary.md and incident.json, the manifests "
      "of both runs, their comparison, the "
      "report of the rollback drill, the histories of both and of the family, the runbook's pages "
      "of what was found, and SHA256SUMS. The rollback drill works in --out.work, which keeps what "
      "the rerun "
      "wrote; it may be removed.");
  verb->Note(
      "The history keeps the rollback's verdict as that of any drill, and as the property rollback "
      "of the run (`rharness history show RUN`): held, held within its margins, lost or not "
      "judged, which "
      "`rharness "
      "slo` counts.");
  verb->ExitCode(kExitOk,
                 "a rerun showed that the last good run reproduces; with --dry-run: there is one");
  verb->ExitCode(kExitDrift, "its rerun drifted");
  verb->ExitCode(kExitUsage, "usage or invalid input");
  verb->ExitCode(kExitInconclusive, "there is no good run, or nothing was shown (--no-rerun)");
  verb->ExitCode(kExitInfrastructure, "the rerun failed or could not be started, or an interrupt");
  verb->ExitCode(kExitIntegrity,
                 "a checkpoint or a record is not what it was, or a signature is refused");
  verb->Example("rharness incident mlp-7 --history runs.db --out incident --dry-run");
  verb->Example(
      "rharness incident mlp-7 --history runs.db --policy policy.yaml --trust trust.yaml --out "
      "incident");
  verb->Example("rharness incident --resume --history runs.db --out incident");
}

}  // namespace

void AddIncident(Command& root) {
  auto arguments = std::make_shared<IncidentArguments>();
  arguments->drill.out = "incident";
  arguments->drill.drill.plan.slots.cpus = 0;
  Command& verb =
      root.AddVerb("incident", "Find the last good run, rerun it, and write the postmortem");
  verb.Describe(
      "For a run that went bad: finds the last good run of its family, verifies its files, reruns "
      "it (the rollback drill), compares the two, and writes the postmortem with its evidence into "
      "one folder.");
  AddFindOptions(&verb, arguments.get());
  AddResourceOptions(&verb, &arguments->drill);
  AddPlaceOptions(&verb, &arguments->drill);
  verb.Heading("Output");
  verb.Add("--out", &arguments->drill.out, "Folder of this bundle; new or empty")
      .Folder()
      .ShowDefault()
      .Env("RHARNESS_OUT");
  verb.Add("--dry-run", &arguments->drill.dry_run,
           "Print which run would be rerun and its cost; write nothing");
  verb.Add("--json", &arguments->drill.json, "Print rharness.incident/v1 instead of text");
  AddIncidentNotes(&verb);
  verb.Do([arguments, &verb] { return RunIncidentVerb(arguments.get(), &verb); });
}

}  // namespace rharness
