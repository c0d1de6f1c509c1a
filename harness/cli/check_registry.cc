// The gate before a registry: asks the server, the history and the manifests, and prints.
#include "harness/cli/check_registry.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <system_error>
#include <utility>

#include "harness/base/files.h"
#include "harness/base/log.h"
#include "harness/cli/manifest_files.h"
#include "harness/cli/verb.h"
#include "harness/drill/history_of.h"
#include "harness/drill/told_verdict.h"
#include "harness/history/store.h"
#include "harness/insight/publish/mlflow_verdicts.h"
#include "harness/insight/publish/registration.h"
#include "harness/records/intake/imported_run.h"
#include "harness/records/intake/mlflow_credentials.h"
#include "harness/trust/approval/retirement_approval.h"

namespace rharness {
namespace {

constexpr char kWhatIsAsked[] =
    R"text(With --registry, the question is whether a model may be registered (--run, before there is a version of it) or promoted (--model). It may if all of this holds: the history, or the manifests given, have the record of its run; the run's last verdict, infra aside, is identical or equivalent and no older than --max-age; and the weights that the server hands out have the recorded SHA-256. Every file of a logged model (MLflow 3), except its description, must be one that the import recorded and that a drill compared with the file of a rerun. A file beside them that a loader may read must be in the record. A retired run is not admitted; the signatures of its retirement are checked. Each finding is one line. The server is only read; credentials are those of `rharness import`.)text";

Status CheckArguments(const RegistryArguments& arguments) {
  if (arguments.model.empty() == arguments.run.empty()) {
    return InvalidInput("expected --model NAME, or --run ID of a run that is to be registered",
                        "--registry");
  }
  if (arguments.version && arguments.model.empty()) {
    return InvalidInput("goes with --model", "--version");
  }
  if (arguments.history.empty()) {
    return InvalidInput("expected --history, which has the verdicts", "--registry");
  }
  return {};
}

bool IsOf(const Manifest& manifest, const std::string& run_id) {
  return MlflowIdOf(manifest) == run_id;
}

Status AskHistory(const std::string& url, const std::string& mlflow_id, RunKnown* known) {
  ASSIGN_OR_RETURN(const auto store, HistoryStore::OpenExisting(url));
  const std::string run_id = RunIdOf("mlflow", mlflow_id);
  auto manifest = store->Get(run_id);
  if (!manifest.ok()) {
    return manifest.error().code == ErrorCode::kNotFound ? Status() : Status(manifest.error());
  }
  if (!IsOf(*manifest, mlflow_id)) return {};
  known->manifest = std::move(*manifest);
  ASSIGN_OR_RETURN(const HistoryEntry entry, store->Find(run_id));
  ASSIGN_OR_RETURN(const auto doubts,
                   RetirementDoubtsOf({entry}, SystemClock().Now(), store.get()));
  if (doubts.contains(run_id)) known->retirement_doubt = doubts.at(run_id);
  if (entry.retired) known->retired = RetiredInWords(*entry.retired, RetirementOfEntry(entry));
  ASSIGN_OR_RETURN(known->verdicts, store->Verdicts(run_id));
  if (const VerdictRecord* deciding = DecidingVerdict(*known)) {
    const KeptReasons kept = ReadReasons(deciding->reasons);
    if (kept.told) known->unproven = kept.told->unproven;
  }
  return {};
}

Status AskFiles(const std::vector<std::string>& paths, const std::string& mlflow_id,
                RunKnown* known) {
  for (const std::string& path : paths) {
    std::error_code error;
    std::vector<std::string> files = {path};
    if (std::filesystem::is_directory(path, error)) {
      ASSIGN_OR_RETURN(ManifestFiles found, FindManifests(path));
      files = std::move(found.files);
    }
    for (const std::string& file : files) {
      ASSIGN_OR_RETURN(Manifest manifest, LoadManifest(file));
      if (!IsOf(manifest, mlflow_id)) continue;
      if (!known->manifest) {
        known->manifest = std::move(manifest);
      } else if (ToJson(*known->manifest).Dump() != ToJson(manifest).Dump()) {
        known->manifest_differs = true;
      }
    }
  }
  return {};
}

// The worst of its findings; 0 for none.
int ExitCodeOfFindings(const std::vector<Reason>& findings) {
  const auto any = [&](std::initializer_list<std::string_view> codes) {
    return std::ranges::any_of(findings, [&](const Reason& finding) {
      return std::ranges::find(codes, finding.code) != codes.end();
    });
  };
  if (findings.empty()) return kExitOk;
  if (any({"weights_differ", "manifest_differs", "retirement_doubtful"})) return kExitIntegrity;
  if (any({"drifted"})) return kExitDrift;
  if (any({"incomplete", "retired"})) return kExitUsage;
  return kExitInconclusive;
}

std::string RegistryText(const RegistryEntry& entry, const std::vector<Reason>& findings,
                         const RunKnown& known) {
  std::string text;
  for (const Reason& finding : findings) {
    text += OneLine(fmt::format("{}: {}: {}", entry.name, finding.code, finding.message));
  }
  if (!findings.empty() || Globals().quiet) return text;
  const VerdictRecord* last = DecidingVerdict(known);
  return OneLine(fmt::format("{}: admitted: {}, of {} (drill {})", entry.name,
                             VerdictName(last->verdict), FormatTime(last->decided),
                             last->drill_id));
}

Json RegistryJson(const RegistryEntry& entry, const std::vector<Reason>& findings,
                  const RunKnown& known, int exit_code) {
  Json list = Json::MakeArray();
  for (const Reason& finding : findings) {
    list.Append(Json::MakeObject({{"code", finding.code}, {"message", finding.message}}));
  }
  Json files = Json::MakeArray();
  for (const RegistryFile& file : entry.files) {
    Json one = Json::MakeObject({{"path", file.path}});
    if (!file.sha256.empty()) one.Set("sha256", file.sha256);
    files.Append(std::move(one));
  }
  Json json = Json::MakeObject({{"schema", "rharness.registry-admission/v1"},
                                {"subject", entry.name},
                                {"mlflow_run", entry.run_id},
                                {"run_id", known.manifest ? known.manifest->run_id : ""},
                                {"admitted", findings.empty()},
                                {"exit_code", exit_code},
                                {"findings", std::move(list)}});
  if (const VerdictRecord* last = DecidingVerdict(known)) {
    json.Set("verdict", Json::MakeObject({{"verdict", VerdictName(last->verdict)},
                                          {"decided", FormatTime(last->decided)},
                                          {"drill", last->drill_id}}));
  }
  json.Set("files", std::move(files));
  return json;
}

Result<int> Ask(const RegistryArguments& arguments, const std::vector<std::string>& manifests,
                bool json) {
  RETURN_IF_ERROR(CheckArguments(arguments));
  ASSIGN_OR_RETURN(HttpClient client, ConnectToMlflow(arguments.server, EnvironmentVariable, {}));
  ASSIGN_OR_RETURN(RegistryEntry entry,
                   arguments.model.empty()
                       ? FindRegistryRun(&client, arguments.run)
                       : FindModelVersion(&client, arguments.model, arguments.version));
  RunKnown known;
  if (!entry.run_id.empty()) {
    RETURN_IF_ERROR(AskHistory(arguments.history, entry.run_id, &known));
    RETURN_IF_ERROR(AskFiles(manifests, entry.run_id, &known));
  }
  if (known.manifest) {
    std::vector<Artifact> recorded = known.manifest->artifacts;
    std::erase_if(recorded, [](const Artifact& one) { return one.sha256.empty(); });
    if (!recorded.empty()) RETURN_IF_ERROR(ReadRegistryFiles(&client, recorded, &entry));
  }
  const std::optional<double> max_age =
      arguments.max_age_days < 0.0 ? std::nullopt : std::optional(arguments.max_age_days);
  const auto findings = DecideRegistration(entry, known, max_age, SystemClock().Now());
  const int exit_code = ExitCodeOfFindings(findings);
  const int printed = json ? PrintJson(RegistryJson(entry, findings, known, exit_code))
                           : Print(RegistryText(entry, findings, known));
  return printed == kExitOk ? exit_code : printed;
}

}  // namespace

void AddRegistryOptions(Command* verb, RegistryArguments* arguments) {
  verb->Heading("Before a model registry");
  verb->Add("--registry", &arguments->server, "MLflow server of the model").Value("URL");
  verb->Add("--model", &arguments->model, "The registered model").Value("NAME");
  verb->Add("--version", &arguments->version, "Its version; default: the newest").Value("N");
  verb->Add("--run", &arguments->run, "A run at the server, before it is registered").Value("ID");
  verb->Add("--max-age", &arguments->max_age_days, "How old the last verdict may be; default: any")
      .Duration(TimeUnit::kDays);
  verb->Note(kWhatIsAsked);
}

int CheckForRegistry(const RegistryArguments& arguments, const std::vector<std::string>& manifests,
                     bool json) {
  const auto code = Ask(arguments, manifests, json);
  return code.ok() ? *code : FailWith(code.error());
}

}  // namespace rharness
