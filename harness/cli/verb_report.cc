// `rharness report`: renders a drill again from its report.json, or a comparison from its JSON;
// --to writes a drill's verdicts back.
//
// Rendering is not judging: the exit code is 0 when everything asked for was written, whatever the
// verdicts in the report are.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "harness/base/files.h"
#include "harness/base/log.h"
#include "harness/base/shell_word.h"
#include "harness/cli/document_options.h"
#include "harness/cli/outputs.h"
#include "harness/cli/progress_line.h"
#include "harness/cli/report_to.h"
#include "harness/cli/verb.h"
#include "harness/insight/publish/ro_crate.h"
#include "reports/comparison_report.h"
#include "reports/metrics.h"
#include "reports/model.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

struct ReportOptions {
  std::string source;
  std::string html;
  std::string junit;
  bool json = false;
  std::string json_file;
  std::string markdown;
  std::string metrics;
  std::string ro_crate;
  bool terminal = false;
  ReportToArguments back;
};

constexpr std::string_view kExpected =
    "expected a drill's folder or its report.json, or the JSON of a comparison";

// The JSON file behind the argument: in a drill's folder it is report.json.
Result<fs::path> PathOf(const std::string& source) {
  std::error_code error;
  if (!fs::exists(source, error)) {
    return NotFound(fmt::format("is not there; {}", kExpected), source);
  }
  if (!fs::is_directory(source, error)) return fs::path(source);
  fs::path path = fs::path(source) / "report.json";
  if (fs::exists(path, error)) return path;
  if (fs::exists(fs::path(source) / "journal.jsonl", error)) {
    return NotFound(fmt::format("a drill that has no report yet; `rharness drill --resume "
                                "--out {}` ends it",
                                ShellWord(source)),
                    source);
  }
  return NotFound(fmt::format("a folder without a report.json; {}", kExpected), source);
}

// "comparison" of "rharness.comparison/v1"; empty where the file does not say.
std::string KindOf(const Json& json) {
  const Json* schema = json.Find("schema");
  if (schema == nullptr || schema->kind() != Json::Kind::kString) return "";
  const std::string& text = schema->AsString();
  constexpr std::string_view kPrefix = "rharness.";
  return text.starts_with(kPrefix) ? text.substr(kPrefix.size(), text.find('/') - kPrefix.size())
                                   : "";
}

template <class Product>
std::string RenderJson(const Product& product) {
  return ToJson(product).Dump(2) + "\n";
}

// The metrics file outlives the drill: what it knew of the last success is kept.
std::string RenderMetrics(const Report& report, const std::string& path) {
  const Result<std::string> previous =
      path == "-" ? Result<std::string>(std::string()) : ReadFile(path, 1 << 20);
  return CarryLastSuccess(WriteMetrics(report), previous.ok() ? *previous : "");
}

template <class Product>
std::vector<Output> OutputsOf(const Product& product, const Document& document,
                              const ReportOptions& options) {
  return {{options.html, [&document] { return WriteHtml(document); }},
          {options.junit, [&document] { return WriteJunit(document); }},
          {options.json ? "-" : "", [&product] { return RenderJson(product); }},
          {options.json_file, [&product] { return RenderJson(product); }},
          {options.markdown, [&document] { return WriteMarkdown(document); }}};
}

// Writes what was asked for, and prints the summary where that was asked for or nothing else was.
int Render(const std::vector<Output>& outputs, const ReportOptions& options,
           const std::function<std::string()>& summary) {
  if (const Status written = WriteFiles(outputs); !written.ok()) return FailWith(written.error());
  if (const Output* output = OnStdout(outputs)) return Print(output->make());
  const bool wrote =
      !options.ro_crate.empty() ||
      std::ranges::any_of(outputs, [](const Output& output) { return !output.path.empty(); });
  return wrote && !options.terminal ? kExitOk : Print(summary());
}

// Beside the drill's folder, whose evidence is copied.
Status MakeCrate(const Report& report, const fs::path& file, const ReportOptions& options) {
  ASSIGN_OR_RETURN(const WrittenCrate written,
                   WriteRoCrate(file.parent_path(), report, options.ro_crate));
  for (const std::string& what : written.left_out) {
    LogWarning(TerminalSafe(fmt::format("not in the crate: {}", what)));
  }
  return {};
}

int RenderDrill(const Report& report, const fs::path& file, const ReportOptions& options) {
  if (!options.ro_crate.empty()) {
    if (const Status made = MakeCrate(report, file, options); !made.ok()) {
      return FailWith(made.error());
    }
  }
  const Document document = DocumentOf(report);
  std::vector<Output> outputs = OutputsOf(report, document, options);
  outputs.push_back({options.metrics, [&] { return RenderMetrics(report, options.metrics); }});
  return Render(outputs, options,
                [&report] { return ScreenText(DocumentOf(report, Globals().verbose)); });
}

int RenderComparison(const ComparisonSet& set, const ReportOptions& options) {
  if (!options.metrics.empty() || !options.ro_crate.empty()) {
    return FailWith(InvalidInput(
        "--metrics and --ro-crate are a drill's; expected a drill's report.json", options.source));
  }
  const Document document = DocumentOf(set);
  return Render(OutputsOf(set, document, options), options, [&document] {
    return WriteTerminal(document, ReportColumns(STDOUT_FILENO), ColorOn(STDOUT_FILENO),
                         ReportRows(STDOUT_FILENO));
  });
}

int RunReport(const ReportOptions& options, const Command& command) {
  if (const Status status = CheckTo(options.back, command); !status.ok()) {
    return FailWith(status.error());
  }
  if (!options.back.to.empty()) {
    const auto code = WriteBack(options.source, options.json, options.json_file, options.back);
    return code.ok() ? *code : FailWith(code.error());
  }
  const Result<fs::path> found = PathOf(options.source);
  if (!found.ok()) return FailWith(found.error());
  const fs::path& path = *found;
  if (options.json && options.terminal) {
    return FailWith(InvalidInput("only one output can go to stdout", "--json, --terminal"));
  }
  const Status usable = CheckOutputs(
      {options.html, options.junit, options.json_file, options.markdown, options.metrics},
      {path.string()}, options.terminal || options.json);
  if (!usable.ok()) return FailWith(usable.error());
  const Result<Json> json = ReadJsonFile(path);
  if (!json.ok()) return FailWith(json.error());
  const std::string kind = KindOf(*json);
  if (kind != "comparison" && kind != "report") {
    const std::string what = kind.empty() ? "JSON of another kind" : "a rharness." + kind;
    return FailWith(InvalidInput(
        fmt::format("is {}; {}", TerminalSafe(what.substr(0, 80)), kExpected), path.string()));
  }
  if (kind == "comparison") {
    const auto set = ParseComparisonSet(*json, path.string());
    return set.ok() ? RenderComparison(*set, options) : FailWith(set.error());
  }
  auto report = ParseReport(*json, path.string());
  if (!report.ok()) return FailWith(report.error());
  SetFolder(&*report, path.parent_path());
  return RenderDrill(*report, path, options);
}

}  // namespace

void AddReport(Command& root) {
  Command& verb = root.AddVerb(
      "report", "Render a drill or a comparison again, or write a drill's verdicts back");
  auto options = std::make_shared<ReportOptions>();
  verb.Add("source", &options->source, "Drill folder, its report.json, or the JSON of a comparison")
      .Path()
      .Required();
  verb.Add("--html", &options->html, "Write the page to this file; - is stdout").File();
  verb.Add("--junit", &options->junit, "Write JUnit XML to this file; - is stdout").File();
  verb.Add("--json", &options->json, "Print the drill's or the comparison's JSON instead of text");
  verb.Add("--json-file", &options->json_file, "Write that JSON to a file as well; - is stdout")
      .File();
  verb.Add("--markdown", &options->markdown, "Write a step summary; - is stdout").File();
  verb.Add("--metrics", &options->metrics, "Write a Prometheus textfile; - is stdout").File();
  verb.Add("--ro-crate", &options->ro_crate,
           "Make an RO-Crate of the drill in this new folder: reruns, data, verdicts and evidence")
      .Folder();
  verb.Add("--terminal", &options->terminal, "Print the summary, beside any files written");
  AddToOptions(&verb, &options->back);
  verb.Note(
      "A crate (RO-Crate 1.1, profile Process Run Crate 0.5) has the evidence, logs and outputs of "
      "every rerun, 64 MiB a file and 1 GiB in all; larger files are named by their hash.");
  verb.Example("rharness report tonight --html page.html --junit junit.xml");
  AddToNotes(&verb);
  verb.Do([options, &verb] { return RunReport(*options, verb); });
}

}  // namespace rharness
