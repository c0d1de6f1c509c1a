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
constexpr int kWholeNameColumns = 24;
constexpr int kLongWordColumns = 40;
constexpr std::size_t kEndBytes = 100'000;  // room for notes, facts and the end

// A short name is not broken between two letters; a long one would make its column too wide.
std::string NameClass(const std::string& text) {
  return DisplayWidth(SafeText(text, 300)) <= kWholeNameColumns ? " class=\"name\"" : "";
}

// A word that would make its column wider than the page, such as a digest.
bool HasLongWord(const std::string& text) {
  const std::string safe = SafeText(text, 1200);
  for (std::size_t at = 0; at < safe.size();) {
    const std::size_t end = std::min(safe.find(' ', at), safe.size());
    if (DisplayWidth(safe.substr(at, end - at)) > kLongWordColumns) return true;
    at = end + 1;
  }
  return false;
}

std::string CellHtml(const DocumentCell& cell) {
  std::string html = HtmlText(cell.text, 1200);
  if (cell.as == DocumentCell::As::kCode && !html.empty()) {
    html = fmt::format("<code{}>{}</code>", NameClass(cell.text), HtmlText(cell.text, 300));
  }
  if (cell.as == DocumentCell::As::kBadge && !html.empty()) {
    html = fmt::format("<span class=\"b{}\">{}</span>",
                       cell.tone ? fmt::format(" {}", VerdictName(*cell.tone)) : "", html);
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
    const DocumentCell cell = column < row.cells.size() ? row.cells[column] : DocumentCell("");
    std::string html = CellHtml(cell);
    if (i + 1 == used.size()) html += DetailsHtml(row, record);
    if (i == 0) {
      out += fmt::format("<th scope=\"row\"{}>{}</th>", NameClass(cell.text), html);
    } else {
      out += fmt::format("<td{} data-l=\"{}\">{}</td>",
                         section.columns[column].numbers ? " class=\"n\""
                         : HasLongWord(cell.text)        ? " class=\"long\""
                                                         : "",
                         section.columns[column].name, html);
    }
  }
  return out + "</tr>\n";
}

std::string TableHtml(const DocumentSection& section, std::string_view record, std::size_t most) {
  if (section.rows.empty()) return "";
  const std::vector<std::size_t> used = UsedColumns(section);
  std::vector<HtmlColumn> heads;
  for (const std::size_t column : used) {
    heads.emplace_back(section.columns[column].name);
    heads.back().numbers = section.columns[column].numbers;
  }
  std::string rows;
  const std::size_t shown = std::min(section.rows.size(), most);
  // Names that are long, such as digests, are not bold, and none of their table is.
  const bool long_names =
      std::any_of(section.rows.begin(), section.rows.begin() + static_cast<std::ptrdiff_t>(shown),
                  [](const DocumentRow& row) {
                    return !row.cells.empty() && NameClass(row.cells.front().text).empty();
                  });
  for (std::size_t i = 0; i < shown; ++i) rows += RowHtml(section.rows[i], section, used, record);
  return fmt::format(
             "<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"{}\"><table "
             "class=\"stack{}\"><thead><tr>{}</tr></thead><tbody>\n{}</tbody></table></div>\n",
             HtmlText(section.title, 300), long_names ? " plain" : "", HtmlHeads(heads), rows) +
         HtmlLeftOut(section.rows.size(), shown, record);
}

std::string FactsHtml(const DocumentFacts& facts) {
  std::string out;
  for (const auto& [name, value] : facts) out += HtmlFact(HtmlText(name, 200), HtmlWords(value));
  return out.empty() ? "" : fmt::format("<dl class=\"facts\">{}</dl>\n", out);
}

std::string PicturesHtml(const std::vector<DocumentPicture>& pictures) {
  std::string wide;
  std::string plots;
  for (const DocumentPicture& one : pictures) {
    const std::string caption = HtmlText(one.caption, 1000);
    if (one.svg.empty()) continue;
    if (!one.wide) {
      plots += fmt::format("<figure>{}<figcaption>{}</figcaption></figure>\n", one.svg, caption);
      continue;
    }
    if (!caption.empty()) wide += fmt::format("<p class=\"soft\">{}</p>\n", caption);
    wide += fmt::format("<figure>{}</figure>\n", one.svg);
  }
  return plots.empty() ? wide : wide + fmt::format("<div class=\"plots\">\n{}</div>\n", plots);
}

// With at most `most` rows of its table.
std::string SectionHtml(const DocumentSection& section, std::string_view record, std::size_t most) {
  std::string out = fmt::format("<h2>{}</h2>\n", HtmlText(section.title, 300));
  if (!section.words.empty()) {
    out += fmt::format("<p class=\"soft\">{}</p>\n", HtmlText(section.words, 1500));
  }
  out += FactsHtml(section.facts) + PicturesHtml(section.pictures);
  std::string items;
  const std::size_t shown = std::min(section.items.size(), kMostPageItems);
  for (std::size_t i = 0; i < shown; ++i) {
    items += fmt::format("<li>{}</li>\n", HtmlText(section.items[i], 1000));
  }
  if (!items.empty()) out += fmt::format("<ul>\n{}</ul>\n", items);
  return out + HtmlLeftOut(section.items.size(), shown, record) + TableHtml(section, record, most);
}

// `taken`: bytes of the page before them.
std::string SectionsHtml(const Document& document, std::size_t taken) {
  const std::string record = RecordOf(document);
  std::string out;
  std::size_t shown = 0;
  for (const DocumentSection& section : document.sections) {
    const std::size_t used = taken + out.size() + kEndBytes;
    const std::size_t room = kPageBytes - std::min(used, kPageBytes);
    std::size_t most = kMostPageRows;
    std::string html = SectionHtml(section, record, most);
    // Fewer rows, counted, tell more than none.
    while (html.size() > room && most > 0) html = SectionHtml(section, record, most /= 4);
    if (html.size() > room) continue;
    out += html;
    ++shown;
  }
  if (shown == document.sections.size()) return out;
  return out + fmt::format("<p class=\"soft\">{} more sections are in {}.</p>\n",
                           document.sections.size() - shown, HtmlText(record, 200));
}

}  // namespace

bool IsEmpty(const DocumentSection& section) {
  return section.words.empty() && section.items.empty() && section.facts.empty() &&
         section.rows.empty() &&
         std::ranges::all_of(section.pictures,
                             [](const DocumentPicture& one) { return one.svg.empty(); });
}

std::string RecordOf(const Document& document) {
  return document.record.empty() ? document.name + ".json" : document.record;
}

std::string OriginOf(const Document& document) {
  if (document.made == WallTime{}) return document.about;
  return fmt::format("{} · {}", document.about, FormatMinute(document.made));
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

std::string HtmlSections(const Document& document) { return SectionsHtml(document, 0); }

std::string WriteHtml(const Document& document) {
  std::string out = HtmlHead(document.headline);
  out += HtmlTop({.page_class = VerdictName(document.tone),
                  .eyebrow_html = HtmlText(OriginOf(document), 600),
                  .answer = document.headline,
                  .next_html = HtmlText(document.next, 600),
                  .skip_id = "sections",
                  .skip_words = "Skip to the findings"});
  out += HtmlNotes(document.notes);
  const std::string facts = FactsHtml(document.facts);
  if (!facts.empty()) out += "<h2>In short</h2>\n" + facts;
  out += "<div id=\"sections\">\n" + SectionsHtml(document, out.size()) + "</div>\n";
  return out + HtmlEnd(document.version, RecordOf(document), false);
}

}  // namespace rharness
