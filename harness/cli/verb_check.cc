// rharness check: are records complete, do they contradict themselves, can they still be rerun?
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "harness/base/clock.h"
#include "harness/base/log.h"
#include "harness/cli/check_admission.h"
#include "harness/cli/check_available.h"
#include "harness/cli/check_contradictions.h"
#include "harness/cli/check_registry.h"
#include "harness/cli/history_place.h"
#include "harness/cli/interrupts.h"
#include "harness/cli/manifest_files.h"
#include "harness/cli/verb.h"
#include "harness/drill/select.h"
#include "harness/drill/selection_check.h"
#include "harness/history/store.h"
#include "reports/text.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

struct RecordCheckOptions {
  std::vector<std::string> paths;
  std::string history;
  std::string select;
  std::string root;
  bool json = false;
  WitnessArguments witnesses;
  AvailableArguments available;
  RegistryArguments registry;
};

// What a command line of files, folders or a history came to.
struct CheckedRecords {
  AdmissionCheck admission;
  std::vector<AdmissionOfOne> admissions;  // once all are read
  std::vector<bool> listed;                // named by a folder or a history: each has a line
  std::vector<std::optional<ContradictionsOfOne>> contradictions;  // none of what is not readable
  std::vector<std::optional<RunParts>> parts;
  std::size_t skipped = 0;  // files in folders that are no manifests
};

struct FileToCheck {
  std::string file;
  bool in_folder = false;
};

Result<std::vector<FileToCheck>> FindFiles(const RecordCheckOptions& options,
                                           CheckedRecords* checked) {
  std::vector<FileToCheck> files;
  for (const std::string& path : options.paths) {
    std::error_code error;
    if (!fs::is_directory(path, error)) {
      files.push_back({path});
      continue;
    }
    ASSIGN_OR_RETURN(const ManifestFiles found, FindManifests(path));
    checked->skipped += found.skipped;
    for (const std::string& file : found.files) files.push_back({file, true});
  }
  if (options.witnesses.Any() && files.size() != 1) {
    return InvalidInput(
        fmt::format("speak of one run, and {} manifests are named; expected one", files.size()),
        "--log, --script, --image");
  }
  return files;
}

Status CheckOne(const std::string& place, bool listed, const Manifest& manifest,
                const RecordCheckOptions& options, Rebuilder* rebuilder, CheckedRecords* checked) {
  ASSIGN_OR_RETURN(auto contradictions,
                   FindContradictionsOf(place, manifest, options.witnesses, options.root));
  checked->admission.Add(place, manifest);
  checked->listed.push_back(listed);
  checked->contradictions.emplace_back(std::move(contradictions));
  checked->parts.emplace_back();
  if (options.available.asked) checked->parts.back() = rebuilder->Ask(manifest);
  return {};
}

Status CheckFiles(const RecordCheckOptions& options, const Places& places, Rebuilder* rebuilder,
                  CheckedRecords* checked) {
  ASSIGN_OR_RETURN(const std::vector<FileToCheck> files, FindFiles(options, checked));
  if (!places.maps.empty()) {
    std::vector<std::string> names;
    for (const FileToCheck& file : files) names.push_back(file.file);
    RETURN_IF_ERROR(RequireUsedMaps(places, names));
  }
  for (const FileToCheck& file : files) {
    if (Interrupted()) return {};
    const auto manifest = LoadManifest(file.file);
    if (manifest.ok()) {
      RETURN_IF_ERROR(CheckOne(file.file, file.in_folder, *manifest, options, rebuilder, checked));
      continue;
    }
    checked->admission.AddUnreadable(file.file, manifest.error());
    checked->listed.push_back(file.in_folder);
    checked->contradictions.emplace_back();
    checked->parts.emplace_back();
  }
  return {};
}

// Each answer is kept as soon as it is there: what `drill --select` goes by.
Status KeepAnswer(const RunParts& run, HistoryStore* store) {
  return store->AddRebuild({.run_id = run.run_id,
                            .asked = SystemClock().Now(),
                            .state = run.State(),
                            .body = PartsToJson(run.parts).Dump()});
}

Status CheckHistory(const RecordCheckOptions& options, const Places& places, Rebuilder* rebuilder,
                    CheckedRecords* checked) {
  ASSIGN_OR_RETURN(Selection selection, Selection::Parse(options.select));
  ASSIGN_OR_RETURN(const auto store, HistoryStore::OpenExisting(options.history));
  ASSIGN_OR_RETURN(const std::vector<HistoryEntry> entries, store->List(false));
  RETURN_IF_ERROR(CheckNamedValues(selection, entries));
  RETURN_IF_ERROR(FindArtifacts(store.get(), &selection));
  const WallTime now = SystemClock().Now();
  MapUse use(places);
  for (const HistoryEntry& entry : entries) {
    if (!selection.Matches(entry, now)) continue;
    if (Interrupted()) return {};
    ASSIGN_OR_RETURN(const Manifest manifest, store->Get(entry.run_id));
    use.See(manifest);
    RETURN_IF_ERROR(CheckOne(entry.run_id, true, manifest, options, rebuilder, checked));
    if (Interrupted()) return {};  // its questions were cut off
    if (checked->parts.back()) RETURN_IF_ERROR(KeepAnswer(*checked->parts.back(), store.get()));
  }
  if (!use.AllUsed()) LogWarning(UnusedMapsError(use.Unused(), "no selected run").ToString());
  return {};
}

bool NothingFound(const CheckedRecords& checked, std::size_t i) {
  const auto& contradictions = checked.contradictions[i];
  const auto& parts = checked.parts[i];
  return checked.admissions[i].findings.empty() &&
         !(contradictions && !contradictions->outcome.contradictions.empty()) &&
         !(parts && parts->State() != PartState::kHad);
}

std::string TextOf(const CheckedRecords& checked, bool quiet) {
  std::string text;
  for (std::size_t i = 0; i < checked.admissions.size(); ++i) {
    const AdmissionOfOne& one = checked.admissions[i];
    if (checked.listed[i] && !quiet && NothingFound(checked, i)) {
      text += OneLine(one.place + (checked.parts[i] ? ": admitted, had" : ": admitted"));
    }
    text += LinesOf(one, quiet);
    if (checked.contradictions[i]) text += LinesOf(*checked.contradictions[i]);
    if (checked.parts[i]) text += LinesOf(one.place, *checked.parts[i], Globals().verbose);
  }
  return text;
}

template <class T>
std::vector<T> OnlyPresent(const std::vector<std::optional<T>>& all) {
  std::vector<T> present;
  for (const auto& one : all) {
    if (one) present.push_back(*one);
  }
  return present;
}

struct CheckTotals {
  std::size_t refused = 0;
  std::size_t compared = 0;
  std::size_t contradictions = 0;
};

CheckTotals TotalsOf(const CheckedRecords& checked) {
  CheckTotals totals;
  for (const AdmissionOfOne& one : checked.admissions) totals.refused += !one.findings.empty();
  for (const auto& one : checked.contradictions) {
    if (!one) continue;
    totals.compared += one->outcome.compared;
    totals.contradictions += one->outcome.contradictions.size();
  }
  return totals;
}

// Which of two exit codes is worse: a record that cannot be used goes before what it says.
int Worse(int a, int b) {
  constexpr std::array kOrder = {kExitOk, kExitInconclusive, kExitDrift, kExitUsage};
  return std::ranges::find(kOrder, a) < std::ranges::find(kOrder, b) ? b : a;
}

int ExitCodeOfChecks(const CheckedRecords& checked, const RecordCheckOptions& options) {
  const CheckTotals totals = TotalsOf(checked);
  int code = totals.refused > 0 ? kExitUsage : kExitOk;
  if (totals.contradictions > 0) code = Worse(code, kExitDrift);
  if (options.witnesses.Any() && totals.compared == 0) {
    LogWarning(
        "nothing was cross-checked: the log, script or image states nothing that a manifest "
        "states, too");
    code = Worse(code, kExitInconclusive);
  }
  if (checked.admissions.empty()) code = Worse(code, kExitInconclusive);
  return Worse(code, ExitCodeOfParts(OnlyPresent(checked.parts)));
}

void LogTotals(const CheckedRecords& checked) {
  const CheckTotals totals = TotalsOf(checked);
  const std::size_t all = checked.admissions.size();
  std::string text = fmt::format("{} of {} manifests admitted", all - totals.refused, all);
  if (totals.compared > 0) {
    text += fmt::format("; {} cross-checked, {}", Counted(totals.compared, "statement"),
                        Counted(totals.contradictions, "contradiction"));
  }
  const std::string counts = CountsOf(OnlyPresent(checked.parts));
  if (!counts.empty()) text += "; " + counts;
  if (checked.skipped > 0) {
    text += fmt::format("; {} other {} skipped", checked.skipped,
                        checked.skipped == 1 ? "file" : "files");
  }
  LogInfo(text);
}

Json JsonOf(const CheckedRecords& checked, bool available, int exit_code) {
  Json json = Json::MakeObject(
      {{"schema", "rharness.check/v1"},
       {"exit_code", exit_code},
       {"admission", AdmissionJson(checked.admissions, checked.skipped)},
       {"contradictions", ContradictionsJson(OnlyPresent(checked.contradictions))}});
  if (available) json.Set("available", ToJson(OnlyPresent(checked.parts)));
  return json;
}

// Manifests on the command line go before a history that the environment names.
Status ChooseInputs(RecordCheckOptions* options) {
  const char* named = std::getenv("RHARNESS_HISTORY");
  if (!options->paths.empty() && named != nullptr && options->history == named) {
    options->history.clear();
  }
  if (options->paths.empty() == options->history.empty()) {
    return InvalidInput("expected manifests, or a history (--history URL), and not both");
  }
  if (options->history.empty() && !options->select.empty()) {
    return InvalidInput("selects runs of a history; expected --history URL", "--select");
  }
  if (!options->history.empty() && options->witnesses.Any()) {
    return InvalidInput("speak of one run; expected its manifest", "--log, --script, --image");
  }
  if (!options->registry.model.empty() || !options->registry.run.empty()) {
    return InvalidInput("expected --registry URL, where that lies", "--model, --run");
  }
  return {};
}

Result<int> CheckRecords(RecordCheckOptions options) {
  if (!options.registry.server.empty()) {
    if (options.available.asked || options.witnesses.Any()) {
      return InvalidInput(
          "asks a question of its own; expected no --available, --log, --script "
          "or --image beside it",
          "--registry");
    }
    ASSIGN_OR_RETURN(options.registry.history, HistoryAt(options.history));
    return CheckForRegistry(options.registry, options.paths, options.json);
  }
  RETURN_IF_ERROR(ChooseInputs(&options));
  ASSIGN_OR_RETURN(options.history, HistoryAt(options.history));
  ASSIGN_OR_RETURN(RebuildOptions rebuild,
                   RebuildOptionsOf(options.available, options.root, [] { return Interrupted(); }));
  CountInterrupts();
  const Places places = rebuild.places;
  Rebuilder rebuilder(std::move(rebuild));
  CheckedRecords checked;
  RETURN_IF_ERROR(options.history.empty() ? CheckFiles(options, places, &rebuilder, &checked)
                                          : CheckHistory(options, places, &rebuilder, &checked));
  checked.admissions = checked.admission.Finish();
  const int outcome = Interrupted() ? kExitInfrastructure : ExitCodeOfChecks(checked, options);
  const int printed = options.json ? PrintJson(JsonOf(checked, options.available.asked, outcome))
                                   : Print(TextOf(checked, Globals().quiet));
  if (printed != kExitOk) return printed;
  if (checked.admissions.empty()) LogWarning("no run is selected; widen --select");
  if (!Globals().quiet) LogTotals(checked);
  return outcome;
}

void AddCheckInputs(Command* verb, RecordCheckOptions* options) {
  verb->Add("manifests", &options->paths, "Manifests, or folders of them, however deep").Path();
  AddHistoryOption(verb, &options->history,
                   "The runs of this history, which keeps the answers of --available");
  verb->Add("--select", &options->select, "Of these only the runs for which this holds")
      .Value("EXPRESSION");
  verb->Add("--root", &options->root,
            "Where relative locations lie; logs and code files of the record are read there, too")
      .Folder();
  verb->Add("--json", &options->json, "Print one JSON document (rharness.check/v1)");
  verb->Note(
      "Each finding is one line. A note refuses nothing: it says what in a record cannot fail, "
      "such "
      "as a curve that never changes or a margin that lets every value pass. How wide a margin is "
      "for its family is seen where several runs of it are given.");
}

}  // namespace

void AddCheck(Command& root) {
  auto options = std::make_shared<RecordCheckOptions>();
  Command& verb = root.AddVerb(
      "check", "Check records: complete, free of contradictions, still possible to rerun");
  AddCheckInputs(&verb, options.get());
  AddWitnessOptions(&verb, &options->witnesses);
  AddAvailableOptions(&verb, &options->available);
  AddRegistryOptions(&verb, &options->registry);
  verb.ExitCode(kExitOk, "no finding");
  verb.ExitCode(kExitDrift,
                "a contradiction; something is gone; of a registry: the last verdict is drifted");
  verb.ExitCode(kExitUsage, "a manifest is incomplete or cannot be read: goes before 1 and 3");
  verb.ExitCode(kExitInconclusive,
                "it is unknown whether something is available; --log, --script or --image states "
                "nothing that the record states; of a registry: no manifest, never drilled, not "
                "decided, too old, or not readable");
  verb.ExitCode(kExitInfrastructure,
                "the history or the registry's server cannot be used, or it was interrupted");
  verb.ExitCode(
      kExitIntegrity,
      "of a registry: the weights there are not the recorded ones, or the run's retirement "
      "is not as it was signed");
  verb.Example("rharness check runs/*.json");
  verb.Example("rharness check runs/mlflow-3f2a.json --log train.log --script train.py");
  verb.Example("rharness check --available --network --history runs.db --select 'family = mlp'");
  verb.Example(
      "rharness check --registry https://mlflow.example --model digits --version 7 --history "
      "runs.db --max-age 30d");
  verb.Do([options] {
    const auto code = CheckRecords(*options);
    return code.ok() ? *code : FailWith(code.error());
  });
}

}  // namespace rharness
