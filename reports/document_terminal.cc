// A document on a terminal: the answer first, then a table or a list a section.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "reports/document.h"
#include "reports/terminal_parts.h"
#include "reports/text.h"

namespace rharness {
namespace {

constexpr std::size_t kMostScreenSections = 30;
constexpr std::size_t kMostScreenRows = 60;
constexpr std::size_t kMostScreenItems = 12;
constexpr std::size_t kMostScreenDetails = 4;
constexpr int kMostCellColumns = 28;
constexpr int kLeastLastColumns = 20;

std::string More(std::size_t all, std::size_t shown, const Document& document) {
  return all <= shown ? "" : fmt::format("  and {} more, in {}.json\n", all - shown, document.name);
}

struct ScreenColumn {
  std::size_t column = 0;
  int width = 0;
};

std::string TextOf(const DocumentRow& row, std::size_t column) {
  return column < row.cells.size() ? SafeText(row.cells[column].text, 400) : "";
}

// Each as wide as its widest cell, up to its limit; the last takes the rest.
std::vector<ScreenColumn> ScreenColumns(const DocumentSection& section, std::size_t rows,
                                        int columns) {
  std::vector<ScreenColumn> list;
  int taken = 2;
  for (const std::size_t column : UsedColumns(section)) {
    int width = DisplayWidth(section.columns[column].name);
    for (std::size_t i = 0; i < rows; ++i) {
      width = std::max(width, DisplayWidth(TextOf(section.rows[i], column)));
    }
    const int most = list.empty() ? std::max(20, columns / 3) : kMostCellColumns;
    list.push_back({column, std::min(width, most)});
    taken += list.back().width + 2;
  }
  const int last = list.back().width + columns - taken + 2;
  list.back().width = std::max(kLeastLastColumns, last);
  return list;
}

std::string RowLine(const std::vector<std::string>& texts, const DocumentSection& section,
                    const std::vector<ScreenColumn>& list) {
  std::string line = "  ";
  for (std::size_t i = 0; i < list.size(); ++i) {
    const bool last = i + 1 == list.size();
    const std::string text =
        last ? ElideEnd(texts[i], list[i].width) : ElideMiddle(texts[i], list[i].width);
    const bool right = section.columns[list[i].column].numbers && !last;
    line += right ? RightAligned(text, list[i].width) : Padded(text, last ? 0 : list[i].width);
    if (!last) line += "  ";
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

std::string TableLines(const DocumentSection& section, const Document& document, int columns,
                       bool color) {
  if (section.rows.empty()) return "";
  const std::size_t shown = std::min(section.rows.size(), kMostScreenRows);
  const std::vector<ScreenColumn> list = ScreenColumns(section, shown, columns);
  std::vector<std::string> texts;
  for (const ScreenColumn& one : list) texts.emplace_back(section.columns[one.column].name);
  std::string out = RowLine(texts, section, list) + "\n";
  for (std::size_t i = 0; i < shown; ++i) {
    const DocumentRow& row = section.rows[i];
    for (std::size_t j = 0; j < list.size(); ++j) texts[j] = TextOf(row, list[j].column);
    const bool good = Reproduced(row.tone);
    const bool paints = color && !good && row.tone != Verdict::kInfra;
    out += Painted(RowLine(texts, section, list), ColourOf(row.tone), paints) + "\n";
    const std::size_t details = std::min(row.details.size(), kMostScreenDetails);
    for (std::size_t j = 0; j < details; ++j) {
      out += Wrapped(SafeText(row.details[j], 600), columns, 6);
    }
    if (details < row.details.size()) out += "    " + More(row.details.size(), details, document);
  }
  return out + More(section.rows.size(), shown, document);
}

std::string SectionLines(const DocumentSection& section, const Document& document, int columns,
                         bool color) {
  const std::size_t shown = std::min(section.items.size(), kMostScreenItems);
  std::string body;
  if (!section.words.empty()) body += Wrapped(SafeText(section.words, 1000), columns, 2);
  for (std::size_t i = 0; i < shown; ++i) {
    body += Wrapped(SafeText(section.items[i], 1000), columns, 2);
  }
  body += More(section.items.size(), shown, document);
  body += TableLines(section, document, columns, color);
  return body.empty() ? "" : "\n" + Wrapped(SafeText(section.title, 300), columns) + body;
}

}  // namespace

std::string WriteTerminal(const Document& document, int columns, bool color, int rows) {
  std::string out =
      Painted(Wrapped(SafeText(document.headline, 1000), columns), ColourOf(document.tone), color);
  if (!document.next.empty()) out += Wrapped("Next: " + SafeText(document.next, 1000), columns);
  const std::size_t shown = std::min(document.sections.size(), kMostScreenSections);
  for (std::size_t i = 0; i < shown; ++i) {
    out += SectionLines(document.sections[i], document, columns, color);
  }
  if (shown < document.sections.size()) {
    out += "\n" + More(document.sections.size(), shown, document);
  }
  if (!document.facts.empty()) out += "\n";
  for (const auto& [name, value] : document.facts) {
    out += Wrapped(fmt::format("{}: {}", name, SafeText(value, 600)), columns);
  }
  const std::size_t notes = std::min(document.notes.size(), kMostScreenItems);
  for (std::size_t i = 0; i < notes; ++i) {
    out += Wrapped("Note: " + SafeText(document.notes[i], 600), columns);
  }
  out += More(document.notes.size(), notes, document);
  std::vector<std::string> lines = SplitLines(out);
  const auto most = static_cast<std::size_t>(std::max(rows, 2));
  if (rows == 0 || lines.size() <= most) return out;
  const std::size_t left_out = lines.size() - most + 1;
  lines.resize(most - 1);
  return fmt::format("{}\n… and {}\n", fmt::join(lines, "\n"), Counted(left_out, "more line"));
}

}  // namespace rharness
