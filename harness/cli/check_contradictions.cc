// What a record says in two places, as `rharness check` holds it together.
#include "harness/cli/check_contradictions.h"

#include <fmt/format.h>

#include <cstdint>
#include <filesystem>
#include <iterator>
#include <set>
#include <system_error>
#include <utility>

#include "harness/base/digest.h"
#include "harness/base/files.h"
#include "harness/base/log.h"
#include "harness/cli/check_admission.h"
#include "harness/cli/verb.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMostLogBytes = std::uint64_t{256} << 20;
constexpr std::uint64_t kMostScriptBytes = std::uint64_t{16} << 20;

// Everything that is said of a run, and which places were read.
struct Said {
  std::vector<Statement> statements;
  std::vector<std::string> places;

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

// Where a path of the manifest lies below --root. Empty: not there, or it leaves that folder.
fs::path Below(const std::string& root, const fs::path& path) {
  if (path.is_absolute()) return {};
  const auto found = ResolveBelow(root, path);
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

}  // namespace

Result<ContradictionsOfOne> FindContradictionsOf(const std::string& place, const Manifest& manifest,
                                                 const WitnessArguments& arguments,
                                                 const std::string& root) {
  Said said;
  said.Add(StatementsOf(manifest), place);
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
  if (!root.empty()) RETURN_IF_ERROR(ReadRecorded(manifest, root, subjects, &said));
  return ContradictionsOfOne{.place = place,
                             .read = std::move(said.places),
                             .outcome = FindContradictions(said.statements)};
}

void AddWitnessOptions(Command* verb, WitnessArguments* arguments) {
  verb->Heading("Other statements about one run");
  verb->Add("--log", &arguments->logs, "Logs that it wrote; repeatable").OneEach().File();
  verb->Add("--script", &arguments->scripts, "Python scripts that ran; repeatable")
      .OneEach()
      .File();
  verb->Add("--image", &arguments->inspection,
            "What `podman image inspect` or `docker image inspect` prints of its image")
      .File();
  verb->Note(
      "Statements about seeds, batch sizes, learning rates, steps, epochs, devices, versions, "
      "environment variables and the hyperparameters of the manifest must agree wherever they "
      "stand. A global batch size is that of a device times devices times accumulation. With "
      "--root, logs and code files that the manifest names are read below that folder, code "
      "files only if they are as recorded. A name with several values in one log is a "
      "measurement; a constant in a script counts where it is assigned as one.");
}

std::string LinesOf(const ContradictionsOfOne& one) {
  std::string text;
  for (const Contradiction& contradiction : one.outcome.contradictions) {
    text += OneLine(fmt::format("{}: contradiction: {}", one.place, contradiction.sentence));
  }
  return text;
}

Json ContradictionsJson(const std::vector<ContradictionsOfOne>& all) {
  Json runs = Json::MakeArray();
  for (const ContradictionsOfOne& one : all) {
    Json list = Json::MakeArray();
    for (const Contradiction& found : one.outcome.contradictions) {
      list.Append(Json::MakeObject({{"subject", found.subject},
                                    {"value", found.statement.value},
                                    {"place", found.statement.place},
                                    {"other_value", found.against.value},
                                    {"other_place", found.against.place},
                                    {"sentence", found.sentence}}));
    }
    Json places = Json::MakeArray();
    for (const std::string& place : one.read) places.Append(place);
    runs.Append(Json::MakeObject({{"file", one.place},
                                  {"read", std::move(places)},
                                  {"compared", one.outcome.compared},
                                  {"contradictions", std::move(list)}}));
  }
  return Json::MakeObject({{"schema", "rharness.lint/v2"}, {"manifests", std::move(runs)}});
}

}  // namespace rharness
