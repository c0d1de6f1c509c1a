// What the terminal shows of one comparison, section by section, before it is fitted to the screen.
//
// Role: private to the terminal writer; text has passed SafeText and fits `room` columns.
#ifndef RHARNESS_REPORTS_TERMINAL_SECTIONS_H_
#define RHARNESS_REPORTS_TERMINAL_SECTIONS_H_

#include <optional>
#include <string>
#include <vector>

#include "compare/comparison.h"

namespace rharness {

struct TerminalLine {
  std::string badge;  // painted in `colour`; may be empty
  std::optional<Verdict> colour;
  std::string text;
};

// Items are shown from the front, the others counted; the last one shown may lose lines.
struct TerminalSection {
  std::string title;  // "causes"
  std::string noun;   // of an item: "cause"
  std::vector<std::vector<TerminalLine>> items;
  std::size_t all = 0;    // items there are, those not listed here included
  std::size_t shown = 0;  // of `items`, from the front
  int keep = 1;           // lines that other sections give way for
};

// Findings, causes, layers, weights, curves, metrics and notes, those that have something to say.
// `more_notes` are those of the set.
std::vector<TerminalSection> SectionsOf(const Comparison& comparison,
                                        const std::vector<std::string>& more_notes, int room);

// Takes items, and lines of a section's last item, off the section that is longest beyond its keep
// until all fit into `rows` lines, and then sections off the end; returns how many those were.
std::size_t FitSections(std::vector<TerminalSection>* sections, int rows);
int LinesOf(const TerminalSection& section);

}  // namespace rharness

#endif  // RHARNESS_REPORTS_TERMINAL_SECTIONS_H_
