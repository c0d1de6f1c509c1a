// rharness slo: do families keep what their policy asks of them? The rules for alerts: slo_rules.h.

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
  const int code = PrintReport(outputs, {.verb = "slo",
                                         .headline = report.headline,
                                         .exit_code = report.exit_code,
                                         .as_json = arguments.json,
                                         .json = [&] { return ToJson(report); },
                                         .text = [&] { return ScreenText(document); }});
  // What it says is said, also where the gateway is not there.
  if (gateway) RETURN_IF_ERROR(PushSeries(&*gateway, report.history, WriteMetrics(report)));
  return code;
}

void AddSloNotes(Command* verb) {
  verb->Note(
      "The policy states the objectives (rharness policy --help): for each family the least "
      "share of runs that reproduce, the largest shares of open and flaky runs, and how long "
      "a run may wait to be compared. The first objective whose pattern matches a family "
      "applies to it. Families without one are listed and cannot miss anything.");
  verb->Note(
      "Each run counts once in the period, by its last verdict: good (identical, equivalent), "
      "bad (drifted, failed) or open (inconclusive, not comparable). infra verdicts and "
      "retired runs are left out. The rate is good among good and bad, with Wilson's interval "
      "at 95 %; the worst case counts open runs as bad. The budget is the share of the judged "
      "runs that the objective allows to fail.");
  verb->Note(
      "A run waits until it is compared: identical, equivalent or drifted. A failed rerun is "
      "bad, but compares nothing. A run is broken from a bad verdict until the next good one, "
      "whatever open ones lie between. A broken run that is declared bitwise and drifted is a "
      "violation.");
  verb->Note(
      "The budget burns (SRE Workbook, chapter 5, scaled to reruns) in two cases. Fast: a day "
      "and its last 6 hours both spend it at 2.8 times the rate that lasts for the period of "
      "28 days; this is a page where the objective has alert: page, else a ticket. Slow: 7 "
      "days and the last day both spend it at that rate; this is a ticket. Both need five "
      "conclusive runs or more, and Jeffreys' lower bound at 95 % must confirm it. Other "
      "periods scale the windows. An objective of 0.642 or less can raise no page; a warning "
      "says so.");
  verb->Note(
      "--metrics writes a file for the textfile collector of Prometheus' node exporter. "
      "--push sends the same series to a Pushgateway, and replaces what this history pushed "
      "before. There are series of a hundred families, violations of a thousand bitwise runs, "
      "totals of all runs (rharness_slo_all_...), and one series for each of the hundred runs "
      "that most recently stopped reproducing. A name that is longer than 200 bytes or has "
      "control characters is cut or escaped, and ends in 12 digits of its SHA-256.");
  verb->Note(
      "Credentials of a Pushgateway stand in the environment: RHARNESS_PUSH_TOKEN, or "
      "RHARNESS_PUSH_USERNAME and RHARNESS_PUSH_PASSWORD. RHARNESS_PUSH_CERTIFICATES names "
      "the file of certificates that its own is checked by. The report is printed also where "
      "the push fails: the exit code is 4 if the gateway cannot be reached, and 2 if it "
      "refuses. Prometheus needs honor_labels for the gateway.");
  verb->ExitCode(kExitOk, "all objectives are met, or there are none");
  verb->ExitCode(kExitDrift, "one is missed, or its budget burns");
  verb->ExitCode(kExitUsage, "usage or invalid input");
  verb->ExitCode(kExitInconclusive,
                 "none is known to be missed, and one cannot be judged or matches no family");
  verb->ExitCode(kExitInfrastructure, "it could not be done: a file, the network or the machine");
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
