// A document on a terminal: the answer first, then a table or a list a section.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "reports/document_screen.h"
#include "reports/terminal_parts.h"
#include "reports/words.h"

namespace rharness {
namespace {

constexpr std::size_t kMostScreenSections = 30;
constexpr std::size_t kLeastScreenRows = 3;  // of a table on a screen that is too short
constexpr std::size_t kMostScreenItems = 12;
constexpr std::size_t kMostScreenDetails = 4;
constexpr int kLeastScreenColumns = 40;
constexpr int kMostCellColumns = 28;
constexpr int kLeastLastColumns = 30;
constexpr int kDetailIndent = 6;

std::string More(std::size_t all, std::size_t shown, const Document& document) {
  if (all <= shown) return "";
  return fmt::format("  and {} more, in {}\n", all - shown, RecordOf(document));
}

// Each line by itself: a screen may end between two of them.
std::string PaintedLines(const std::string& text, std::string_view colour, bool paints) {
  if (!paints) return text;
  std::string out;
  for (const std::string& line : SplitLines(text)) out += Painted(line, colour, true) + "\n";
  if (!text.ends_with('\n') && !out.empty()) out.pop_back();
  return out;
}

// "  and 87 more (5 identical, 82 equivalent), in comparison.json"
std::string MoreRows(const DocumentSection& section, std::size_t shown, const Document& document,
                     int columns) {
  const std::size_t all = AllRows(section);
  if (section.filter.empty()) return More(all, shown, document);
  if (shown == all) return "";
  std::vector<std::string> parts;
  for (const Verdict verdict : kVerdicts) {
    const auto rest = section.rows.begin() + static_cast<std::ptrdiff_t>(shown);
    auto count = static_cast<std::size_t>(
        std::count_if(rest, section.rows.end(),
                      [verdict](const DocumentRow& row) { return row.tone == verdict; }));
    if (const auto beyond = section.beyond.find(verdict); beyond != section.beyond.end()) {
      count += beyond->second;
    }
    if (count > 0) {
      parts.push_back(fmt::format("{} {}", FormatCount(count), VerdictLabel(verdict)));
    }
  }
  return Wrapped(fmt::format("and {} more ({}), in {}", FormatCount(all - shown),
                             fmt::join(parts, ", "), RecordOf(document)),
                 columns, 2);
}

struct ScreenColumn {
  std::size_t column = 0;
  int width = 0;
  bool last = false;  // of the table: takes the rest, and wraps in it
};

struct ScreenTable {
  const DocumentSection* section = nullptr;
  std::vector<ScreenColumn> beside;  // each other
  std::vector<std::size_t> below;    // each row, since they have no room beside the others
  int columns = 0;
};

std::string TextOf(const DocumentRow& row, std::size_t column) {
  return column < row.cells.size() ? SafeText(row.cells[column].text, 1000) : "";
}

int Wanted(const DocumentSection& section, std::size_t rows, std::size_t column) {
  int width = DisplayWidth(section.columns[column].name);
  for (std::size_t i = 0; i < rows; ++i) {
    width = std::max(width, DisplayWidth(TextOf(section.rows[i], column)));
  }
  return width;
}

// Each as wide as its widest cell; the first up to a third, with its whole text below.
ScreenTable LayOut(const DocumentSection& section, std::size_t rows, int columns) {
  ScreenTable table{.section = &section, .columns = columns};
  std::vector<std::size_t> used = UsedColumns(section);
  std::erase_if(used, [&](std::size_t column) { return section.columns[column].in_depth; });
  int left = columns - 2;
  int beside = 0;  // what the columns after the first want
  for (const std::size_t column : used) {
    if (column != used.front())
      beside += std::min(Wanted(section, rows, column), kLeastLastColumns) + 2;
  }
  for (const std::size_t column : used) {
    int width = Wanted(section, rows, column);
    const bool first = table.beside.empty();
    const bool last = column == used.back();
    if (first) width = std::min(width, std::max({20, columns / 3, left - beside}));
    if (last) width = std::min(width, kLeastLastColumns);
    if (!first && (width > left || (!last && width > std::max(kMostCellColumns, columns / 5)))) {
      table.below.push_back(column);
      continue;
    }
    table.beside.push_back({column, last ? std::max(left, width) : width, last});
    left -= width + 2;
  }
  return table;
}

// Without a line break at its end.
std::string RowLines(const std::vector<std::string>& texts, const ScreenTable& table) {
  std::string line = "  ";
  int start = 2;
  for (std::size_t i = 0; i < table.beside.size(); ++i) {
    const auto& [column, width, last] = table.beside[i];
    if (last && i > 0 && DisplayWidth(texts[i]) > width) {
      std::string wrapped = Wrapped(texts[i], table.columns, start);
      wrapped.pop_back();
      return line + wrapped.substr(static_cast<std::size_t>(start));
    }
    const std::string text = ElideMiddle(texts[i], width);
    const bool right = table.section->columns[column].numbers && !last;
    line += right ? RightAligned(text, width) : Padded(text, last ? 0 : width);
    if (!last) line += "  ";
    start += width + 2;
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

// "Time: 3 s · Seen: ..."
std::string BelowLines(const DocumentRow& row, const ScreenTable& table) {
  const ScreenColumn& name = table.beside.front();
  const std::string whole = TextOf(row, name.column);
  std::string words = DisplayWidth(whole) > name.width && !name.last ? whole : "";
  for (const std::size_t column : table.below) {
    const std::string text = TextOf(row, column);
    if (text.empty()) continue;
    words += fmt::format("{}{}: {}", words.empty() ? "" : " · ",
                         table.section->columns[column].name, text);
  }
  return words.empty() ? "" : Wrapped(words, table.columns, kDetailIndent);
}

bool SaysTheSame(const DocumentRow& row, const DocumentRow& next) {
  return row.tone == next.tone && !next.details.empty() &&
         row.details.front() == next.details.front();
}

// At most `most` rows.
std::string TableLines(const DocumentSection& section, const Document& document, int columns,
                       bool color, std::size_t most) {
  if (section.rows.empty()) return "";
  const std::size_t shown = std::min({section.rows.size(), section.most.screen, most});
  const ScreenTable table = LayOut(section, shown, columns);
  std::vector<std::string> texts;
  for (const ScreenColumn& one : table.beside) {
    texts.emplace_back(section.columns[one.column].name);
  }
  const bool says_why = std::ranges::any_of(
      table.beside, [&](const ScreenColumn& one) { return section.columns[one.column].off_page; });
  std::string out = RowLines(texts, table) + "\n";
  std::size_t alike = 0;
  for (std::size_t i = 0; i < shown; ++i) {
    const DocumentRow& row = section.rows[i];
    for (std::size_t j = 0; j < texts.size(); ++j) {
      texts[j] = TextOf(row, table.beside[j].column);
    }
    const bool good = Reproduced(row.tone);
    const bool paints = color && !good && row.tone != Verdict::kInfra;
    out += PaintedLines(RowLines(texts, table), ColourOf(row.tone), paints) + "\n";
    out += BelowLines(row, table);
    if (row.inside != nullptr && (good || says_why)) continue;
    // What several rows in a row have in common stands below the last of them.
    if (row.inside != nullptr && !row.details.empty()) {
      ++alike;
      if (i + 1 < shown && SaysTheSame(row, section.rows[i + 1])) continue;
      if (alike > 1) {
        out += Wrapped(fmt::format("{}: {}", Counted(alike, document.counted),
                                   SafeText(row.details.front(), 600)),
                       columns, kDetailIndent);
        alike = 0;
        continue;
      }
      alike = 0;
    }
    const std::size_t details = std::min(row.details.size(), kMostScreenDetails);
    for (std::size_t j = 0; j < details; ++j) {
      out += Wrapped(SafeText(row.details[j], 600), columns, kDetailIndent);
    }
    if (details < row.details.size()) out += "    " + More(row.details.size(), details, document);
  }
  return out + MoreRows(section, shown, document, columns);
}

// A sentence each.
std::string SubjectLines(const DocumentSection& section, const Document& document, int columns,
                         bool color) {
  std::string out;
  const std::size_t shown = std::min(section.rows.size(), section.most.screen);
  for (std::size_t i = 0; i < shown; ++i) {
    const DocumentRow& row = section.rows[i];
    const std::string sign = row.sign.empty() ? "" : fmt::format("{} ", row.sign);
    out += PaintedLines(Wrapped(sign + SafeText(row.sentence, 600), columns, 2), ColourOf(row.tone),
                        color && !Reproduced(row.tone));
  }
  return out + More(AllRows(section), shown, document);
}

std::string FactLines(const DocumentFacts& facts, int columns, int indent, bool whole = false) {
  std::string lines;
  for (const auto& [name, value] : facts) {
    const std::string line =
        fmt::format("{}: {}", SafeText(name, 200), SafeText(value, whole ? 2000 : 1000));
    lines += whole ? std::string(static_cast<std::size_t>(indent), ' ') + line + "\n"
                   : Wrapped(line, columns, indent);
  }
  return lines;
}

std::string SectionLines(const DocumentSection& section, const Document& document, int columns,
                         bool color, std::size_t most_rows) {
  const std::size_t shown = std::min(section.items.size(), section.most.items);
  std::string body;
  if (!section.words.empty()) body += Wrapped(SafeText(section.words, 1000), columns, 2);
  for (std::size_t i = 0; i < shown; ++i) {
    body += Wrapped(SafeText(section.items[i], 1000), columns, 2);
  }
  body += More(section.items.size(), shown, document);
  body += FactLines(section.facts, columns, 2, section.whole);
  body += section.subjects ? SubjectLines(section, document, columns, color)
                           : TableLines(section, document, columns, color, most_rows);
  return body.empty() ? "" : "\n" + Wrapped(SafeText(section.title, 300), columns) + body;
}

// Names the sections that a terminal leaves to the other formats.
std::string ElsewhereLines(const std::vector<std::string>& titles, int columns) {
  if (titles.empty()) return "";
  const std::size_t shown = std::min(titles.size(), kMostScreenItems);
  std::string words = fmt::format(
      "In the other formats, too: {}",
      fmt::join(titles.begin(), titles.begin() + static_cast<std::ptrdiff_t>(shown), "; "));
  if (shown < titles.size()) words += fmt::format(" and {} more", titles.size() - shown);
  return "\n" + Wrapped(words, columns);
}

std::string AnswerLines(const Document& document, int columns, bool color) {
  const std::string counts =
      document.counts.empty()
          ? ""
          : CountsLine(document.counts, document.counted, columns, color) + "\n";
  const std::string headline = PaintedLines(Wrapped(SafeText(document.headline, 1000), columns),
                                            ColourOf(document.tone), color);
  const std::string next =
      document.next.empty() ? "" : Wrapped("Next: " + SafeText(document.next, 1000), columns);
  return document.answer_last ? counts + headline + next : headline + next + counts;
}

// Counts, headline and remarks, as far as nine lines go.
std::string ShortLines(const Document& document, int columns, bool color) {
  constexpr std::size_t kLines = 9;
  constexpr std::size_t kLinesOfRemark = 2;
  const std::vector<std::string>& remarks = *document.in_short;
  std::vector<std::string> lines =
      SplitLines(CountsLine(document.counts, document.counted, columns, color));
  for (const std::string& line :
       WrappedTo(SafeText(document.headline, 1000), columns, kLinesOfRemark)) {
    lines.push_back(Painted(line, "\x1b[1m", color));
  }
  std::size_t said = 0;
  for (; said < remarks.size(); ++said) {
    const std::vector<std::string> next =
        WrappedTo(SafeText(remarks[said], 600), columns, kLinesOfRemark);
    const std::size_t after = said + 1 < remarks.size() ? 1 : 0;  // room for the count of the rest
    if (lines.size() + next.size() + after > kLines) break;
    lines.insert(lines.end(), next.begin(), next.end());
  }
  if (said < remarks.size()) {
    lines.push_back(ElideEnd(
        Counted(remarks.size() - said, "more remark") + ": see the page, or use -v.", columns));
  }
  return fmt::format("{}\n", fmt::join(lines, "\n"));
}

// All lines, with at most `most_rows` rows of each table.
std::string AllLines(const Document& document, int columns, bool color, std::size_t most_rows) {
  const std::string answer = AnswerLines(document, columns, color);
  std::string out = document.answer_last ? "" : answer;
  std::vector<std::string> elsewhere;
  std::vector<const DocumentSection*> here;
  for (const DocumentSection& section : document.sections) {
    if (section.off_screen || !section.margin.empty()) continue;
    if (section.in_depth) {
      elsewhere.push_back(SafeText(section.title, 200));
    } else {
      here.push_back(&section);
    }
  }
  const std::size_t shown = std::min(here.size(), kMostScreenSections);
  for (std::size_t i = 0; i < shown; ++i) {
    out += SectionLines(*here[i], document, columns, color, most_rows);
  }
  if (shown < here.size()) out += "\n" + More(here.size(), shown, document);
  out += ElsewhereLines(elsewhere, columns);
  if (!document.facts.empty()) out += "\n" + FactLines(document.facts, columns, 0);
  const std::size_t notes = std::min(document.notes.size(), kMostScreenItems);
  for (std::size_t i = 0; i < notes; ++i) {
    out += Wrapped("Note: " + SafeText(document.notes[i], 600), columns);
  }
  out += More(document.notes.size(), notes, document);
  if (!document.answer_last) return out;
  if (out.starts_with('\n')) out.erase(0, 1);
  return out.empty() ? answer : out + "\n" + answer;
}

}  // namespace

std::string WriteTerminal(const Document& document, int columns, bool color, int rows) {
  columns = std::max(columns, kLeastScreenColumns);
  if (document.in_short) return ShortLines(document, columns, color);
  if (HasMargin(document)) {
    return fmt::format("{}\n", fmt::join(MarginLines(document, columns, rows, color), "\n"));
  }
  std::size_t most_rows = kLeastScreenRows;
  for (const DocumentSection& section : document.sections) {
    most_rows = std::max(most_rows, section.most.screen);
  }
  std::string out = AllLines(document, columns, color, most_rows);
  const auto most = static_cast<std::size_t>(std::max(rows, 2));
  if (rows == 0) return out;
  std::vector<std::string> lines = SplitLines(out);
  while (lines.size() > most && most_rows > kLeastScreenRows) {
    most_rows = std::max(kLeastScreenRows, most_rows - most_rows / 8 - 1);
    out = AllLines(document, columns, color, most_rows);
    lines = SplitLines(out);
  }
  if (lines.size() <= most) return out;
  const std::size_t left_out = lines.size() - most + 1;
  lines.resize(most - 1);
  return fmt::format("{}\n… and {}\n", fmt::join(lines, "\n"), Counted(left_out, "more line"));
}

}  // namespace rharness
