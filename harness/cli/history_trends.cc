// rharness history trends: how did reproducibility go over time, and what hangs on what?

#include <memory>

#include "harness/base/progress.h"
#include "harness/base/version.h"
#include "harness/cli/document_options.h"
#include "harness/cli/history_place.h"
#include "harness/cli/history_verbs.h"
#include "harness/cli/outputs.h"
#include "harness/cli/verb.h"
#include "harness/history/location.h"
#include "harness/insight/trends/trends.h"

namespace rharness {
namespace {

struct TrendsArguments {
  std::string history;
  DocumentOptions formats;
  std::vector<std::string> gone;
  int weeks = 52;
  bool json = false;
};

Result<int> TellTrends(TrendsArguments arguments) {
  ASSIGN_OR_RETURN(arguments.history, HistoryAt(arguments.history));
  RETURN_IF_ERROR(
      CheckOutputs(FilesOf(arguments.formats), FilesOfHistory(arguments.history), arguments.json));
  TrendsAsked asked{.weeks = arguments.weeks, .gone = {}};
  for (const std::string& text : arguments.gone) {
    ASSIGN_OR_RETURN(Gone gone, Gone::Parse(text));
    asked.gone.push_back(std::move(gone));
  }
  ASSIGN_OR_RETURN(const auto history, HistoryStore::OpenExisting(arguments.history));
  ASSIGN_OR_RETURN(TrendsReport report, MeasureTrends(history.get(), asked, SystemClock().Now()));
  report.version = kVersion;
  report.history = arguments.history;
  const Document document = DocumentOf(report);
  const std::vector<Output> outputs = OutputsOf(arguments.formats, document);
  RETURN_IF_ERROR(WriteFiles(outputs));
  return PrintReport(outputs, {.verb = "history trends",
                               .headline = report.headline,
                               .exit_code = report.exit_code,
                               .as_json = arguments.json,
                               .json = [&] { return ToJson(report); },
                               .text = [&] { return ScreenText(document); }});
}

void AddTrendsNotes(Command* verb) {
  verb->Note(
      "Each run counts once a week, by its last verdict, and once for each image, driver and "
      "GPU that it was rerun with. It is good (identical, equivalent), bad (drifted, failed) "
      "or open; infra is left out, and so are verdicts with a time in the future. Rates are "
      "good among good and bad, with Wilson's interval at 95 %.");
  verb->Note(
      "A change of a family's rate is reported where Fisher's exact test of the weeks before "
      "and after shows it, corrected for the weeks and families that were tried: where no "
      "family changed, at most 5 of 100 histories name one. The test counts each run of each "
      "week as a separate trial. If the same few runs are judged every week, p is far too "
      "small; a machine that spoils one week is a change of that week. The image, driver, "
      "GPU, CPU, system, packages and node that most runs had before the change, and not "
      "after it, are listed as coincidences; rharness isolate finds causes.");
  verb->Note(
      "Survival is Kaplan and Meier's estimate of how long runs keep reproducing: from the "
      "first verdict that shows it to the one from which on the run never reproduced again. "
      "The end lies between two drills; the later one is taken. A run that never reproduced "
      "is left out and counted, since nobody saw when it ceased to. The band is at 95 % "
      "(Greenwood, log-log), and covers chance alone.");
  verb->Note(
      "With --if-gone, a run is lost if it was shown to reproduce, and every environment in "
      "which it did so has something that would be gone. gpu=*, driver=* and image=* concern "
      "only runs that had one. A verdict covers all environments of its reruns. Images are "
      "named by their digest. Nodes are known for drills of this version and later ones.");
  verb->ExitCode(kExitOk, "shown; with --if-gone: no run would be lost");
  verb->ExitCode(kExitDrift, "--if-gone: runs would be lost");
  verb->ExitCode(kExitUsage, "usage or invalid input");
  verb->ExitCode(kExitInconclusive, "--if-gone: no run is known to have used what it names");
  verb->ExitCode(kExitInfrastructure, "it could not be done: a file, the network or the machine");
  verb->ExitCode(kExitIntegrity, "integrity");
  verb->Example("rharness history trends --history runs.db --html trends.html");
  verb->Example(
      "rharness history trends --history runs.db --if-gone 'driver=550.*' --if-gone 'gpu=*A100*'");
  verb->Example("rharness history trends --history runs.db --if-gone package=torch=2.1.*");
}

}  // namespace

void AddHistoryTrends(Command& history) {
  auto arguments = std::make_shared<TrendsArguments>();
  Command& verb =
      history.AddVerb("trends", "Show reproducibility over time and what changes coincided");
  verb.Describe(
      "Reads all verdicts of a history and tells the rate at which runs reproduced, week by week, "
      "by family, image, driver and GPU; when it changed, and what changed with it; how long runs "
      "stay reproducible; and which runs could not be rerun any more if something were gone. "
      "Nothing is rerun, and nothing is written to the history.");
  AddHistoryOption(&verb, &arguments->history, "Store with the verdicts").Required();
  verb.Add("--weeks", &arguments->weeks, "How many weeks to look back, this one included")
      .Between(1, kMostTrendWeeks)
      .ShowDefault();
  verb.Add("--if-gone", &arguments->gone,
           "Which runs are lost without it: image=, driver=, gpu=, cpu=, node= or package= and a "
           "glob; several go together")
      .OneEach()
      .Value("WHAT");
  AddDocumentOptions(&verb, &arguments->formats, "a run that would be lost");
  verb.Add("--json", &arguments->json, "Print one JSON document (rharness.trends/v1)");
  AddTrendsNotes(&verb);
  verb.Do([arguments] {
    const auto code = TellTrends(*arguments);
    return code.ok() ? *code : FailWith(code.error());
  });
}

}  // namespace rharness
