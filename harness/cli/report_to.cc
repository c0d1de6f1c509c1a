// Writing a drill's verdicts back: options, and what is printed.
#include "harness/cli/report_to.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/base/files.h"
#include "harness/cli/interrupts.h"
#include "harness/cli/named_drill.h"
#include "harness/cli/outputs.h"
#include "harness/cli/verb.h"
#include "harness/history/store.h"
#include "harness/insight/publish/mlflow_verdicts.h"
#include "harness/records/intake/mlflow_credentials.h"

namespace rharness {
namespace {

constexpr char kWhatIsWritten[] =
    R"text(With --to each run that was imported from MLflow gets the tags rharness.verdict, rharness.reasons (the decisive ones), rharness.report_sha256, rharness.drill and rharness.decided, and a point of the metric rharness.reproduced at the time when the drill ended: 1 for identical and equivalent, 0 for drifted, none for the other verdicts. Equal values are not written again, and tags of a later drill are kept. An import does not take these tags for the run's own.

--alias NAME is set on the registered model version of a run that reproduced. It moves only to newer versions. It leaves a version that drifted, for a newer one that reproduced or for none: then a client that asks for NAME finds no model, so do not give a name by which models are served unless you want that.

Credentials are those of `rharness import`: MLFLOW_TRACKING_TOKEN, MLFLOW_TRACKING_USERNAME and _PASSWORD, or ~/.mlflow/credentials. They are in no argument, log or report.)text";

constexpr std::string_view kMlflow = "mlflow=";

// The ids at MLflow of the report's runs.
Result<std::map<std::string, std::string>> MlflowIds(const Report& report,
                                                     const std::string& history) {
  ASSIGN_OR_RETURN(const auto store, HistoryStore::OpenExisting(history));
  std::map<std::string, std::string> ids;
  for (const ReportRun& run : report.runs) {
    ASSIGN_OR_RETURN(const Manifest manifest, store->Get(run.run_id));
    if (std::string id = MlflowIdOf(manifest); !id.empty()) ids[run.run_id] = std::move(id);
  }
  return ids;
}

bool IsDone(const Published& one) {
  return one.state != PublishState::kFailed && one.state != PublishState::kNotTried;
}

// One line a run.
std::string LineOf(const Published& one) {
  std::string line = fmt::format("{}: {}", one.subject, PublishStateName(one.state));
  for (const std::string& change : one.changes) line += "; " + change;
  if (!one.message.empty()) line += ": " + one.message;
  return OneLine(line);
}

std::string TextOf(const std::vector<Published>& all, std::size_t left_out) {
  std::string text;
  std::map<PublishState, std::size_t> counts;
  for (const Published& one : all) {
    ++counts[one.state];
    if (!Globals().quiet || !IsDone(one)) text += LineOf(one);
  }
  if (Globals().quiet) return text;
  std::string sum;
  for (const auto& [state, count] : counts) {
    sum += fmt::format("{}{} {}", sum.empty() ? "" : ", ", count, PublishStateName(state));
  }
  if (left_out > 0) sum += fmt::format("; {} of other sources left out", left_out);
  return text + sum + "\n";
}

Json JsonOf(const std::vector<Published>& all, std::size_t left_out) {
  Json list = Json::MakeArray();
  for (const Published& one : all) {
    Json changes = Json::MakeArray();
    for (const std::string& change : one.changes) changes.Append(change);
    list.Append(Json::MakeObject({{"subject", one.subject},
                                  {"mlflow_id", one.mlflow_id},
                                  {"state", PublishStateName(one.state)},
                                  {"changes", std::move(changes)},
                                  {"message", one.message}}));
  }
  return Json::MakeObject(
      {{"schema", "rharness.publish/v1"}, {"published", std::move(list)}, {"left_out", left_out}});
}

Result<std::vector<Published>> PublishAll(const std::string& url, const PublishOptions& options,
                                          const std::vector<MlflowVerdict>& verdicts) {
  CountInterrupts();
  ASSIGN_OR_RETURN(HttpClient client, ConnectToMlflow(url, EnvironmentVariable,
                                                      options.should_cancel, PublishLimits()));
  return PublishToMlflow(&client, verdicts, options);
}

}  // namespace

void AddToOptions(Command* verb, ReportToArguments* arguments) {
  verb->Heading("Writing verdicts back");
  verb->Add("--to", &arguments->to,
            "Write the drill's verdicts to the tracker that its runs came from: mlflow=URL; --json "
            "then prints what was written (rharness.publish/v1)")
      .Value("TARGET=URL");
  verb->Add("--history", &arguments->history,
            "Of --to: store that says where the runs came from; default: the drill's own")
      .Value("URL");
  verb->Add("--alias", &arguments->options.alias,
            "Of --to: alias of the registered model versions that reproduced")
      .Value("NAME");
  verb->Add("--dry-run", &arguments->options.dry_run,
            "Of --to: ask the server, and say what would change");
}

void AddToNotes(Command* verb) {
  verb->Note(kWhatIsWritten);
  verb->ExitCode(kExitOk, "all that was asked for is written, whatever the verdicts are");
  verb->ExitCode(kExitUsage,
                 "usage, or no drill; with --to: no run of MLflow's in it, or no URL of a server");
  verb->ExitCode(kExitIntegrity, "with --to: the report is not the one in the history");
  verb->ExitCode(kExitInfrastructure,
                 "a file could not be written; with --to: not all was written; each run has a "
                 "line, and the same call writes the rest");
  verb->Example("rharness report tonight --to mlflow=https://mlflow.example --alias reproduced");
}

Status CheckTo(const ReportToArguments& arguments, const Command& command) {
  if (!command.Given("--to")) {
    for (const char* option : {"--history", "--alias", "--dry-run"}) {
      if (command.Given(option)) {
        return InvalidInput("goes with --to, which is not given", option);
      }
    }
    return {};
  }
  if (!arguments.to.starts_with(kMlflow) || arguments.to.size() == kMlflow.size()) {
    return InvalidInput(fmt::format("'{}' names no tracker; expected mlflow=URL",
                                    TerminalSafe(arguments.to.substr(0, 80))),
                        "--to");
  }
  for (const char* option :
       {"--html", "--junit", "--markdown", "--metrics", "--ro-crate", "--terminal"}) {
    if (command.Given(option)) {
      return InvalidInput("renders the drill; expected a call of its own, without --to", option);
    }
  }
  return {};
}

Result<int> WriteBack(const std::string& source, bool json, const std::string& json_file,
                      ReportToArguments arguments) {
  ASSIGN_OR_RETURN(NamedDrill drill, ReadNamedDrill(source));
  RETURN_IF_ERROR(CheckOutputs({json_file}, {source}, json));
  const std::string history = arguments.history.empty() ? drill.report.history : arguments.history;
  RETURN_IF_ERROR(HoldNamedDrill(history, &drill));
  ASSIGN_OR_RETURN(const auto ids, MlflowIds(drill.report, history));
  const auto verdicts = MlflowVerdictsOf(drill.report, drill.sha256, ids);
  if (verdicts.empty()) {
    return NotFound("none of the drill's runs was imported from MLflow", source);
  }
  arguments.options.should_cancel = Interrupted;
  ASSIGN_OR_RETURN(const auto all,
                   PublishAll(arguments.to.substr(kMlflow.size()), arguments.options, verdicts));
  const std::size_t left_out = drill.report.runs.size() - verdicts.size();
  const auto text = [&] { return JsonOf(all, left_out).Dump(2) + "\n"; };
  const std::vector<Output> outputs = {{json ? "-" : "", text}, {json_file, text}};
  RETURN_IF_ERROR(WriteFiles(outputs));
  const Output* output = OnStdout(outputs);
  const int code = Print(output == nullptr ? TextOf(all, left_out) : output->make());
  if (code != kExitOk) return code;
  return std::ranges::all_of(all, IsDone) ? kExitOk : kExitInfrastructure;
}

}  // namespace rharness
