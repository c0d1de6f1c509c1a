// `rharness report`: renders a drill again from its report.json.
//
// Rendering is not judging: the exit code is 0 when everything asked for was written, whatever the
// verdicts in the report are.
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <array>
#include <filesystem>

#include "harness/base/files.h"
#include "harness/cli/verb.h"
#include "reports/metrics.h"
#include "reports/model.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

struct ReportOptions {
  std::string source;
  std::string html;
  std::string junit;
  std::string json;
  std::string markdown;
  std::string metrics;
  bool terminal = false;
};

constexpr int kPipeColumns = 100;  // when stdout is no terminal

int Columns() {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return kPipeColumns;
}

Result<Report> LoadReport(const std::string& source) {
  fs::path path = source;
  std::error_code error;
  if (fs::is_directory(path, error)) path /= "report.json";
  ASSIGN_OR_RETURN(const Json json, ReadJsonFile(path));
  return ParseReport(json, path.string());
}

std::string RenderJson(const Report& report) { return ToJson(report).Dump(2) + "\n"; }

// The metrics file outlives the drill: what it knew of the last success is kept.
std::string RenderMetrics(const Report& report, const std::string& path) {
  const Result<std::string> previous =
      path == "-" ? Result<std::string>(std::string()) : ReadFile(path, 1 << 20);
  return CarryLastSuccess(WriteMetrics(report), previous.ok() ? *previous : "");
}

int WriteTo(const std::string& path, const std::string& text) {
  if (path == "-") return Print(text);
  const Status written = WriteFileAtomic(path, text);
  return written.ok() ? kExitOk : FailWith(written.error());
}

// stdout carries one thing; two would run into each other.
int StdoutUses(const ReportOptions& options) {
  int uses = options.terminal ? 1 : 0;
  for (const std::string* path :
       {&options.html, &options.junit, &options.json, &options.markdown, &options.metrics}) {
    if (*path == "-") ++uses;
  }
  return uses;
}

int RenderAll(const Report& report, const ReportOptions& options) {
  struct Output {
    const std::string& path;
    std::string (*write)(const Report&);
  };
  const std::array<Output, 4> outputs = {{{options.html, WriteHtml},
                                          {options.junit, WriteJunit},
                                          {options.json, RenderJson},
                                          {options.markdown, WriteMarkdown}}};
  bool wrote = false;
  for (const Output& output : outputs) {
    if (output.path.empty()) continue;
    if (const int code = WriteTo(output.path, output.write(report)); code != kExitOk) return code;
    wrote = true;
  }
  if (!options.metrics.empty()) {
    const int code = WriteTo(options.metrics, RenderMetrics(report, options.metrics));
    if (code != kExitOk) return code;
    wrote = true;
  }
  if (wrote && !options.terminal) return kExitOk;
  return Print(WriteTerminal(report, Columns(), ColorOn(STDOUT_FILENO)));
}

int RunReport(const ReportOptions& options) {
  if (StdoutUses(options) > 1) {
    return FailWith(InvalidInput("only one output can go to stdout", "rharness report"));
  }
  const Result<Report> report = LoadReport(options.source);
  if (!report.ok()) return FailWith(report.error());
  return RenderAll(*report, options);
}

}  // namespace

void AddReport(CLI::App& app, Action* action) {
  auto* verb = app.add_subcommand("report", "Renders a drill again from its report.json");
  auto options = std::make_shared<ReportOptions>();
  verb->add_option("source", options->source, "Drill folder, or its report.json")->required();
  verb->add_option("--html", options->html, "Write the page to this file; - is stdout");
  verb->add_option("--junit", options->junit, "Write JUnit XML to this file; - is stdout");
  verb->add_option("--json", options->json, "Write report.json to this file; - is stdout");
  verb->add_option("--markdown", options->markdown, "Write a step summary; - is stdout");
  verb->add_option("--metrics", options->metrics, "Write a Prometheus textfile; - is stdout");
  verb->add_flag("--terminal", options->terminal, "Print the summary, beside any files written");
  verb->callback([options, action] { *action = [options] { return RunReport(*options); }; });
}

}  // namespace rharness
