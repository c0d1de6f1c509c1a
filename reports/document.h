// A report as a small model: headline, facts, lists, tables, pictures, with one renderer per
// format.
//
// Role: a noun of reports/ becomes a Document (DocumentOf, beside the noun), and the renderers lay
// it out as a page, for a terminal, as Markdown and as JUnit, so that every report has every
// format. Texts are untrusted: the renderers make them safe and keep the limits of their format.
// JSON is the noun's own.
#ifndef RHARNESS_REPORTS_DOCUMENT_H_
#define RHARNESS_REPORTS_DOCUMENT_H_

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/base/clock.h"
#include "harness/base/result.h"
#include "harness/verdict/verdict.h"
#include "reports/document_section.h"

namespace rharness {

struct Document {
  std::string name;   // "isolation": of NAME.html and NAME.json, and of the suite
  std::string about;  // "Isolation of np-1"
  std::string version;
  WallTime made{};  // or of the newest of what it shows; the epoch: not known
  Verdict tone = Verdict::kInconclusive;
  std::string headline;
  std::string next;
  std::vector<std::string> notes;
  std::map<std::string, int> counts;  // by verdict name, of what `counted` names; empty: not shown
  std::string counted;                // "run"
  DocumentFacts facts;
  std::vector<DocumentSection> sections;
  std::vector<DocumentSection> cases;  // rows that are cases of JUnit, and shown nowhere else
  std::string record;                  // where all of it is; empty: NAME.json
  std::optional<Verdict> verdict;      // of one thing: a badge beside the headline
  std::string unanswered;              // the case that fails where no other says why; empty: NAME
  DocumentFacts properties;            // further ones of JUnit's suite
  double seconds = 0.0;                // that it took; not above 0: not known
  bool answer_last = false;            // on a terminal, where a long table leaves the reader
  // All that a terminal shows below counts and headline, in at most nine lines; none: everything.
  std::optional<std::vector<std::string>> in_short;
  int exit_code = 3;
};

// A page below 5 MB, with the page's own script if a section has a filter, else without any.
std::string WriteHtml(const Document& document);
// At most 30 sections, and at most `rows` lines if that is not 0; counts the rest. Where they do
// not fit, each section has fewer rows, so that the first does not hide the others. Columns without
// room follow below their row. At least 40 columns. `color`: ANSI colours.
std::string WriteTerminal(const Document& document, int columns, bool color, int rows = 0);
// A step summary, below 1 MiB.
std::string WriteMarkdown(const Document& document);
// Rows that are cases; without any, the answer is the one case. A case fails if the exit code is
// not 0.
std::string WriteJunit(const Document& document);
// Writes NAME.html, junit.xml and summary.md, each completely or not at all. Errors: io.
Status WriteDocument(const std::filesystem::path& folder, const Document& document);

// The sections of the page, for a page of other things.
std::string HtmlSections(const Document& document);
// "isolation.json", or the document's own words.
std::string RecordOf(const Document& document);
// "About · 2026-11-20 08:03 UTC"
std::string OriginOf(const Document& document);
// Nothing but a title.
bool IsEmpty(const DocumentSection& section);
// The columns in which any row has text, in their order. Rows may have fewer cells.
std::vector<std::size_t> UsedColumns(const DocumentSection& section);

}  // namespace rharness

#endif  // RHARNESS_REPORTS_DOCUMENT_H_
