// The rows of a page's sections: tables, folds, subjects, and what is inside a row; see
// document_html.h.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "reports/detail_budget.h"
#include "reports/document_html.h"
#include "reports/html_escape.h"
#include "reports/html_page.h"
#include "reports/words.h"

namespace rharness {
namespace {

constexpr std::size_t kMostDetails = 40;
constexpr std::size_t kMostFoldRows = 100;
constexpr std::size_t kManyRows = 500;       // above it nothing is inside of reproduced ones
constexpr std::size_t kFilterBytes = 3'000;  // of a table's frame

std::string DetailsHtml(const DocumentRow& row, std::string_view record) {
  std::string out;
  const std::size_t shown = std::min(row.details.size(), kMostDetails);
  for (std::size_t i = 0; i < shown; ++i) {
    out += fmt::format("<p>{}</p>", HtmlText(row.details[i], 1000));
  }
  return out + HtmlLeftOut(row.details.size(), shown, record);
}

// The columns of a page; details stand in theirs, or else in the last.
std::vector<std::size_t> PageColumns(const DocumentSection& section) {
  const std::vector<std::size_t> filled = UsedColumns(section);
  const bool details = std::ranges::any_of(
      section.rows, [](const DocumentRow& row) { return !row.details.empty(); });
  std::vector<std::size_t> used;
  for (std::size_t i = 0; i < section.columns.size(); ++i) {
    const DocumentColumn& column = section.columns[i];
    const bool has_text = std::ranges::binary_search(filled, i);
    if (!column.off_page && (has_text || (column.details && details))) used.push_back(i);
  }
  return used;
}

bool HoldsDetails(const DocumentSection& section, const std::vector<std::size_t>& used,
                  std::size_t i) {
  const auto own = std::ranges::find_if(
      used, [&](std::size_t column) { return section.columns[column].details; });
  return own == used.end() ? i + 1 == used.size() : used[i] == *own;
}

// One row of a table; of one with rows that open, its details are what they open by.
std::string RowHtml(const DocumentRow& row, const DocumentSection& section,
                    const std::vector<std::size_t>& used, const HtmlPlace& place, bool opens) {
  static const DocumentCell kEmpty("");
  std::string out;
  for (std::size_t i = 0; i < used.size(); ++i) {
    const std::size_t column = used[i];
    const DocumentColumn& head = section.columns[column];
    const DocumentCell& cell = column < row.cells.size() ? row.cells[column] : kEmpty;
    std::string html = CellHtml(cell);
    if (!opens && HoldsDetails(section, used, i)) html += DetailsHtml(row, place.record);
    if (i == 0) {
      out += fmt::format("<th scope=\"row\"{}>{}</th>", NameClass(cell.text), html);
      continue;
    }
    const std::string_view way = head.numbers             ? " class=\"n\""
                                 : HasLongWord(cell.text) ? " class=\"long\""
                                                          : "";
    out += opens && !head.numbers
               ? fmt::format("<td{}>{}</td>", way, html)
               : fmt::format("<td{} data-l=\"{}\">{}</td>", way, head.name, html);
  }
  return out;
}

bool HasBadge(const DocumentRow& row) {
  return std::ranges::any_of(row.cells, [](const DocumentCell& cell) {
    return cell.as == DocumentCell::As::kBadge && !cell.text.empty();
  });
}

// What a row opens.
std::string InsideHtml(const DocumentRow& row, std::size_t columns, bool in_full,
                       const HtmlPlace& place) {
  HtmlPlace inside{place.document, place.record, place.level + 1};
  std::string summary = row.details.empty() ? "Details" : HtmlText(row.details.front(), 600);
  for (std::size_t i = 1; i < std::min(row.details.size(), kMostDetails); ++i) {
    summary += fmt::format("<br><span class=\"soft\">{}</span>", HtmlText(row.details[i], 400));
  }
  return fmt::format(
      "<tr class=\"d\"><td colspan=\"{}\"><details><summary>{}</summary><div class=\"more\">{}"
      "</div></details></td></tr>",
      columns, summary, SectionsHtml(row.inside(in_full), inside, kPageBytes));
}

// The column heads, and rows [first, first + most) as far as `room` bytes go.
struct PageTable {
  std::string heads;
  std::string rows;
  std::size_t shown = 0;
  std::size_t closed = 0;  // rows that have something inside, for which there was no room
};

struct TableRows {
  std::vector<const DocumentRow*> rows;
  std::vector<std::string> html;  // without the tags around them
  std::vector<bool> leads;        // the first of its verdict in a filtered table
  std::size_t bytes = 0;
};

// A filtered table has an anchor at the first row of each verdict, where the counts lead; so that
// row has room kept for it.
TableRows FittingRows(const DocumentSection& section, const std::vector<std::size_t>& used,
                      const HtmlPlace& place, std::size_t first, std::size_t most,
                      std::size_t room) {
  constexpr std::size_t kTagBytes = 55;  // `<tbody class="not_comparable"><tr></tr></tbody>`
  const bool filtered = !section.filter.empty();
  const bool opens = std::ranges::any_of(
      section.rows, [](const DocumentRow& row) { return row.inside != nullptr; });
  const std::size_t usual = filtered ? room / 10 * 9 : room;
  TableRows fitting;
  std::set<Verdict> seen;
  bool full = false;
  for (std::size_t i = first; i < std::min(section.rows.size(), first + most); ++i) {
    const DocumentRow& row = section.rows[i];
    const bool leads = filtered && HasBadge(row) && seen.insert(row.tone).second;
    if (full && !leads) continue;
    std::string html = RowHtml(row, section, used, place, opens);
    if (fitting.bytes + html.size() + kTagBytes > (leads ? room : usual)) {
      full = true;
      continue;
    }
    fitting.bytes += html.size() + kTagBytes;
    fitting.rows.push_back(&row);
    fitting.html.push_back(std::move(html));
    fitting.leads.push_back(leads);
  }
  return fitting;
}

// Each row in full as long as every later one still fits in brief; none of what reproduced where
// there are many.
std::vector<std::string> Opened(const TableRows& fitting, std::size_t columns,
                                const HtmlPlace& place, std::size_t room) {
  const bool many = fitting.rows.size() > kManyRows;
  const auto has_inside = [many](const DocumentRow* row) {
    return row->inside != nullptr && !(many && Reproduced(row->tone));
  };
  DetailBudget budget(room,
                      static_cast<std::size_t>(std::ranges::count_if(fitting.rows, has_inside)));
  std::vector<std::string> opened;
  for (const DocumentRow* row : fitting.rows) {
    opened.push_back(has_inside(row)
                         ? budget.Take([&] { return InsideHtml(*row, columns, true, place); },
                                       [&] { return InsideHtml(*row, columns, false, place); })
                         : "");
  }
  return opened;
}

// A filtered table has a body a row, which its script hides or moves.
PageTable TableOf(const DocumentSection& section, const HtmlPlace& place, std::size_t first,
                  std::size_t most, std::size_t room) {
  const std::vector<std::size_t> used = PageColumns(section);
  std::vector<HtmlColumn> heads;
  for (const std::size_t column : used) {
    heads.emplace_back(section.columns[column].name);
    heads.back().numbers = section.columns[column].numbers;
  }
  PageTable table{.heads = HtmlHeads(heads), .rows = {}};
  const TableRows fitting = FittingRows(section, used, place, first, most, room);
  const std::vector<std::string> opened =
      Opened(fitting, used.size(), place, room - std::min(room, fitting.bytes));
  table.shown = fitting.rows.size();
  for (std::size_t i = 0; i < table.shown; ++i) {
    const DocumentRow& row = *fitting.rows[i];
    if (row.inside != nullptr && opened[i].empty()) ++table.closed;
    if (section.filter.empty()) {
      table.rows += fmt::format("<tr class=\"{}\">{}</tr>{}\n", VerdictName(row.tone),
                                fitting.html[i], opened[i]);
      continue;
    }
    const std::string_view verdict = HasBadge(row) ? VerdictName(row.tone) : "never";
    table.rows += fmt::format("<tbody class=\"{}\"{}><tr>{}</tr>{}</tbody>\n", verdict,
                              fitting.leads[i] ? fmt::format(" id=\"first-{}\"", verdict) : "",
                              fitting.html[i], opened[i]);
  }
  return table;
}

std::string TableHtml(const DocumentSection& section, const HtmlPlace& place, std::size_t room) {
  const PageTable table =
      TableOf(section, place, 0, section.most.page, room - std::min(room, kFilterBytes));
  const bool filtered = !section.filter.empty();
  const bool opens = std::ranges::any_of(
      section.rows, [](const DocumentRow& row) { return row.inside != nullptr; });
  // Names that are long, such as digests, are not bold, and none of their table is.
  const bool long_names = std::ranges::any_of(
      section.rows.begin(),
      section.rows.begin() +
          static_cast<std::ptrdiff_t>(std::min(section.rows.size(), section.most.page)),
      [](const DocumentRow& row) {
        return !row.cells.empty() && NameClass(row.cells.front().text).empty();
      });
  const std::string counted =
      place.document.counted.empty() ? std::string("row") : place.document.counted;
  const std::string closed =
      table.closed == 0
          ? ""
          : fmt::format(
                "<p class=\"soft\">The details of {} are left out to keep this page small; "
                "they are in {}.</p>\n",
                Counted(table.closed, counted), place.record);
  return fmt::format(
             "{}{}<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"{}\"><table "
             "class=\"{}\">{}<thead><tr>{}</tr></thead>{}{}{}</table></div>\n",
             closed,
             filtered ? HtmlFilter(HtmlText(section.filter, 100), place.document.counts) : "",
             HtmlText(section.title, 300),
             opens        ? "runs"
             : filtered   ? "runs grid"
             : long_names ? "stack plain"
                          : "stack",
             section.caption.empty()
                 ? ""
                 : fmt::format("<caption>{}</caption>\n", HtmlText(section.caption, 600)),
             table.heads, filtered ? "" : "<tbody>\n", table.rows, filtered ? "" : "</tbody>") +
         HtmlLeftOut(AllRows(section), table.shown, place.record);
}

std::string FoldsHtml(const DocumentSection& section, const HtmlPlace& place, std::size_t room) {
  std::string out;
  std::size_t first = 0;
  std::size_t shown = 0;
  for (const DocumentFold& fold : section.folds) {
    if (shown == section.most.page || out.size() > room) break;
    const PageTable table =
        TableOf(section, place, first, std::min(fold.rows, kMostFoldRows), room - out.size());
    const std::string html = fmt::format(
        "<li class=\"{}\"><details{}><summary>{} {}</summary><div class=\"more\"><div "
        "class=\"wide\">"
        "<table class=\"stack\"><thead><tr>{}</tr></thead><tbody>\n{}</tbody></table></div>{}</div>"
        "</details></li>\n",
        VerdictName(fold.tone), fold.open ? " open" : "",
        fold.badge.empty() ? "" : fmt::format("<span class=\"b\">{}</span>", HtmlText(fold.badge)),
        HtmlText(fold.title, 600), table.heads, table.rows,
        HtmlLeftOut(fold.rows, table.shown, place.record));
    if (out.size() + html.size() > room) break;
    out += html;
    first += fold.rows;
    ++shown;
  }
  if (shown > 0) out = fmt::format("<ul class=\"streaks\">\n{}</ul>\n", out);
  return out + HtmlLeftOut(section.folds.size(), shown, place.record);
}

// A heading each: the row's name, its badges, and its other words in a soft colour.
std::string SubjectsHtml(const DocumentSection& section, const HtmlPlace& place, std::size_t room) {
  const int level = place.level + (section.title.empty() ? 0 : 1);
  std::string out;
  const std::size_t most = std::min(section.rows.size(), section.most.page);
  std::size_t shown = 0;
  for (; shown < most; ++shown) {
    const DocumentRow& row = section.rows[shown];
    std::string heading;
    for (const DocumentCell& cell : row.cells) {
      if (cell.text.empty()) continue;
      const bool soft = !heading.empty() && cell.as == DocumentCell::As::kText;
      heading +=
          (heading.empty() ? "" : " ") +
          (soft ? fmt::format("<span class=\"soft\">{}</span>", CellHtml(cell)) : CellHtml(cell));
    }
    const std::string html = fmt::format(
        "<div class=\"subject {0}\"><h{1}>{2}</h{1}>{3}</div>\n", VerdictName(row.tone), level,
        heading,
        row.inside == nullptr
            ? DetailsHtml(row, place.record)
            : SectionsHtml(row.inside(true), {place.document, place.record, level + 1}, room));
    if (out.size() + html.size() > room) break;
    out += html;
  }
  return out + HtmlLeftOut(AllRows(section), shown, place.record);
}

}  // namespace

std::string RowsHtml(const DocumentSection& section, const HtmlPlace& place, std::size_t room) {
  if (section.rows.empty()) return "";
  if (section.subjects) return SubjectsHtml(section, place, room);
  return section.folds.empty() ? TableHtml(section, place, room) : FoldsHtml(section, place, room);
}

}  // namespace rharness
