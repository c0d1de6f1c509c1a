// rharness documents: writes the manual pages, the completion and the schemas, for whoever installs
// or packages.
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <vector>

#include "harness/base/clock.h"
#include "harness/base/files.h"
#include "harness/base/version.h"
#include "harness/cli/audit_schemas.h"
#include "harness/cli/completion.h"
#include "harness/cli/guide_files.h"
#include "harness/cli/guide_page.h"
#include "harness/cli/manual.h"
#include "harness/cli/policy_check.h"
#include "harness/cli/verb.h"
#include "harness/execution/rerun/ticket_schema.h"
#include "harness/records/manifest/record_schemas.h"
#include "harness/trust/attestation/statement_schemas.h"
#include "reports/schemas.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

struct DocumentsOptions {
  fs::path man;
  fs::path completion;
  fs::path schemas;
};

// What parses adds these to every command, or to the program.
std::vector<OptionFacts> ProgramOptions() {
  static bool flag = false;
  static std::string file;
  return {Option("-h,--help", &flag, "Print help and exit").facts(),
          Option("--version", &flag, "Print the version and exit").facts(),
          Option("--config", &file, "Read options from this file; see CONFIGURATION")
              .File()
              .Env("RHARNESS_CONFIG")
              .facts()};
}

// Of SOURCE_DATE_EPOCH, so that pages can be built alike twice; empty without it.
// Source: reproducible-builds.org/specs/source-date-epoch.
std::string Date() {
  const char* text = std::getenv("SOURCE_DATE_EPOCH");
  if (text == nullptr || *text == '\0') return "";
  const WallTime time{std::chrono::seconds(std::strtoll(text, nullptr, 10))};
  return FormatTime(time).substr(0, 10);
}

Status WriteTo(const fs::path& folder, const std::string& name, const std::string& text) {
  RETURN_IF_ERROR(MakeDirectories(folder));
  return WriteFileAtomic(folder / name, text);
}

std::vector<std::string> GuidePages() {
  std::vector<std::string> pages;
  for (const auto& [name, text] : kGuideFiles) pages.push_back(GuidePageName(name));
  return pages;
}

Status WriteManual(const Command& root, const fs::path& folder) {
  const ManualFacts facts = {.version = kVersion,
                             .date = Date(),
                             .program_options = ProgramOptions(),
                             .topics = HelpTopics(root),
                             .guide_pages = GuidePages()};
  RETURN_IF_ERROR(WriteTo(folder, root.name() + ".1", ProgramPage(root, facts)));
  for (const auto& verb : root.verbs()) {
    if (verb->hidden()) continue;
    RETURN_IF_ERROR(WriteTo(folder, fmt::format("{}-{}.1", root.name(), verb->name()),
                            VerbPage(root, *verb, facts)));
  }
  std::vector<std::string> guides;
  for (const auto& [name, text] : kGuideFiles) guides.emplace_back(name);
  for (const auto& [name, text] : kGuideFiles) {
    RETURN_IF_ERROR(
        WriteTo(folder, GuidePageName(name) + ".7", GuidePage(name, text, guides, facts)));
  }
  return {};
}

// In folders named as those below the share/ of a system.
Status WriteCompletion(const Command& root, const fs::path& folder) {
  const std::vector<OptionFacts> options = ProgramOptions();
  RETURN_IF_ERROR(WriteTo(folder / "bash-completion" / "completions", root.name(),
                          BashCompletion(root, options)));
  RETURN_IF_ERROR(
      WriteTo(folder / "zsh" / "site-functions", "_" + root.name(), ZshCompletion(root, options)));
  return WriteTo(folder / "fish" / "vendor_completions.d", root.name() + ".fish",
                 FishCompletion(root, options));
}

Status WriteSchemas(const fs::path& folder) {
  const std::vector<NamedSchema> others = {{"policy_check", PolicyCheckSchema},
                                           {"ticket", TicketSchema}};
  for (const auto& schemas :
       {ReportSchemas(), RecordSchemas(), AuditSchemas(), StatementSchemas(), others}) {
    for (const NamedSchema& schema : schemas) {
      RETURN_IF_ERROR(WriteTo(folder, fmt::format("{}.schema.json", schema.name),
                              schema.build().Dump(2) + "\n"));
    }
  }
  return {};
}

Status WriteDocuments(const Command& root, const DocumentsOptions& options) {
  if (options.man.empty() && options.completion.empty() && options.schemas.empty()) {
    return InvalidInput("expected --documentation DIR, --completion DIR or --schemas DIR",
                        "rharness documents");
  }
  if (!options.man.empty()) RETURN_IF_ERROR(WriteManual(root, options.man));
  if (!options.completion.empty()) RETURN_IF_ERROR(WriteCompletion(root, options.completion));
  if (!options.schemas.empty()) RETURN_IF_ERROR(WriteSchemas(options.schemas));
  return {};
}

}  // namespace

void AddDocuments(Command& root) {
  auto options = std::make_shared<DocumentsOptions>();
  Command& verb =
      root.AddVerb("documents", "Write the manual pages, the completion and the schemas");
  verb.Hide();
  verb.Add("--documentation", &options->man, "Folder of the pages").Folder();
  verb.Add("--completion", &options->completion,
           "Folder such as share/, in which each shell has its own")
      .Folder();
  verb.Add("--schemas", &options->schemas, "Folder of the JSON Schemas").Folder();
  verb.Do([options, &root] {
    const Status written = WriteDocuments(root, *options);
    return written.ok() ? kExitOk : FailWith(written.error());
  });
}

}  // namespace rharness
