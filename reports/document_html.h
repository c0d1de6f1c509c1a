// The pieces of a document's page; private to its renderer.
#ifndef RHARNESS_REPORTS_DOCUMENT_HTML_H_
#define RHARNESS_REPORTS_DOCUMENT_HTML_H_

#include <cstddef>
#include <string>
#include <vector>

#include "reports/document.h"

namespace rharness {

// What a section is on a page: below which heading, beside what else.
struct HtmlPlace {
  const Document& document;
  std::string record;  // of the document
  int level = 2;       // of its title
};

std::string CellHtml(const DocumentCell& cell);
// " class=\"name\"" of a text that is short enough not to be broken.
std::string NameClass(const std::string& text);
// A word that would make its column wider than the page, such as a digest.
bool HasLongWord(const std::string& text);

// A section's rows as a table, folds or subjects, in at most `room` bytes.
std::string RowsHtml(const DocumentSection& section, const HtmlPlace& place, std::size_t room);
// Sections that follow each other, in at most `room` bytes each.
std::string SectionsHtml(const std::vector<DocumentSection>& sections, const HtmlPlace& place,
                         std::size_t room);

}  // namespace rharness

#endif  // RHARNESS_REPORTS_DOCUMENT_HTML_H_
