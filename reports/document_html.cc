// A document as a page without scripts.
#include <fmt/format.h>

#include <algorithm>

#include "reports/document.h"
#include "reports/html_escape.h"
#include "reports/html_page.h"
#include "reports/text.h"

namespace rharness {
namespace {

constexpr std::size_t kMostPageRows = 400;  // of a section
constexpr std::size_t kMostPageItems = 40;
constexpr std::size_t kEndBytes = 100'000;  // room for notes, facts and the end

std::string CellHtml(const DocumentCell& cell) {
  std::string html = HtmlText(cell.text, 600);
  if (cell.as == DocumentCell::As::kCode) html = HtmlCode(cell.text, 300);
  if (cell.as == DocumentCell::As::kBadge && !html.empty()) {
    html = fmt::format("<span class=\"b\">{}</span>", html);
  }
  const std::string href = cell.href.empty() ? "" : RelativeHref(cell.href);
  return href.empty() ? html : fmt::format("<a href=\"{}\">{}</a>", href, html);
}

std::string DetailsHtml(const DocumentRow& row, std::string_view record) {
  std::string out;
  const std::size_t shown = std::min(row.details.size(), kMostPageItems);
  for (std::size_t i = 0; i < shown; ++i) {
    out += fmt::format("<p>{}</p>", HtmlText(row.details[i], 1000));
  }
  return out + HtmlLeftOut(row.details.size(), shown, record);
}

std::string RowHtml(const DocumentRow& row, const DocumentSection& section,
                    const std::vector<std::size_t>& used, std::string_view record) {
  std::string out = fmt::format("<tr class=\"{}\">", VerdictName(row.tone));
  for (std::size_t i = 0; i < used.size(); ++i) {
    const std::size_t column = used[i];
    std::string html = column < row.cells.size() ? CellHtml(row.cells[column]) : "";
    if (i + 1 == used.size()) html += DetailsHtml(row, record);
    if (i == 0) {
      out += fmt::format("<th scope=\"row\">{}</th>", html);
    } else {
      out += fmt::format("<td{} data-l=\"{}\">{}</td>",
                         section.columns[column].numbers ? " class=\"n\"" : "",
                         section.columns[column].name, html);
    }
  }
  return out + "</tr>\n";
}

std::string TableHtml(const DocumentSection& section, std::string_view record) {
  if (section.rows.empty()) return "";
  const std::vector<std::size_t> used = UsedColumns(section);
  std::vector<HtmlColumn> heads;
  for (const std::size_t column : used) {
    heads.emplace_back(section.columns[column].name);
    heads.back().numbers = section.columns[column].numbers;
  }
  std::string rows;
  const std::size_t shown = std::min(section.rows.size(), kMostPageRows);
  for (std::size_t i = 0; i < shown; ++i) rows += RowHtml(section.rows[i], section, used, record);
  return fmt::format(
             "<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"{}\"><table "
             "class=\"stack\"><thead><tr>{}</tr></thead><tbody>\n{}</tbody></table></div>\n",
             HtmlText(section.title, 300), HtmlHeads(heads), rows) +
         HtmlLeftOut(section.rows.size(), shown, record);
}

std::string SectionHtml(const DocumentSection& section, std::string_view record) {
  std::string out = fmt::format("<h2>{}</h2>\n", HtmlText(section.title, 300));
  if (!section.words.empty()) {
    out += fmt::format("<p class=\"soft\">{}</p>\n", HtmlText(section.words, 1000));
  }
  if (!section.svg.empty()) {
    out += fmt::format("<p class=\"soft\">{}</p>\n<figure>{}</figure>\n",
                       HtmlText(section.caption, 1000), section.svg);
  }
  std::string items;
  const std::size_t shown = std::min(section.items.size(), kMostPageItems);
  for (std::size_t i = 0; i < shown; ++i) {
    items += fmt::format("<li>{}</li>\n", HtmlText(section.items[i], 1000));
  }
  if (!items.empty()) out += fmt::format("<ul>\n{}</ul>\n", items);
  return out + HtmlLeftOut(section.items.size(), shown, record) + TableHtml(section, record);
}

}  // namespace

bool IsEmpty(const DocumentSection& section) {
  return section.words.empty() && section.items.empty() && section.svg.empty() &&
         section.rows.empty();
}

std::vector<std::size_t> UsedColumns(const DocumentSection& section) {
  std::vector<std::size_t> used;
  for (std::size_t i = 0; i < section.columns.size(); ++i) {
    const bool has_text = std::ranges::any_of(section.rows, [i](const DocumentRow& row) {
      return i < row.cells.size() && !row.cells[i].text.empty();
    });
    if (i == 0 || has_text) used.push_back(i);
  }
  return used;
}

std::string WriteHtml(const Document& document) {
  const std::string record = document.name + ".json";
  std::string out = HtmlHead(document.headline);
  out += HtmlTop({.page_class = VerdictName(document.tone),
                  .eyebrow_html = fmt::format("{} · {}", HtmlText(document.about, 300),
                                              FormatMinute(document.made)),
                  .answer = document.headline,
                  .next_html = HtmlText(document.next, 600),
                  .skip_id = "sections",
                  .skip_words = "Skip to the findings"});
  out += HtmlNotes(document.notes);
  std::string facts;
  for (const auto& [name, value] : document.facts) facts += HtmlFact(name, HtmlText(value, 600));
  if (!facts.empty()) {
    out += fmt::format("<h2>In short</h2>\n<dl class=\"facts\">{}</dl>\n", facts);
  }
  out += "<div id=\"sections\">\n";
  std::size_t shown = 0;
  for (const DocumentSection& section : document.sections) {
    std::string html = SectionHtml(section, record);
    if (out.size() + html.size() + kEndBytes > kPageBytes) break;
    out += html;
    ++shown;
  }
  out += HtmlLeftOut(document.sections.size(), shown, record) + "</div>\n";
  return out + HtmlEnd(document.version, record, false);
}

}  // namespace rharness
