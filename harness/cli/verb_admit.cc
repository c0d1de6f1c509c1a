// rharness admit: are these manifests complete and consistent? One line a finding.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <vector>

#include "harness/base/files.h"
#include "harness/base/log.h"
#include "harness/cli/verb.h"
#include "harness/manifest/admission.h"

namespace rharness {
namespace {

struct AdmitOptions {
  std::vector<std::string> files;
  bool json = false;
};

struct FileFindings {
  std::string file;
  std::vector<AdmissionFinding> findings;
};

// A file that cannot be read has one finding, at the place where reading ended.
FileFindings CheckFile(const std::string& file) {
  const auto manifest = LoadManifest(file);
  if (manifest.ok()) return {file, Admit(*manifest)};
  std::string_view where = manifest.error().where;
  const std::string prefix = file + ": ";
  where = where.starts_with(prefix) ? where.substr(prefix.size()) : "$";
  return {file, {{"unreadable", std::string(where), manifest.error().message}}};
}

// Names and values come from strangers: none may forge a line of its own.
std::string Line(const std::string& file, const AdmissionFinding& finding) {
  std::string line = TerminalSafe(
      fmt::format("{}: {}: {}: {}", file, finding.path, finding.code, finding.message));
  std::replace(line.begin(), line.end(), '\n', ' ');
  return line + "\n";
}

Json ToJson(const FileFindings& file) {
  Json findings = Json::MakeArray();
  for (const AdmissionFinding& finding : file.findings) {
    findings.Append(Json::MakeObject(
        {{"path", finding.path}, {"code", finding.code}, {"message", finding.message}}));
  }
  return Json::MakeObject({{"file", file.file},
                           {"admitted", file.findings.empty()},
                           {"findings", std::move(findings)}});
}

int PrintFindings(const std::vector<FileFindings>& files, bool json) {
  if (!json) {
    std::string text;
    for (const FileFindings& file : files) {
      for (const AdmissionFinding& finding : file.findings) text += Line(file.file, finding);
    }
    return Print(text);
  }
  Json list = Json::MakeArray();
  for (const FileFindings& file : files) list.Append(ToJson(file));
  return PrintJson(
      Json::MakeObject({{"schema", "rharness.admission/v1"}, {"manifests", std::move(list)}}));
}

int RunAdmit(const AdmitOptions& options) {
  std::vector<FileFindings> files;
  for (const std::string& file : options.files) files.push_back(CheckFile(file));
  if (const int code = PrintFindings(files, options.json); code != kExitOk) return code;
  const auto refused = static_cast<std::size_t>(std::count_if(
      files.begin(), files.end(), [](const FileFindings& file) { return !file.findings.empty(); }));
  if (!Globals().quiet) {
    LogInfo(fmt::format("{} of {} manifests admitted", files.size() - refused, files.size()));
  }
  return refused == 0 ? kExitOk : kExitUsage;
}

}  // namespace

void AddAdmit(CLI::App& app, Action* action) {
  auto options = std::make_shared<AdmitOptions>();
  CLI::App* verb = app.add_subcommand(
      "admit", "Check that manifests are complete and consistent; one line a finding");
  verb->add_option("manifests", options->files, "Manifest files")->required();
  verb->add_flag("--json", options->json, "Print the findings as JSON");
  verb->footer("Exit codes: 0 all admitted, 2 a manifest has findings or cannot be read.");
  verb->callback([options, action] { *action = [options] { return RunAdmit(*options); }; });
}

}  // namespace rharness
