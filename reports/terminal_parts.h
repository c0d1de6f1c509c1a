// Terminal lines shared by all terminal writers: colours, padding, wrapping, counts.
#ifndef RHARNESS_REPORTS_TERMINAL_PARTS_H_
#define RHARNESS_REPORTS_TERMINAL_PARTS_H_

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "harness/verdict/verdict.h"

namespace rharness {

std::string_view ColourOf(Verdict verdict);  // an ANSI sequence
std::string Painted(std::string_view text, std::string_view colour, bool color);
// Spaces up to `columns`; longer text stays unchanged.
std::string Padded(std::string text, int columns);
std::string RightAligned(const std::string& text, int columns);

// Breaks at spaces; every line starts with `indent` spaces; a word longer than a line is cut. Ends
// with a line break.
std::string Wrapped(const std::string& text, int columns, int indent = 0);

// The lines of a text, without their line breaks.
std::vector<std::string> SplitLines(const std::string& text);
// The lines of Wrapped; if cut to `most`, the last one ends in "…".
std::vector<std::string> WrappedTo(const std::string& text, int columns, std::size_t most);

// "3 drifted, 9 identical" within the columns (colours take none); "0 runs" for none.
std::string CountsLine(const std::map<std::string, int>& counts, std::string_view noun, int columns,
                       bool color);

}  // namespace rharness

#endif  // RHARNESS_REPORTS_TERMINAL_PARTS_H_
