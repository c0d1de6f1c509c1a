// Shared by the pages of a run's and of a family's history.
#ifndef RHARNESS_REPORTS_HISTORY_HTML_PARTS_H_
#define RHARNESS_REPORTS_HISTORY_HTML_PARTS_H_

#include <array>
#include <cstddef>
#include <string>

#include "compare/facts.h"

namespace rharness {

inline constexpr std::size_t kMostDifferences = 100;

// A table of the differences between two drills, in words and values; a sentence if there are none,
// or if they are not known.
std::string HtmlDifferences(bool known, const std::array<LayerComparison, 5>& layers);

}  // namespace rharness

#endif  // RHARNESS_REPORTS_HISTORY_HTML_PARTS_H_
