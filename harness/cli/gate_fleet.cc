// `rharness gate fleet`: the fingerprints of many nodes, and which node is odd.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <memory>
#include <system_error>

#include "harness/base/files.h"
#include "harness/base/log.h"
#include "harness/base/version.h"
#include "harness/cli/document_options.h"
#include "harness/cli/gate_options.h"
#include "harness/cli/outputs.h"
#include "harness/cli/progress_line.h"
#include "reports/fingerprint_report.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostFiles = 100'000;

struct FleetArguments {
  std::string folder;
  DocumentOptions formats;
  bool json = false;
};

// Sorted, so that the answer does not depend on the order in which a folder lists its files.
Result<std::vector<fs::path>> FingerprintsIn(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  fs::recursive_directory_iterator entry(folder, error);
  if (error) return NotFound("cannot read the folder: " + error.message(), folder.string());
  for (const fs::recursive_directory_iterator end; entry != end; entry.increment(error)) {
    if (error) return IoError("cannot read the folder: " + error.message(), folder.string());
    std::error_code ignored;
    std::string extension = entry->path().extension().string();
    std::ranges::transform(extension, extension.begin(),
                           [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    // Linked folders are not followed, and so are nodes that nobody looked at.
    const bool linked = entry->is_symlink(ignored) && !entry->is_regular_file(ignored);
    if (!linked && (extension != ".json" || entry->is_directory(ignored))) continue;
    files.push_back(entry->path());
    if (files.size() > kMostFiles) {
      return InvalidInput(fmt::format("more than {} fingerprints", kMostFiles), folder.string());
    }
  }
  std::ranges::sort(files);
  return files;
}

// The subfolder, which may hold several of one node; else the file. Not the host that made it: many
// containers and virtual machines have one name.
std::string NodeOf(const fs::path& folder, const fs::path& file) {
  const fs::path below = file.lexically_relative(folder);
  return below.has_parent_path() ? below.begin()->string() : file.stem().string();
}

Result<int> Run(const FleetArguments& arguments) {
  ASSIGN_OR_RETURN(const std::vector<fs::path> files, FingerprintsIn(arguments.folder));
  RETURN_IF_ERROR(
      CheckOutputs(FilesOf(arguments.formats), {files.begin(), files.end()}, arguments.json));
  std::vector<FleetMember> members;
  for (const fs::path& file : files) {
    auto fingerprint = LoadFingerprint(file);
    if (!fingerprint.ok()) {
      fingerprint = UnreadableFingerprint(file.string(), fingerprint.error());
    }
    members.push_back({NodeOf(arguments.folder, file), std::move(*fingerprint)});
  }
  const Fleet fleet = CompareFleet(members);
  const Document document = DocumentOf(fleet, kVersion);
  const std::vector<Output> outputs = OutputsOf(arguments.formats, document);
  RETURN_IF_ERROR(WriteFiles(outputs));
  int shown = kExitOk;
  if (arguments.json) {
    shown = PrintJson(ToJson(fleet));
  } else if (const Output* output = OnStdout(outputs)) {
    shown = Print(output->make());
  } else if (!Globals().quiet) {
    shown = Print(WriteTerminal(document, ReportColumns(STDOUT_FILENO), ColorOn(STDOUT_FILENO),
                                ReportRows(STDOUT_FILENO)));
  } else if (fleet.exit_code != kExitOk) {
    LogError(TerminalSafe(fleet.summary));
  }
  return shown == kExitOk ? fleet.exit_code : shown;
}

}  // namespace

void AddGateFleet(Command& gate) {
  auto arguments = std::make_shared<FleetArguments>();
  Command& verb =
      gate.AddVerb("fleet", "Find nodes that compute differently than others of their hardware");
  verb.Add("folder", &arguments->folder,
           "Folder of fingerprints: NODE.json, or NODE/*.json for repeats of one node")
      .Folder()
      .Required();
  verb.Add("--json", &arguments->json, "Print rharness.fleet/v1 instead of text");
  AddDocumentOptions(&verb, &arguments->formats, "an odd node");
  verb.ExitCode(kExitOk, "all nodes of a hardware class compute alike");
  verb.ExitCode(kExitDrift, "some do not");
  verb.ExitCode(kExitUsage, "unreadable folder");
  verb.ExitCode(kExitInconclusive, "nothing to compare, or a fingerprint that shows nothing");
  verb.Example("rharness gate fleet fingerprints/");
  verb.Do([arguments] {
    const auto code = Run(*arguments);
    return code.ok() ? *code : FailWith(code.error());
  });
}

}  // namespace rharness
