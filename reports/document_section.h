// The parts of a document: sections, rows and cells.
//
// Role: a noun fills them, and the renderers of document.h lay them out. Empty parts are left out.
#ifndef RHARNESS_REPORTS_DOCUMENT_SECTION_H_
#define RHARNESS_REPORTS_DOCUMENT_SECTION_H_

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/verdict/verdict.h"

namespace rharness {

struct DocumentCell {
  // kStrip: a sign per verdict (words.h), "✓✓✗·", each in its colour. kMarks: words as small marks,
  // "=data ≠env". kStep: a step for the reader; a page offers to copy it if it is a command.
  enum class As { kText, kCode, kBadge, kStrip, kMarks, kStep };

  DocumentCell(const char* words) : text(words) {}
  DocumentCell(std::string words, As way = As::kText, std::string link = {})
      : text(std::move(words)), as(way), href(std::move(link)) {}

  std::string text;
  As as = As::kText;
  std::string href;                  // relative to the report's folder; empty: no link
  std::optional<Verdict> tone;       // of a badge; empty: its row's
  std::optional<std::string> other;  // of the other side: a page marks what differs from it
};

// Cells without the copies of a list in braces, where there are many rows.
template <class... Cell>
std::vector<DocumentCell> CellsOf(Cell&&... cells) {
  std::vector<DocumentCell> row;
  row.reserve(sizeof...(cells));
  (row.emplace_back(std::forward<Cell>(cells)), ...);
  return row;
}

struct DocumentSection;
// The sections of a row, made when a format has room for them: all, or those that are short.
using DocumentInside = std::function<std::vector<DocumentSection>(bool in_full)>;

struct DocumentRow {
  Verdict tone = Verdict::kInfra;    // its colour, and its result as a case of JUnit
  std::vector<DocumentCell> cells;   // one per column; the first names the row
  std::vector<std::string> details;  // sentences below it; the first is the message of its case
  std::string message = {};          // of its case, where that is not the first of the details
  std::string_view case_type = {};   // of its failure or error; empty: the name of its tone
  std::string case_class = {};       // of its case; empty: the document's name and the section's
  double case_seconds = 0.0;
  bool explains = false;       // its case neither fails nor is skipped, whatever its tone
  std::string_view sign = {};  // before its sentence: "✗"; may be empty
  std::string sentence = {};   // for lists, as the row is one where there is no table
  DocumentInside inside = {};  // beneath the row
};

struct DocumentColumn {
  std::string_view name;
  bool numbers = false;   // at the right
  bool in_depth = false;  // a terminal leaves it out
  bool off_page = false;  // a page leaves it out
  bool details = false;   // of a page: of the rows' details, beside its text
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
  std::size_t items = 12;  // of a list on a screen, and before the fold of a page
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

// A column that is empty in every row is left out.
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
  // Further rows by tone, for which no format has room: counted as if they followed `rows`.
  std::map<Verdict, std::size_t> beyond = {};
  std::vector<DocumentFold> folds = {};  // of all rows; other formats show the rows alone
  std::string filter = {};       // "Find a run": a page filters and sorts the rows, by its script
  std::string caption = {};      // of a page's table: how to read it
  std::string log = {};          // lines as they are
  std::string_view margin = {};  // "causes": a screen lists its rows, a line each, beside this word
  DocumentLimits most = {};
  bool subjects = false;    // each row is a heading, with what is inside it below
  bool folded = false;      // in a block that opens
  bool cases = false;       // each row is a case of JUnit
  bool in_depth = false;    // a terminal shows its title alone
  bool off_screen = false;  // a terminal leaves it out
  bool whole = false;       // a terminal breaks no fact, so that a command can be copied
};

// The rows, and those beyond them.
std::size_t AllRows(const DocumentSection& section);

}  // namespace rharness

#endif  // RHARNESS_REPORTS_DOCUMENT_SECTION_H_
