// rharness gameday: would the harness have noticed at all?

#include <memory>
#include <string>

#include "harness/base/stderr_line.h"
#include "harness/cli/document_options.h"
#include "harness/cli/gameday_options.h"
#include "harness/cli/interrupts.h"
#include "harness/cli/outputs.h"
#include "harness/cli/progress_line.h"
#include "harness/cli/retired_runs.h"
#include "harness/cli/verb.h"

namespace rharness {
namespace {

int FinishGameday(const GamedayReport& report, const GamedayArguments& arguments) {
  const auto text = [&] {
    std::string lines = ScreenText(DocumentOf(report));
    if (report.planned) return lines;
    const std::filesystem::path& out = arguments.drill.drill.out;
    if (report.certified) lines += PlaceLine("certificate", out / kCertificateFile);
    lines += PlaceLine("report", out / "gameday.html");
    return lines;
  };
  return PrintReport({}, {.verb = "gameday",
                          .headline = report.headline,
                          .exit_code = report.exit_code,
                          .as_json = arguments.drill.json,
                          .json = [&] { return ToJson(report); },
                          .text = text});
}

int RunGameday(GamedayArguments* arguments, Command* command) {
  if (const Status status = CompleteGameday(arguments, command); !status.ok()) {
    return FailWith(status.error());
  }
  bool doubtful = false;
  arguments->gameday.drill.retirement_doubts = HoldRetirements(&doubtful);
  if (arguments->drill.dry_run) {
    const auto plan = PlanGameday(arguments->gameday, &SystemClock());
    return plan.ok() ? FinishGameday(*plan, *arguments) : FailWith(plan.error());
  }
  CountInterrupts();
  auto line = std::make_unique<ProgressLine>(VerbProgress());
  const DrillHooks hooks{.progress = [&](const Progress& progress) { line->Show(progress); },
                         .should_stop = Interrupted};
  const auto report = HoldGameday(arguments->gameday, hooks, &SystemClock());
  line.reset();
  if (!report.ok()) return FailWith(report.error());
  const int code = FinishGameday(*report, *arguments);
  return code == kExitOk && doubtful ? kExitIntegrity : code;
}

void AddGamedayNotes(Command* verb) {
  verb->Note(
      "Faults: seed:lost (the command gets another seed, and no record says so); "
      "hyperparameter:NAME*FACTOR[,FACTOR...] as the command passes it, or with @--option behind, "
      "which is appended; argument:NAME=VALUE; env:NAME=VALUE, such as a library's kernel; "
      "data:NAME=row (one row is a copy of another), row-unseen and order-unseen (as if no hash "
      "recorded it); tensor:bit, tensor:zero and tensor:bf16, in the checkpoint that a rerun left; "
      "metric:NAME+2sd (worse by so many standard deviations of the other runs); "
      "curve:NAME*FACTOR. Of a run of several tasks, those before tensor: may end in ' on rank N', "
      "for that task alone.");
  verb->Note(
      "Without --fault every run gets a lost seed, its first data item, its rates of learning at "
      "0.1, 1, 5 and 10 % less, its checkpoint, OpenBLAS's kernel, its primary metrics and its "
      "losses, as far as its record has them. What cannot be planted is named with the reason.");
  verb->Note(
      "Found is what a drill would call drifted or not comparable; an inconclusive verdict is "
      "neither found nor passed. No fault is planted in a run that does not reproduce unchanged "
      "here, and a run that fails with a fault is no trial of it. Intervals are Clopper and "
      "Pearson's at 95 %; a run is one trial of a fault.");
  verb->Note(
      "The folder --out gets gameday.html, gameday.json, the evidence of every rerun and "
      "certificate.json, which `rharness drill --certificate` shows beside equivalent runs.");
  verb->Note(
      "A site lists its faults in its policy, under gamedays, with the other options of a game day "
      "(rharness policy --help): --policy FILE --profile NAME uses them. scenarios/ci has a timer "
      "for a weekly game day.");
  verb->Note(
      "Retired runs are left out. Where a retirement is not as it was signed a warning says so, "
      "nobody is named, and the exit code of an otherwise good game day is 5.");
  verb->ExitCode(kExitOk, "there is a certificate; with --dry-run: the plan is shown");
  verb->ExitCode(kExitUsage, "usage or invalid input");
  verb->ExitCode(kExitInconclusive,
                 "too few trials for any rate; the report says how many more runs are needed");
  verb->ExitCode(kExitInfrastructure, "it could not be done, or an interrupt");
  verb->ExitCode(kExitIntegrity, "integrity");
  verb->Example("rharness gameday --history runs.db --out gameday --dry-run");
  verb->Example(
      "rharness gameday --history runs.db --select 'family = mlp' --fault "
      "'hyperparameter:learning_rate*0.95,0.9@--lr' --out gameday");
  verb->Example("rharness gameday --policy policy.yaml --profile week --out gamedays/2026-48");
  verb->Example(
      "rharness drill --history runs.db --certificate gameday/certificate.json --out tonight");
}

}  // namespace

void AddGameday(Command& root) {
  auto arguments = std::make_shared<GamedayArguments>();
  Command& verb = DeclareGameday(root, arguments.get());
  verb.Describe(
      "Plants faults of known size into copies of recorded runs and of what their reruns leave, "
      "and judges them as a drill does. Reports how often a drill would have found each fault, "
      "with its interval, how often a drill raises a false alarm, and how often a verdict flips. "
      "Writes the certificate that drills show beside 'equivalent'.");
  AddGamedayNotes(&verb);
  verb.Do([arguments, &verb] { return RunGameday(arguments.get(), &verb); });
}

}  // namespace rharness
