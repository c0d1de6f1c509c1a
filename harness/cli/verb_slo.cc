// rharness slo: do families keep what their policy asks of them? The rules for alerts: slo_rules.h.
#include <unistd.h>

#include <memory>
#include <optional>

#include "harness/base/files.h"
#include "harness/base/progress.h"
#include "harness/base/version.h"
#include "harness/cli/document_options.h"
#include "harness/cli/history_place.h"
#include "harness/cli/outputs.h"
#include "harness/cli/slo_rules.h"
#include "harness/cli/verb.h"
#include "harness/history/location.h"
#include "harness/history/untouched.h"
#include "harness/insight/objectives/objectives.h"
#include "harness/insight/objectives/push.h"
#include "harness/records/intake/mlflow_credentials.h"

namespace rharness {
namespace {

struct SloArguments {
  std::string history;
  std::string policy;
  DocumentOptions formats;
  std::string metrics;
  std::string push;
  bool json = false;
};

// What may not be written to, such as an auditor's copy, is read as it is.
Result<std::unique_ptr<HistoryStore>> OpenToRead(const std::string& url) {
  auto store = HistoryStore::OpenExisting(url);
  if (store.ok() || store.error().code != ErrorCode::kIo) return store;
  auto untouched = OpenUntouchedHistory(url);
  if (untouched.ok()) return untouched;
  return store;
}

Result<int> MeasureAndTell(SloArguments* given) {
  SloArguments& arguments = *given;
  if (arguments.history.empty()) {
    return InvalidInput("no history given; use --history URL or RHARNESS_HISTORY", "rharness slo");
  }
  ASSIGN_OR_RETURN(arguments.history, HistoryAt(arguments.history));
  std::vector<std::string> inputs = FilesOfHistory(arguments.history);
  inputs.push_back(arguments.policy);
  RETURN_IF_ERROR(
      CheckOutputs(FilesOf(arguments.formats, {arguments.metrics}), inputs, arguments.json));
  std::optional<HttpClient> gateway;
  if (!arguments.push.empty()) {
    ASSIGN_OR_RETURN(gateway, ConnectToPushgateway(arguments.push, EnvironmentVariable));
  }
  Policy policy;
  if (!arguments.policy.empty()) {
    ASSIGN_OR_RETURN(policy, LoadPolicy(arguments.policy));
  }
  ASSIGN_OR_RETURN(const auto history, OpenToRead(arguments.history));
  ASSIGN_OR_RETURN(ObjectivesReport report,
                   MeasureObjectives(history.get(), policy, SystemClock().Now()));
  report.version = kVersion;
  ASSIGN_OR_RETURN(report.history, ResolveHistoryUrl(arguments.history));  // as drills call it
  report.policy = arguments.policy;
  const Document document = DocumentOf(report);
  std::vector<Output> outputs = OutputsOf(arguments.formats, document);
  outputs.push_back({arguments.metrics, [&] { return WriteMetrics(report); }});
  RETURN_IF_ERROR(WriteFiles(outputs));
  const int code =
      PrintReport(outputs, {.verb = "slo",
                            .headline = report.headline,
                            .exit_code = report.exit_code,
                            .as_json = arguments.json,
                            .json = [&] { return ToJson(report); },
                            .text =
                                [&] {
                                  return WriteTerminal(document, TerminalColumns(STDOUT_FILENO),
                                                       ColorOn(STDOUT_FILENO));
                                }});
  // What it says is said, also where the gateway is not there.
  if (gateway) RETURN_IF_ERROR(PushSeries(&*gateway, report.history, WriteMetrics(report)));
  return code;
}

void AddSloNotes(Command* verb) {
  verb->Note(
      "Objectives stand in the policy (rharness policy --help): by family the least share of runs "
      "that reproduce, the largest shares that are left open or flaky, and how long a run may wait "
      "to be compared. The first whose pattern matches a family is its own. Families "
      "without one are shown, and held to nothing.");
  verb->Note(
      "In a period a run counts once, by what was said of it last: good (identical, equivalent), "
      "bad "
      "(drifted, failed) or open (inconclusive, not comparable); infrastructure failures say "
      "nothing of a run, and retired runs are left out. Good and bad verdicts are conclusive. The "
      "rate is good of good and bad, with "
      "Wilson's interval at 95 %; the worst case counts what is open as bad. The budget is what "
      "the "
      "objective allows of the runs that were judged.");
  verb->Note(
      "A run waits until it is compared: identical, equivalent or drifted. A rerun that failed is "
      "bad, and compares nothing. A run is broken, and a violation where it is declared bitwise "
      "and drifted, from a bad verdict until a good one comes, whatever open ones lie between.");
  verb->Note(
      "The budget burns (SRE Workbook, chapter 5, scaled to reruns) when of a period of 28 days a "
      "day and its last 6 hours spend it 2.8 times as fast as it lasts (fast: a page where the "
      "objective says alert: page, else a ticket), or 7 days and the last one as fast as it lasts "
      "(slow: a ticket); with five conclusive runs or more, and when Jeffreys' lower bound at 95 % "
      "says so, too. Another period has the same shares of it. Where at most 0.642 is asked for "
      "the budget cannot burn as fast as a page needs, which is said.");
  verb->Note(
      "The file of --metrics is for the textfile collector of Prometheus' node exporter; --push "
      "takes the same series to a Pushgateway, in place of those that this history pushed before: "
      "a "
      "hundred families, of a thousand the violations of bitwise runs, totals of all "
      "(rharness_slo_all_...), and the hundred runs that were found not to reproduce last, an "
      "alert "
      "each. A name that is longer than 200 bytes or holds control characters is cut or escaped, "
      "and ends in 12 digits of its SHA-256.");
  verb->Note(
      "What a Pushgateway asks of its users stands in the environment: RHARNESS_PUSH_TOKEN, or "
      "RHARNESS_PUSH_USERNAME and RHARNESS_PUSH_PASSWORD, and the certificates that its own is "
      "checked by in the file RHARNESS_PUSH_CERTIFICATES. A gateway that cannot be reached is exit "
      "code 4, one that refuses is 2; what there is to say is printed all the same. Prometheus "
      "needs honor_labels where it asks the gateway.");
  verb->ExitCode(kExitOk, "all objectives are met, or there are none");
  verb->ExitCode(kExitDrift, "one is missed, or its budget burns");
  verb->ExitCode(kExitUsage, "usage or invalid input");
  verb->ExitCode(kExitInconclusive,
                 "none is missed as far as is known, and one is not known, or is no family's");
  verb->ExitCode(kExitInfrastructure, "infrastructure");
  verb->ExitCode(kExitIntegrity, "integrity");
  verb->Example("rharness slo --history runs.db --policy policy.yaml");
  verb->Example(
      "rharness slo --history runs.db --policy policy.yaml --html slo.html --metrics "
      "/var/lib/node_exporter/rharness_slo.prom");
  verb->Example("rharness slo --history runs.db --policy policy.yaml --push http://gateway:9091");
}

}  // namespace

void AddSlo(Command& root) {
  auto arguments = std::make_shared<SloArguments>();
  Command& verb = root.AddVerb("slo", "Report objectives and error budgets of families");
  verb.Describe(
      "Counts the stored verdicts of each family over its period, holds them to the objectives of "
      "the policy, and says what is missed, how fast an error budget goes, and what waits too "
      "long. "
      "Nothing is rerun, and nothing is written to the history.");
  AddHistoryOption(&verb, &arguments->history, "Store with the verdicts");
  verb.Add("--policy", &arguments->policy, "YAML file with the objectives")
      .File()
      .Env("RHARNESS_POLICY");
  AddDocumentOptions(&verb, &arguments->formats, "an objective");
  verb.Add("--metrics", &arguments->metrics,
           "Write series for Prometheus to this file; - is stdout")
      .File();
  verb.Add("--push", &arguments->push, "Send series for Prometheus to this Pushgateway")
      .Value("URL");
  verb.Add("--json", &arguments->json, "Print one JSON document (rharness.objectives/v1)");
  AddSloNotes(&verb);
  AddSloRules(&verb);
  verb.Do([arguments] {
    const auto code = MeasureAndTell(arguments.get());
    return code.ok() ? *code : FailWith(code.error());
  });
}

}  // namespace rharness
