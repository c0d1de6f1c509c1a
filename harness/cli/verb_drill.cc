// rharness drill: select, plan, rerun, compare, judge, report.
#include <fmt/format.h>

#include <memory>
#include <string>

#include "harness/base/files.h"
#include "harness/base/stderr_line.h"
#include "harness/cli/document_options.h"
#include "harness/cli/drill_options.h"
#include "harness/cli/interrupts.h"
#include "harness/cli/outputs.h"
#include "harness/cli/progress_line.h"
#include "harness/cli/retired_runs.h"
#include "harness/cli/verb.h"
#include "harness/drill/drill.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

int Finish(const Report& report, const DrillArguments& arguments) {
  if (arguments.json) {
    const int printed = PrintJson(ToJson(report));
    return printed != kExitOk ? printed : report.exit_code;
  }
  const bool fine = report.exit_code == kExitOk;
  const fs::path page = arguments.drill.out / "report.html";
  if (!Globals().quiet) {
    Print(ScreenText(DocumentOf(report, Globals().verbose)));
    Print(PlaceLine("report", page));
  } else if (!fine) {
    std::string counts;
    for (const auto& [verdict, count] : report.counts) {
      if (count > 0) counts += fmt::format(" {} {},", count, verdict);
    }
    if (counts.empty()) counts = " no runs,";
    counts.back() = ';';
    Print(fmt::format("rharness drill:{} see {}\n", counts,
                      TerminalSafe(FromAnywhere(page).string())));
  }
  return report.exit_code;
}

int ShowPlan(const DrillArguments& arguments) {
  const auto plan = PlanDrill(arguments.drill, &SystemClock());
  if (!plan.ok()) return FailWith(plan.error());
  return arguments.json ? PrintJson(ToJson(*plan)) : Print(DescribePlan(*plan));
}

int Run(DrillArguments* arguments, Command* command) {
  if (const Status status = CompleteDrill(arguments, command); !status.ok()) {
    return FailWith(status.error());
  }
  bool doubtful = false;
  arguments->drill.retirement_doubts = HoldRetirements(&doubtful);
  DrillAudit& audit = arguments->audit;
  audit.policy = arguments->policy;
  audit.history = arguments->drill.history;
  if (arguments->drill.resume) TakeKeptAudit(arguments->drill.out, &audit);
  const Status usable = CheckDrillAudit(audit, arguments->drill.out);
  if (arguments->dry_run) {
    const int shown = ShowPlan(*arguments);
    if (shown != kExitOk) return shown;
    if (!usable.ok()) return FailWith(usable.error());
    return doubtful ? kExitIntegrity : kExitOk;
  }
  if (!usable.ok()) return FailWith(usable.error());
  arguments->drill.audit = KeptAudit(audit);
  CountInterrupts();
  auto line = std::make_unique<ProgressLine>(VerbProgress());
  const DrillHooks hooks{.progress = [&](const Progress& progress) { line->Show(progress); },
                         .should_stop = Interrupted};
  const auto report = RunDrill(arguments->drill, hooks, &SystemClock());
  line.reset();
  if (!report.ok()) return FailWith(report.error());
  int code = Finish(*report, *arguments);
  if (code == kExitOk && doubtful) code = kExitIntegrity;
  if (audit.log.empty()) return code;
  audit.history = report->history;
  const Status appended = AppendDone(audit, "the verdicts are");
  const int sealed = appended.ok() ? kExitOk : FailWith(appended.error());
  return code != kExitOk ? code : sealed;
}

}  // namespace

void AddDrill(Command& root) {
  auto arguments = std::make_shared<DrillArguments>();
  Command& verb = DeclareDrill(root, arguments.get());
  verb.Add(
          "runs", &arguments->runs,
          "Folder of manifests, or of a drill, in place of --history; the store runs.db is made in "
          "it")
      .Path();
  verb.Note(
      "The folder --out gets report.html, report.json, junit.xml, summary.md and metrics.prom.");
  verb.Note(
      "A replicate gets the environment variable RHARNESS_REPLICATE=1, 2, ...: a run that sees it "
      "moves its initial weights, others for each number, to neighbouring numbers of their format. "
      "Without it, it trains as recorded. A run that ignores the variable, or is insensitive, "
      "gives bit-identical replicates, which carry no information; the report says so. A failed "
      "replicate makes no verdict. The history keeps replicates, and later drills of the same "
      "stack use them.");
  verb.Note(
      "Several drills may share a history: a drill skips runs that a different drill has claimed "
      "and lists them; --sample and --budget take the next ones.");
  verb.Note(
      "With --audit the log is checked against the history, and new records are entered when the "
      "verdicts are stored. Where that fails an error says so, and the exit code is that of a "
      "drill that was fine. The log must have been begun (rharness audit append --begin). --resume "
      "uses the log, the key and the policy of the drill's start.");
  verb.Note(
      "A retired run is not drilled. Where its retirement is not as it was signed (`rharness "
      "history retire "
      "list`) a warning says so, and the exit code of a drill that was fine is 5.");
  verb.Note(
      "--dry-run prints the plan. It ends as the drill would where the drill cannot begin, and "
      "with 5 where it finds a fault of the audit log, its key or a retirement.");
  verb.ExitCode(kExitOk, "all identical or equivalent");
  verb.ExitCode(kExitDrift, "drift");
  verb.ExitCode(kExitUsage, "usage, invalid input or nothing to do");
  verb.ExitCode(kExitInconclusive, "inconclusive or not comparable, or runs were left out");
  verb.ExitCode(kExitInfrastructure,
                "a run failed or could not be started (infra), or an interrupt");
  verb.ExitCode(kExitIntegrity, "integrity");
  verb.Example("rharness drill runs");
  verb.Example("rharness drill --history runs.db --out tonight");
  verb.Example("rharness drill --history runs.db --select 'verified > 30d' --budget 90m --dry-run");
  verb.Example("rharness drill --history runs.db --out tonight --replicates 3");
  verb.Example(
      "rharness drill --history runs.db --out tonight --audit runs.db.audit --key lab.pem");
  verb.Example("rharness drill --resume --out tonight");
  verb.Do([arguments, &verb] { return Run(arguments.get(), &verb); });
}

}  // namespace rharness
