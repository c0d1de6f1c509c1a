// rharness explain: what a finding's code means, and what to do.
#include <fmt/format.h>
#include <unistd.h>

#include <memory>
#include <string_view>
#include <system_error>

#include "harness/base/files.h"
#include "harness/base/progress.h"
#include "harness/base/version.h"
#include "harness/cli/outputs.h"
#include "harness/cli/progress_line.h"
#include "harness/cli/verb.h"
#include "harness/insight/incident/runbook.h"
#include "reports/terminal_parts.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

struct ExplainArguments {
  std::vector<std::string> codes;
  std::string out;
  std::string format = "html";
  bool json = false;
};

std::string ListText(const std::vector<RunbookPage>& pages, int columns) {
  std::string text, area;
  for (const RunbookPage& page : pages) {
    if (page.area != area) text += fmt::format("{}{}\n", area.empty() ? "" : "\n", page.area);
    area = page.area;
    text += Wrapped(fmt::format("{}: {}", page.code, RunbookTitle(page)), columns, 2);
  }
  return text;
}

std::string PageText(const RunbookPage& page, int columns) {
  std::string text = fmt::format("{} ({})\n", page.code, page.area);
  for (const auto& [part, words] : page.parts) {
    text += "\n" + Wrapped(fmt::format("{}: {}", part, words), columns);
  }
  return text;
}

Status WritePages(const std::vector<RunbookPage>& pages, const ExplainArguments& arguments) {
  const fs::path out = arguments.out;
  const bool html = arguments.format == "html";
  std::error_code error;
  const bool index = arguments.codes.empty() || fs::exists(out / "index.html", error);
  const std::string_view back = index ? "All codes" : "";
  for (const RunbookPage& page : pages) {
    RETURN_IF_ERROR(
        WriteFileAtomic(html ? out / page.code / "index.html" : out / (page.code + ".md"),
                        html ? WriteHtml(page, kVersion, back) : WriteMarkdown(page, kVersion)));
  }
  // Of some pages alone it would take the place of that of all.
  if (!html || !arguments.codes.empty()) return {};
  return WriteFileAtomic(out / "index.html", WriteRunbookIndex(pages, kVersion));
}

Result<int> Explain(const ExplainArguments& arguments) {
  std::vector<RunbookPage> pages;
  for (const std::string& code : arguments.codes) {
    const RunbookPage* page = FindRunbookPage(code);
    if (page == nullptr) {
      return NotFound(fmt::format("the runbook has no page of '{}'; `rharness explain` lists them",
                                  TerminalSafe(code)),
                      "rharness explain");
    }
    pages.push_back(*page);
  }
  if (arguments.codes.empty()) pages = RunbookPages();
  if (!arguments.out.empty()) RETURN_IF_ERROR(WritePages(pages, arguments));
  if (arguments.json) return PrintJson(ToJson(pages, kVersion));
  if (!arguments.out.empty()) return kExitOk;
  const int columns = TextColumns(STDOUT_FILENO);
  if (arguments.codes.empty()) return Print(ListText(pages, columns));
  std::string text;
  for (const RunbookPage& page : pages)
    text += (text.empty() ? "" : "\n") + PageText(page, columns);
  return Print(text);
}

}  // namespace

void AddExplain(Command& root) {
  auto arguments = std::make_shared<ExplainArguments>();
  Command& verb = root.AddVerb("explain", "Explain the code of a finding, reason or alert");
  verb.Describe(
      "Lists the codes that findings of verdicts, admission and comparisons, reasons of the gate "
      "and alerts can have, or shows their pages: what it means, how to check, likely causes by "
      "layer, what to do, and which command next.");
  verb.Add("CODE", &arguments->codes, "Show these pages (default: list all)");
  verb.Add("--out", &arguments->out,
           "Write the pages into this folder: CODE/index.html, or CODE.md; where no CODE is given, "
           "an "
           "index.html of all, too")
      .Folder()
      .NotEmpty();
  verb.Add("--format", &arguments->format, "Of --out").Choices({"html", "markdown"}).ShowDefault();
  verb.Add("--json", &arguments->json, "Print rharness.runbook/v1 instead of text");
  verb.Note(
      "The pages are of this version of rharness. Put them where people look, and give their "
      "address to `rharness slo rules --runbooks URL`: an alert links to URL/ALERT, where its page "
      "is.");
  verb.ExitCode(kExitOk, "shown or written");
  verb.ExitCode(kExitUsage, "usage, or a code without a page");
  verb.ExitCode(kExitInfrastructure, "it could not be done: a file, the network or the machine");
  verb.Example("rharness explain determinism_violation");
  verb.Example("rharness explain --out /srv/www/runbook");
  verb.Do([arguments, &verb] {
    if (verb.Given("--format") && arguments->out.empty()) {
      return FailWith(InvalidInput("is of --out, which is not given", "--format"));
    }
    const auto code = Explain(*arguments);
    return code.ok() ? *code : FailWith(code.error());
  });
}

}  // namespace rharness
