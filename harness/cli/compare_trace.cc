// Where two runs part: options, and what is printed.
#include "harness/cli/compare_trace.h"

#include "harness/cli/document_options.h"
#include "harness/cli/history_place.h"
#include "harness/cli/interrupts.h"
#include "harness/cli/outputs.h"
#include "harness/cli/verb.h"
#include "harness/experiments/onset/onset_run.h"

namespace rharness {
namespace {

constexpr const char* kOfAComparison[] = {
    "--pairs",        "--ranking",   "--least-tau",    "--rcp",    "--loss-margin",
    "--strip-prefix", "--json-file", "--weights-only", "--expect", "--threads",
    "--html",         "--junit",     "--markdown",     "--bundle"};

// `--history` is left out: its variable may be set for other verbs.
constexpr const char* kOfTraces[] = {"--trace-steps",
                                     "--no-rerun",
                                     "--out",
                                     "--map",
                                     "--data-cache",
                                     "--python-environment",
                                     "--make-environments",
                                     "--environment-cache",
                                     "--env",
                                     "--launcher",
                                     "--rerun-memory",
                                     "--rerun-disk",
                                     "--timeout-factor",
                                     "--timeout-floor",
                                     "--rerun-time"};

}  // namespace

void AddTraceOptions(Command* verb, TraceArguments* arguments) {
  verb->Heading("Where two runs part");
  verb->Add("--trace", &arguments->trace,
            "Name the first step and tensor at which A and B part: each a trace, a folder of "
            "checkpoints, a manifest, or the id of a run of --history");
  verb->Add("--trace-steps", &arguments->steps,
            "Of --trace: the steps that traced reruns write, such as 0-20,every=100")
      .Value("STEPS");
  verb->Add("--no-rerun", &arguments->no_rerun,
            "Of --trace: compare what is kept, and rerun nothing to trace it");
  AddHistoryOption(verb, &arguments->drill.drill.history, "Of --trace: store that has the runs");
  verb->Add("--out", &arguments->drill.out, "Of --trace: folder for onset.html and traced reruns")
      .Folder()
      .ShowDefault();
  verb->Heading("How --trace reruns");
  AddHereOptions(verb, &arguments->drill);
  AddLimitOptions(verb, &arguments->drill);
}

void AddTraceNotes(Command* verb) {
  verb->Note(
      "With --trace the two runs are compared tensor by tensor: by the traces that "
      "rharness_trace.watch (PyTorch) or rharness_trace.tap (JAX) wrote, by kept checkpoints "
      "whose names differ in one number, and by recorded curves. The answer names the first "
      "operator whose output differs although its inputs and weights are equal, and how far "
      "it differs beside what rounding explains. Where both have traces of operators "
      "(RHARNESS_TRACE_OPERATORS=1), the calls are aligned, and the first is named whose output "
      "differs on equal inputs. Each --replicate is a trace of a further run "
      "of A that differs by rounding alone. If both are manifests without a trace, each is "
      "rerun once on this machine with RHARNESS_TRACE set, in A and B below --out; a PyTorch "
      "program needs no change for that. onset.json and onset.html are written there. Exit "
      "code 0: the place is named; 3: it is not.");
  verb->Example("rharness compare --trace run-7/trace run-8/trace");
  verb->Example(
      "rharness compare --trace runs/mlp-7.json runs/mlp-8.json --trace-steps 0-20 --out where");
}

Status CheckTrace(const TraceArguments& arguments, const Command& command) {
  if (!arguments.trace) {
    for (const char* option : kOfTraces) {
      if (command.Given(option))
        return InvalidInput("goes with --trace, which is not given", option);
    }
    return {};
  }
  for (const char* option : kOfAComparison) {
    if (command.Given(option)) return InvalidInput("says nothing beside --trace", option);
  }
  if (!command.Given("A") || !command.Given("B")) {
    return InvalidInput("expected two runs: --trace A B", "rharness compare");
  }
  return {};
}

int RunTrace(const TraceSides& sides, TraceArguments* arguments, Command* command) {
  DrillArguments& reruns = arguments->drill;
  reruns.root = sides.root;
  reruns.needs_history = false;  // files need none
  if (const Status status = CompleteDrill(&reruns, command); !status.ok()) {
    return FailWith(status.error());
  }
  CountInterrupts();
  const OnsetOptions options{.drill = reruns.drill,
                             .run = sides.a,
                             .against = sides.b,
                             .replicates = sides.replicates,
                             .steps = arguments->steps,
                             .no_rerun = arguments->no_rerun};
  const auto report = FindWhere(options, Interrupted, &SystemClock());
  if (!report.ok()) return FailWith(report.error());
  const auto text = [&] {
    std::string lines = ScreenText(DocumentOf(*report));
    lines += PlaceLine("report", reruns.drill.out / "onset.html");
    return lines;
  };
  return PrintReport({}, {.verb = "compare",
                          .headline = report->headline,
                          .exit_code = report->exit_code,
                          .as_json = sides.json,
                          .json = [&] { return ToJson(*report); },
                          .text = text});
}

}  // namespace rharness
