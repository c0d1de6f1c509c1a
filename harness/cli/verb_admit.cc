// rharness admit: are these manifests complete and consistent? One line a finding.
//
// A folder stands for the manifests in it, however deep; there every manifest has a line, so that
// it can be seen which were found.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "harness/base/digest.h"
#include "harness/base/files.h"
#include "harness/base/log.h"
#include "harness/cli/manifest_files.h"
#include "harness/cli/registry_admit.h"
#include "harness/cli/verb.h"
#include "harness/records/manifest/admission.h"
#include "harness/records/manifest/admission_notes.h"
#include "harness/records/manifest/manifest.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

struct AdmitOptions {
  std::vector<std::string> paths;
  bool json = false;
  RegistryArguments registry;
};

struct FileFindings {
  std::string file;
  std::vector<AdmissionFinding> findings;
  std::string run_id = {};  // empty: it could not be read
  std::string sha256 = {};  // of the manifest, in one spelling
  bool in_folder = false;
  std::optional<std::size_t> noted = {};     // which one of Checked::notes
  std::vector<AdmissionFinding> notes = {};  // what refuses nothing
};

// What a command line of files and folders came to.
struct Checked {
  std::vector<FileFindings> files;
  std::size_t skipped = 0;  // files in folders that are no manifests
  std::size_t manifests = 0;
  AdmissionNotes notes;
};

// A file that cannot be read has one finding, at the place where reading ended.
FileFindings CheckFile(const std::string& file, Checked* checked) {
  const auto manifest = LoadManifest(file);
  if (manifest.ok()) {
    checked->notes.Add(*manifest);
    FileFindings found{.file = file, .findings = Admit(*manifest)};
    for (std::size_t i = 0; i < manifest->notes.size(); ++i) {
      const std::string& note = manifest->notes[i];
      if (std::ranges::find(found.findings, note, &AdmissionFinding::message) !=
          found.findings.end()) {
        continue;
      }
      found.notes.push_back({"recorded", fmt::format("$.notes[{}]", i), note});
    }
    found.run_id = manifest->run_id;
    found.sha256 = Sha256HexOf(rharness::ToJson(*manifest).Dump());
    found.noted = checked->manifests++;
    return found;
  }
  std::string_view where = manifest.error().where;
  const std::string prefix = file + ": ";
  where = where.starts_with(prefix) ? where.substr(prefix.size()) : "$";
  return {.file = file, .findings = {{"unreadable", std::string(where), manifest.error().message}}};
}

Status CheckFolder(const std::string& folder, Checked* checked) {
  ASSIGN_OR_RETURN(const ManifestFiles found, FindManifests(folder));
  checked->skipped += found.skipped;
  for (const std::string& file : found.files) {
    checked->files.push_back(CheckFile(file, checked));
    checked->files.back().in_folder = true;
  }
  return {};
}

// Two runs of one name cannot both go into a history.
void FindTwins(std::vector<FileFindings>* files) {
  std::map<std::string, const FileFindings*> first;
  for (FileFindings& file : *files) {
    if (file.run_id.empty()) continue;
    const auto [twin, is_new] = first.emplace(file.run_id, &file);
    if (is_new || twin->second->sha256 == file.sha256) continue;
    file.findings.push_back({"duplicate_run_id", "$.run_id",
                             fmt::format("'{}' is that of {}, too, which is another run; expected "
                                         "each once",
                                         file.run_id, twin->second->file)});
  }
}

// Names and values come from strangers: none may forge a line of its own.
std::string Line(const std::string& file, const AdmissionFinding& finding, const char* note = "") {
  std::string line = TerminalSafe(
      fmt::format("{}: {}{}: {}: {}", file, note, finding.path, finding.code, finding.message));
  std::replace(line.begin(), line.end(), '\n', ' ');
  return line + "\n";
}

Json ToJson(const std::vector<AdmissionFinding>& findings) {
  Json list = Json::MakeArray();
  for (const AdmissionFinding& finding : findings) {
    list.Append(Json::MakeObject(
        {{"path", finding.path}, {"code", finding.code}, {"message", finding.message}}));
  }
  return list;
}

Json ToJson(const FileFindings& file) {
  return Json::MakeObject({{"file", file.file},
                           {"admitted", file.findings.empty()},
                           {"findings", ToJson(file.findings)},
                           {"notes", ToJson(file.notes)}});
}

// What is admitted has a line only where it was found in a folder.
std::string LinesOf(const FileFindings& file) {
  std::string text;
  for (const AdmissionFinding& finding : file.findings) text += Line(file.file, finding);
  if (Globals().quiet) return text;
  if (file.findings.empty() && file.in_folder) {
    text = TerminalSafe(file.file);
    std::replace(text.begin(), text.end(), '\n', ' ');
    text += ": admitted\n";
  }
  for (const AdmissionFinding& note : file.notes) text += Line(file.file, note, "note: ");
  return text;
}

int PrintFindings(const Checked& checked, bool json) {
  if (!json) {
    std::string text;
    for (const FileFindings& file : checked.files) text += LinesOf(file);
    return Print(text);
  }
  Json list = Json::MakeArray();
  for (const FileFindings& file : checked.files) list.Append(ToJson(file));
  return PrintJson(Json::MakeObject({{"schema", "rharness.admission/v1"},
                                     {"manifests", std::move(list)},
                                     {"skipped_files", checked.skipped}}));
}

Result<Checked> CheckAll(const std::vector<std::string>& paths) {
  Checked checked;
  for (const std::string& path : paths) {
    std::error_code error;
    if (fs::is_directory(path, error)) {
      RETURN_IF_ERROR(CheckFolder(path, &checked));
    } else {
      checked.files.push_back(CheckFile(path, &checked));
    }
  }
  FindTwins(&checked.files);
  for (FileFindings& file : checked.files) {
    if (file.noted)
      std::ranges::move(checked.notes.Of(*file.noted), std::back_inserter(file.notes));
  }
  return checked;
}

int RunAdmit(const AdmitOptions& options) {
  if (!options.registry.server.empty()) {
    return AdmitToRegistry(options.registry, options.paths, options.json);
  }
  if (options.paths.empty()) {
    return FailWith(InvalidInput("expected manifests, or folders of them, or --registry"));
  }
  if (!options.registry.model.empty() || !options.registry.run.empty()) {
    return FailWith(InvalidInput("expected --registry URL, where that lies", "--model, --run"));
  }
  const Result<Checked> checked = CheckAll(options.paths);
  if (!checked.ok()) return FailWith(checked.error());
  if (const int code = PrintFindings(*checked, options.json); code != kExitOk) return code;
  const std::size_t all = checked->files.size();
  const auto refused = static_cast<std::size_t>(std::ranges::count_if(
      checked->files, [](const FileFindings& file) { return !file.findings.empty(); }));
  if (!Globals().quiet) {
    const std::string skipped = checked->skipped == 0
                                    ? ""
                                    : fmt::format("; {} other {} skipped", checked->skipped,
                                                  checked->skipped == 1 ? "file" : "files");
    LogInfo(fmt::format("{} of {} manifests admitted{}", all - refused, all, skipped));
  }
  return refused == 0 ? kExitOk : kExitUsage;
}

}  // namespace

void AddAdmit(Command& root) {
  auto options = std::make_shared<AdmitOptions>();
  Command& verb = root.AddVerb("admit", "Check that manifests are complete and consistent");
  verb.Add("manifests", &options->paths, "Manifests, or folders of them, however deep").Path();
  verb.Add("--json", &options->json, "Print the findings as JSON");
  AddRegistryOptions(&verb, &options->registry);
  verb.Note(
      "A note refuses nothing: it says what in a record cannot fail, such as a curve that never "
      "changes or a margin that lets every value pass. How wide a margin is for its family is seen "
      "where several runs of it are given.");
  verb.ExitCode(kExitOk, "all admitted");
  verb.ExitCode(kExitDrift, "of a registry: the last verdict is drifted");
  verb.ExitCode(kExitUsage, "a manifest has findings or cannot be read");
  verb.ExitCode(kExitInconclusive,
                "of a registry: no manifest, never drilled, not decided, too old, or not readable");
  verb.ExitCode(kExitInfrastructure, "of a registry: the server or the history cannot be asked");
  verb.ExitCode(
      kExitIntegrity,
      "of a registry: the weights there are not the recorded ones, or the run's retirement "
      "is not as it was signed");
  verb.Example("rharness admit runs/*.json");
  verb.Example(
      "rharness admit --registry https://mlflow.example --model digits --version 7 --history "
      "runs.db --max-age 30");
  verb.Do([options] { return RunAdmit(*options); });
}

}  // namespace rharness
