// A document's formats as options; see document_options.h.
#include "harness/cli/document_options.h"

#include <fmt/format.h>
#include <unistd.h>

#include "harness/cli/progress_line.h"
#include "harness/cli/verb.h"

namespace rharness {

void AddDocumentOptions(Command* verb, DocumentOptions* options, std::string_view cases) {
  verb->Add("--html", &options->html, "Write a page to this file; - is stdout").File();
  verb->Add("--junit", &options->junit,
            fmt::format("Write JUnit XML, a case {}; - is stdout", cases))
      .File();
  verb->Add("--markdown", &options->markdown, "Write a step summary; - is stdout").File();
}

std::vector<std::string> FilesOf(const DocumentOptions& options, std::vector<std::string> more) {
  more.insert(more.end(), {options.html, options.junit, options.markdown});
  return more;
}

std::vector<Output> OutputsOf(const DocumentOptions& options, const Document& document) {
  return {{options.html, [&document] { return WriteHtml(document); }},
          {options.junit, [&document] { return WriteJunit(document); }},
          {options.markdown, [&document] { return WriteMarkdown(document); }}};
}

std::string ScreenText(const Document& document) {
  return WriteTerminal(document, TextColumns(STDOUT_FILENO), ColorOn(STDOUT_FILENO));
}

}  // namespace rharness
