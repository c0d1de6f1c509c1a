// rharness lint: does a run's record contradict itself?
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include "harness/base/digest.h"
#include "harness/base/files.h"
#include "harness/base/log.h"
#include "harness/cli/verb.h"
#include "harness/records/lint/contradictions.h"
#include "harness/records/manifest/admission_notes.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMostLogBytes = std::uint64_t{256} << 20;
constexpr std::uint64_t kMostScriptBytes = std::uint64_t{16} << 20;

struct LintArguments {
  std::string manifest;
  std::vector<std::string> logs;
  std::vector<std::string> scripts;
  std::string inspection;
  std::string root;
  bool json = false;
};

// Everything that is said of a run, and which places were read.
struct Said {
  std::vector<Statement> statements;
  std::vector<std::string> places;
  std::vector<AdmissionFinding> notes;  // what in the manifest cannot fail

  void Add(std::vector<Statement> more, std::string place) {
    places.push_back(std::move(place));
    statements.insert(statements.end(), std::make_move_iterator(more.begin()),
                      std::make_move_iterator(more.end()));
  }
};

Status ReadScript(const std::string& file, const std::set<std::string>& subjects, Said* said) {
  ASSIGN_OR_RETURN(const std::string text, ReadFile(file, kMostScriptBytes));
  said->Add(StatementsOfScript(text, file, subjects), file);
  return {};
}

Status ReadLog(const std::string& file, const std::set<std::string>& subjects, Said* said) {
  ASSIGN_OR_RETURN(const std::string text, ReadFile(file, kMostLogBytes));
  said->Add(StatementsOfLog(text, file, subjects), file);
  return {};
}

// Where a path of the manifest lies: below --root, or the current folder. Empty: not there, or it
// leaves that folder.
fs::path Below(const std::string& root, const fs::path& path) {
  if (path.is_absolute()) return {};
  const auto found = ResolveBelow(root.empty() ? "." : root, path);
  std::error_code error;
  return found.ok() && fs::is_regular_file(*found, error) ? *found : fs::path();
}

bool IsScript(const fs::path& path) { return path.extension() == ".py"; }

// The scripts and logs that the manifest names, where they lie below --root and are what they were.
Status ReadRecorded(const Manifest& manifest, const std::string& root,
                    const std::set<std::string>& subjects, Said* said) {
  const std::string& repository = manifest.code.repository;
  for (const CodeFile& file : manifest.code.files) {
    if (!IsScript(file.path)) continue;
    const bool folder = !repository.empty() && repository.find(':') == repository.npos;
    const fs::path path =
        Below(root, folder ? fs::path(repository) / file.path : fs::path(file.path));
    if (path.empty()) continue;
    const auto digest = HashFile(path);
    if (!digest.ok() || digest->sha256 != file.sha256) {
      LogWarning(TerminalSafe(
          fmt::format("{}: is not the recorded file any more, and was not read", path.string())));
      continue;
    }
    RETURN_IF_ERROR(ReadScript(path.string(), subjects, said));
  }
  for (const Artifact& artifact : manifest.artifacts) {
    if (artifact.role != "log" || artifact.location.empty()) continue;
    const fs::path path = Below(root, artifact.location);
    if (!path.empty()) RETURN_IF_ERROR(ReadLog(path.string(), subjects, said));
  }
  return {};
}

Result<Said> ReadAll(const LintArguments& arguments) {
  Said said;
  ASSIGN_OR_RETURN(const Manifest manifest, LoadManifest(arguments.manifest));
  said.notes = NotesOnAdmission(manifest);
  said.Add(StatementsOf(manifest), arguments.manifest);
  said.Add(StatementsOfCommand(manifest.command), "its command");
  said.Add(StatementsOfImage(manifest.image), "its image");
  if (!arguments.inspection.empty()) {
    ASSIGN_OR_RETURN(const Json json, ReadJsonFile(arguments.inspection));
    said.Add(StatementsOfInspection(json, arguments.inspection), arguments.inspection);
  }
  const std::set<std::string> subjects = SubjectsOf(said.statements);
  for (const std::string& file : arguments.scripts) {
    RETURN_IF_ERROR(ReadScript(file, subjects, &said));
  }
  for (const std::string& file : arguments.logs) RETURN_IF_ERROR(ReadLog(file, subjects, &said));
  RETURN_IF_ERROR(ReadRecorded(manifest, arguments.root, subjects, &said));
  return said;
}

Json JsonOf(const LintOutcome& outcome, const Said& said) {
  Json list = Json::MakeArray();
  for (const Contradiction& one : outcome.contradictions) {
    list.Append(Json::MakeObject({{"subject", one.subject},
                                  {"value", one.statement.value},
                                  {"place", one.statement.place},
                                  {"other_value", one.against.value},
                                  {"other_place", one.against.place},
                                  {"sentence", one.sentence}}));
  }
  Json places = Json::MakeArray();
  for (const std::string& place : said.places) places.Append(place);
  Json notes = Json::MakeArray();
  for (const AdmissionFinding& note : said.notes) {
    notes.Append(
        Json::MakeObject({{"path", note.path}, {"code", note.code}, {"message", note.message}}));
  }
  return Json::MakeObject({{"schema", "rharness.lint/v1"},
                           {"read", std::move(places)},
                           {"compared", outcome.compared},
                           {"contradictions", std::move(list)},
                           {"notes", std::move(notes)}});
}

std::string TextOf(const LintOutcome& outcome, const Said& said, const LintArguments& arguments) {
  std::string text;
  for (const Contradiction& one : outcome.contradictions) text += one.sentence + "\n";
  for (const AdmissionFinding& note : said.notes) {
    text += fmt::format("{}: note: {}: {}: {}\n", arguments.manifest, note.path, note.code,
                        note.message);
  }
  const std::size_t found = outcome.contradictions.size();
  text += fmt::format("{}: {} {} were said in two places, {} {}\n", arguments.manifest,
                      outcome.compared, outcome.compared == 1 ? "thing" : "things", found,
                      found == 1 ? "contradiction" : "contradictions");
  return TerminalSafe(text);
}

int RunLint(const LintArguments& arguments) {
  const auto said = ReadAll(arguments);
  if (!said.ok()) return FailWith(said.error());
  const LintOutcome outcome = FindContradictions(said->statements);
  const bool clean = outcome.contradictions.empty();
  int code = kExitOk;
  if (arguments.json) {
    code = PrintJson(JsonOf(outcome, *said));
  } else if (!Globals().quiet || !clean) {
    code = Print(TextOf(outcome, *said, arguments));
  }
  if (code != kExitOk) return code;
  if (!clean) return kExitDrift;
  if (outcome.compared > 0) return kExitOk;
  LogWarning(
      "nothing is said in two places, so that nothing was checked; --log and --script name "
      "more");
  return kExitInconclusive;
}

}  // namespace

void AddLint(Command& root) {
  auto options = std::make_shared<LintArguments>();
  Command& verb = root.AddVerb("lint", "Check a manifest against its log, script and image");
  verb.Add("manifest", &options->manifest, "The manifest").File().Required();
  verb.Add("--log", &options->logs, "Logs that the run wrote; repeatable").OneEach().File();
  verb.Add("--script", &options->scripts, "Python scripts that ran; repeatable").OneEach().File();
  verb.Add("--image-inspect", &options->inspection,
           "What `podman image inspect` or `docker image inspect` prints of its image")
      .File();
  verb.Add("--root", &options->root, "Folder below which the manifest's own files lie").Folder();
  verb.Add("--json", &options->json, "Print the outcome as JSON");
  verb.Note(
      "Seeds, batch sizes, learning rates, steps, epochs, devices, versions, environment variables "
      "and whatever hyperparameters the manifest has: what two places say of one must be the same, "
      "and a global batch size is that of a device times devices times accumulation. Logs and code "
      "files that the manifest names are read where they lie below --root, code files only as they "
      "were recorded. A name that has several values in one log is a measurement, and a constant "
      "in a script counts where it is written as one.");
  verb.Note("Notes say what in the manifest cannot fail, and change no exit code.");
  verb.ExitCode(kExitOk, "no contradiction");
  verb.ExitCode(kExitDrift, "contradictions, each with both places");
  verb.ExitCode(kExitInconclusive, "nothing is said in two places");
  verb.Example("rharness lint runs/mlflow-3f2a.json --log train.log --script train.py");
  verb.Do([options] { return RunLint(*options); });
}

}  // namespace rharness
