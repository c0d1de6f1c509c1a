// The terminal's sections of one comparison, before they are fitted to the screen.
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

// Shows items from the front, and counts the others; the last one shown may lose lines.
struct TerminalSection {
  std::string title;  // "causes"
  std::string noun;   // of an item: "cause"
  std::vector<std::vector<TerminalLine>> items;
  std::size_t all = 0;    // number of items, including those not listed here
  std::size_t shown = 0;  // of `items`, from the front
  int keep = 1;           // lines reserved for it
};

// Findings, causes, layers, weights, curves, metrics and notes, without empty ones. `more_notes`
// are those of the set.
std::vector<TerminalSection> SectionsOf(const Comparison& comparison,
                                        const std::vector<std::string>& more_notes, int room);

// Removes items, and lines of a section's last item, from the section that is longest beyond its
// reserve until all fit into `rows` lines, and then sections from the end; returns the number of
// removed sections.
std::size_t FitSections(std::vector<TerminalSection>* sections, int rows);
int LinesOf(const TerminalSection& section);

}  // namespace rharness

#endif  // RHARNESS_REPORTS_TERMINAL_SECTIONS_H_
