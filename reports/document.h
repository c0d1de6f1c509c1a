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

namespace rharness {

struct DocumentCell {
  // kStrip: a sign per verdict (words.h), "✓✓✗·", each in its colour.
  enum class As { kText, kCode, kBadge, kStrip };

  DocumentCell(const char* words) : text(words) {}
  DocumentCell(std::string words, As way = As::kText, std::string link = {})
      : text(std::move(words)), as(way), href(std::move(link)) {}

  std::string text;
  As as = As::kText;
  std::string href;             // relative to the report's folder; empty: no link
  std::optional<Verdict> tone;  // of a badge; empty: its row's
};

struct DocumentRow {
  Verdict tone = Verdict::kInfra;    // its colour, and its result as a case of JUnit
  std::vector<DocumentCell> cells;   // one per column; the first names the row
  std::vector<std::string> details;  // sentences below it; the first is the message of its case
  std::string message = {};          // of its case, where that is not the first of the details
  std::string_view case_type = {};   // of its failure or error; empty: the name of its tone
};

struct DocumentColumn {
  std::string_view name;
  bool numbers = false;   // at the right
  bool in_depth = false;  // a terminal leaves it out
};

// Rows that follow each other and stand on a page in a block that opens, under its title.
struct DocumentFold {
  Verdict tone = Verdict::kInfra;
  std::string badge;
  std::string title;
  std::size_t rows = 0;
  bool open = false;
};

// How many rows of a section a format shows; it counts the rest.
struct DocumentLimits {
  std::size_t page = 400;  // of a section with folds: folds
  std::size_t screen = 60;
  std::size_t markdown = 100;
};

// A sign of a strip, and what stands there when it is pointed at.
struct DocumentSign {
  Verdict verdict = Verdict::kInconclusive;
  std::string title;
};

using DocumentFacts = std::vector<std::pair<std::string, std::string>>;

struct DocumentPicture {
  std::string svg;      // for pages alone, as made by reports/svg_*; empty: no picture
  std::string caption;  // its name, or how to read it
  bool wide = false;    // takes the width of the page; else several stand beside each other
};

// Empty parts are left out, as is a column that is empty in every row.
struct DocumentSection {
  std::string title;
  std::string words = {};  // a paragraph
  std::vector<std::string> items = {};
  DocumentFacts facts = {};
  std::map<std::string, Verdict> badges = {};  // by name, of a fact whose value has it in words
  std::vector<DocumentPicture> pictures = {};
  std::vector<DocumentSign> strip = {};  // for pages alone: oldest first, the last 2,000
  std::vector<DocumentColumn> columns = {};
  std::vector<DocumentRow> rows = {};
  std::vector<DocumentFold> folds = {};  // of all rows; other formats show the rows alone
  std::string filter = {};  // "Find a run": a page filters and sorts the rows, by its script
  DocumentLimits most = {};
  bool cases = false;     // each row is a case of JUnit
  bool in_depth = false;  // a terminal shows its title alone
  bool whole = false;     // a terminal breaks no fact, so that a command can be copied
};

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
