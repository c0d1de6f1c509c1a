// Lists of a document on one screen; see document_screen.h.
#include "reports/document_screen.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "reports/terminal_parts.h"
#include "reports/words.h"

namespace rharness {
namespace {

constexpr int kMarginColumns = 9;  // "findings" and a space
constexpr int kMostKept = 4;       // lines of one section that others leave to it
constexpr std::size_t kHeadlineLines = 2;
constexpr char kBold[] = "\x1b[1m";

struct ScreenLine {
  std::string sign;  // painted in `colour`; may be empty
  std::string_view colour;
  std::string text;
};

// Shows items from the front, and counts the others; the last one shown may lose lines.
struct ScreenList {
  std::string_view title;
  std::vector<std::vector<ScreenLine>> items;
  std::size_t all = 0;    // number of items, including those not listed here
  std::size_t shown = 0;  // of `items`, from the front
};

int LinesOf(const ScreenList& list) {
  std::size_t lines = list.shown < list.all ? 1 : 0;
  for (std::size_t i = 0; i < list.shown; ++i) lines += list.items[i].size();
  return static_cast<int>(lines);
}

int KeptOf(const ScreenList& list) {
  if (list.items.empty()) return 1;
  return std::min(kMostKept, 1 + static_cast<int>(list.items.front().size()));
}

// One item less; of the last one, one line less while it has several.
void Shorten(ScreenList* list) {
  if (list->shown == 1 && list->items.front().size() > 1) {
    list->items.front().pop_back();
  } else {
    --list->shown;
  }
}

// Returns the number of lists that had to go.
std::size_t Fit(std::vector<ScreenList>* lists, int rows) {
  const auto total = [&] {
    int lines = 0;
    for (const ScreenList& list : *lists) lines += LinesOf(list);
    return lines;
  };
  while (total() > rows) {
    ScreenList* longest = nullptr;
    for (ScreenList& list : *lists) {
      if (LinesOf(list) <= 1 || list.shown == 0) continue;
      if (longest == nullptr ||
          LinesOf(list) - KeptOf(list) >= LinesOf(*longest) - KeptOf(*longest)) {
        longest = &list;
      }
    }
    if (longest == nullptr) break;
    Shorten(longest);
  }
  std::size_t dropped = 0;
  while (!lists->empty() && total() + (dropped > 0 ? 1 : 0) > rows) {
    lists->pop_back();
    ++dropped;
  }
  return dropped;
}

// The row, and below it the steps that it asks for, or else its details.
std::vector<ScreenLine> LinesOf(const DocumentRow& row) {
  const bool plain = row.sign == "·";
  std::vector<ScreenLine> lines = {{std::string(row.sign),
                                    plain ? std::string_view() : ColourOf(row.tone),
                                    SafeText(row.sentence, 600)}};
  for (const DocumentCell& cell : row.cells) {
    if (cell.as != DocumentCell::As::kStep || cell.text.empty()) continue;
    lines.push_back({"", {}, "  → " + SafeText(cell.text, 600)});
  }
  if (lines.size() > 1) return lines;
  for (const std::string& detail : row.details) {
    lines.push_back({"", {}, "  " + SafeText(detail, 600)});
  }
  return lines;
}

ScreenList ListOf(const DocumentSection& section) {
  ScreenList list{.title = section.margin, .all = std::max(AllRows(section), section.items.size())};
  for (const DocumentRow& row : section.rows) {
    if (list.items.size() == section.most.screen) break;
    list.items.push_back(LinesOf(row));
  }
  for (const std::string& item : section.items) {
    if (list.items.size() == section.most.screen) break;
    list.items.push_back({{"", {}, SafeText(item, 600)}});
  }
  list.shown = list.items.size();
  return list;
}

// "… and 3 more causes", "… 12 curves"
std::string RestOf(const ScreenList& list) {
  const std::size_t rest = list.all - list.shown;
  std::string_view noun = list.title;
  if (rest == 1 && noun.ends_with('s')) noun.remove_suffix(1);
  return fmt::format("… {}{}{}", list.shown == 0 ? "" : "and ", FormatCount(rest),
                     list.shown == 0 ? fmt::format(" {}", noun) : fmt::format(" more {}", noun));
}

void AddList(const ScreenList& list, int columns, bool color, std::vector<std::string>* lines) {
  const std::string empty(kMarginColumns, ' ');
  const int room = columns - kMarginColumns;
  std::string title = Painted(Padded(std::string(list.title), kMarginColumns), kBold, color);
  const auto add = [&](const std::string& text) {
    lines->push_back(title + text);
    title = empty;
  };
  for (std::size_t i = 0; i < list.shown; ++i) {
    for (const ScreenLine& line : list.items[i]) {
      if (line.sign.empty()) {
        add(ElideEnd(line.text, room));
      } else {
        add(Painted(line.sign, line.colour, color && !line.colour.empty()) + " " +
            ElideEnd(line.text, room - 2));
      }
    }
  }
  if (list.shown < list.all) add(ElideEnd(RestOf(list), room));
}

bool HasStep(const DocumentSection& section) {
  return std::ranges::any_of(section.rows, [](const DocumentRow& row) {
    return std::ranges::any_of(row.cells, [](const DocumentCell& cell) {
      return cell.as == DocumentCell::As::kStep && !cell.text.empty();
    });
  });
}

std::vector<ScreenList> ListsOf(const Document& document) {
  std::vector<ScreenList> lists;
  for (const DocumentSection& section : document.sections) {
    if (!section.margin.empty()) lists.push_back(ListOf(section));
  }
  const bool told = Reproduced(document.tone) || std::ranges::any_of(document.sections, HasStep);
  if (!told && !document.next.empty()) {
    lists.push_back(ListOf({.title = "", .items = {document.next}, .margin = "next"}));
  }
  if (document.notes.empty()) return lists;
  ScreenList notes = ListOf({.title = "", .items = document.notes, .margin = "notes"});
  if (lists.empty() || lists.back().title != notes.title) {
    lists.push_back(std::move(notes));
    return lists;
  }
  ScreenList& own = lists.back();
  own.all += notes.all;
  if (own.shown < own.items.size()) return lists;
  std::ranges::move(notes.items, std::back_inserter(own.items));
  own.shown = own.items.size();
  return lists;
}

}  // namespace

bool HasMargin(const Document& document) {
  return std::ranges::any_of(
      document.sections, [](const DocumentSection& section) { return !section.margin.empty(); });
}

std::vector<std::string> MarginLines(const Document& document, int columns, int rows, bool color) {
  const std::string badge = VerdictBadge(document.verdict.value_or(document.tone));
  std::vector<std::string> lines = {
      Painted(badge, ColourOf(document.tone), color) + "  " +
      ElideMiddle(SafeText(document.about, 400), columns - DisplayWidth(badge) - 2)};
  for (std::string& line : WrappedTo(SafeText(document.headline, 600), columns, kHeadlineLines)) {
    lines.push_back(std::move(line));
  }
  std::vector<ScreenList> lists = ListsOf(document);
  const std::size_t dropped =
      rows == 0 ? 0 : Fit(&lists, std::max(rows - static_cast<int>(lines.size()), 0));
  for (const ScreenList& list : lists) AddList(list, columns, color, &lines);
  if (dropped > 0) lines.push_back(ElideEnd("… and " + Counted(dropped, "more section"), columns));
  if (rows > 0 && lines.size() > static_cast<std::size_t>(rows)) {
    lines.resize(static_cast<std::size_t>(rows));
  }
  return lines;
}

}  // namespace rharness
