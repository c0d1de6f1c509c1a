// The sections of a document that a screen lists beside their titles, a line an item; private to
// the terminal's renderer.
#ifndef RHARNESS_REPORTS_DOCUMENT_SCREEN_H_
#define RHARNESS_REPORTS_DOCUMENT_SCREEN_H_

#include <string>
#include <vector>

#include "reports/document.h"

namespace rharness {

// Whether any section has a word for the margin.
bool HasMargin(const Document& document);
// The verdict and the headline, then those sections, the notes and, where no section has a step to
// take, the next step. At most `rows` lines if that is not 0: the sections that are longest beyond
// what each may keep become shorter, and count what they leave out. Lines are cut at `columns`.
std::vector<std::string> MarginLines(const Document& document, int columns, int rows, bool color);

}  // namespace rharness

#endif  // RHARNESS_REPORTS_DOCUMENT_SCREEN_H_
