// Where two runs part: options, and what is printed.
#include "harness/cli/isolate_when.h"

#include <unistd.h>

#include "harness/cli/interrupts.h"
#include "harness/cli/outputs.h"
#include "harness/cli/progress_line.h"
#include "harness/cli/verb.h"
#include "harness/experiments/onset/onset_run.h"

namespace rharness {

void AddWhenOptions(Command* verb, WhenArguments* arguments) {
  verb->Heading("First divergence");
  verb->Add("--when", &arguments->when,
            "Find the first divergence of RUN and --against, not its cause: each a trace, a folder "
            "of checkpoints, or an input of compare");
  verb->Add("--replicate", &arguments->replicates,
            "With --when: a trace of a further run of RUN that differs by rounding alone; "
            "repeatable")
      .Path()
      .OneEach();
  verb->Add("--trace-steps", &arguments->steps,
            "With --when: the steps that traced reruns write, such as 0-20,every=100")
      .Value("STEPS");
  verb->Add("--no-rerun", &arguments->no_rerun,
            "With --when: compare kept files, and rerun nothing to trace it");
}

void AddWhenNotes(Command* verb) {
  verb->Note(
      "With --when the two runs are compared tensor by tensor: by the traces that "
      "rharness_trace.watch (PyTorch) or rharness_trace.tap (JAX) wrote, by kept checkpoints whose "
      "names differ in one number, and by recorded curves. The first operator whose output differs "
      "on equal inputs and weights is named, with its distance and that of rounding alone. Where "
      "both are manifests without a trace, each is rerun once on this machine with RHARNESS_TRACE "
      "set, in A and B below --out; a PyTorch program needs no change for that. onset.json and "
      "onset.html are written there.");
  verb->Example("rharness isolate --when run-7/trace --against run-8/trace");
  verb->Example(
      "rharness isolate --when runs/mlp-7.json --against runs/mlp-8.json --trace-steps 0-20 --out "
      "where");
}

Status CheckWhen(const WhenArguments& arguments, const std::string& run, const std::string& against,
                 const DrillOptions& drill, const Command& command) {
  if (!arguments.when) {
    for (const char* option : {"--replicate", "--trace-steps", "--no-rerun"}) {
      if (command.Given(option)) return InvalidInput("is for --when alone", option);
    }
    return {};
  }
  for (const char* option : {"--axis", "--bits", "--budget-reruns", "--confidence", "--parallel",
                             "--alternatives", "--end-reruns", "--resume", "--dry-run"}) {
    if (command.Given(option)) return InvalidInput("has no meaning beside --when", option);
  }
  if (run.empty() || against.empty()) {
    return InvalidInput("expected two sides: --when RUN --against OTHER", "rharness isolate");
  }
  if (drill.dispatch != "local" && !arguments.no_rerun) {
    return InvalidInput("--when reruns on this machine alone; expected local, or --no-rerun",
                        "--dispatch");
  }
  return {};
}

int RunWhen(const WhenArguments& arguments, const std::string& run, const std::string& against,
            const DrillOptions& drill, bool json) {
  CountInterrupts();
  const OnsetOptions options{.drill = drill,
                             .run = run,
                             .against = against,
                             .replicates = arguments.replicates,
                             .steps = arguments.steps,
                             .no_rerun = arguments.no_rerun};
  const auto report = FindWhere(options, Interrupted, &SystemClock());
  if (!report.ok()) return FailWith(report.error());
  const auto text = [&] {
    std::string lines =
        WriteTerminal(DocumentOf(*report), TerminalColumns(STDOUT_FILENO), ColorOn(STDOUT_FILENO));
    lines += PlaceLine("report", drill.out / "onset.html");
    return lines;
  };
  return PrintReport({}, {.verb = "isolate",
                          .headline = report->headline,
                          .exit_code = report->exit_code,
                          .as_json = json,
                          .json = [&] { return ToJson(*report); },
                          .text = text});
}

}  // namespace rharness
