// The formats of a document as options: --html, --junit, --markdown.
#ifndef RHARNESS_HARNESS_CLI_DOCUMENT_OPTIONS_H_
#define RHARNESS_HARNESS_CLI_DOCUMENT_OPTIONS_H_

#include <string>
#include <string_view>
#include <vector>

#include "harness/cli/command.h"
#include "harness/cli/outputs.h"
#include "reports/document.h"

namespace rharness {

// Files; empty: not asked for; "-": stdout.
struct DocumentOptions {
  std::string html;
  std::string junit;
  std::string markdown;
};

// `cases`: what a case of JUnit stands for, "a probe".
void AddDocumentOptions(Command* verb, DocumentOptions* options, std::string_view cases);
// These and `more`, for CheckOutputs.
std::vector<std::string> FilesOf(const DocumentOptions& options,
                                 std::vector<std::string> more = {});
// `document` must outlive the result.
std::vector<Output> OutputsOf(const DocumentOptions& options, const Document& document);
// For the terminal that stdout is: its width, its colours.
std::string ScreenText(const Document& document);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_CLI_DOCUMENT_OPTIONS_H_
