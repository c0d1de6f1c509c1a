// Markdown that shows text literally, and lines shared by all Markdown writers.
//
// Role: private to the Markdown writers. GitHub drops a whole step summary above 1 MiB, so every
// writer keeps to kMarkdownBytes.
#ifndef RHARNESS_REPORTS_MARKDOWN_PARTS_H_
#define RHARNESS_REPORTS_MARKDOWN_PARTS_H_

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "harness/verdict/verdict.h"

namespace rharness {

inline constexpr std::size_t kMarkdownBytes = 900'000;  // tables and details; the rest is small
inline constexpr std::size_t kMostListed = 20;          // items of one list

// One line of Markdown that shows `text` literally: no markup, no table cell, no link, and no
// mention or issue reference, which would notify people.
std::string MarkdownText(std::string_view text, std::size_t limit_bytes = 1000);
// The same in a <code> element, where GitHub looks for no mentions; empty for empty text.
std::string MarkdownCode(std::string_view text, std::size_t limit_bytes = 300);
// The last lines of a log in a <pre> block.
std::string MarkdownLog(std::string_view text);

// "✗ drifted **3** · ✓ identical **9**" and an empty line; empty without counts.
std::string MarkdownCounts(const std::map<std::string, int>& counts);

// "- item" lines, at most kMostListed of them, with the number of the rest.
template <class T, class F>
std::string MarkdownList(const std::vector<T>& items, F line) {
  std::string out;
  const std::size_t shown = std::min(items.size(), kMostListed);
  for (std::size_t i = 0; i < shown; ++i) out += fmt::format("- {}\n", line(items[i]));
  if (shown < items.size()) out += fmt::format("- … and {} more\n", items.size() - shown);
  return out.empty() ? out : out + "\n";
}

}  // namespace rharness

#endif  // RHARNESS_REPORTS_MARKDOWN_PARTS_H_
