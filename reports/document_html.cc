// A document as a page.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "reports/document.h"
#include "reports/html_escape.h"
#include "reports/html_page.h"
#include "reports/text.h"
#include "reports/words.h"

namespace rharness {
namespace {

constexpr std::size_t kMostPageItems = 40;
constexpr std::size_t kMostFoldRows = 100;
constexpr std::size_t kMostSigns = 2000;
constexpr int kWholeNameColumns = 24;
constexpr int kLongWordColumns = 40;
constexpr std::size_t kFrameBytes = 10'000;  // of a table: its frame
constexpr std::size_t kEndBytes = 100'000;   // room for notes, facts and the end

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

// Each sign in the colour of its verdict; other characters as they are.
std::string StripHtml(const std::string& text) {
  std::string out;
  for (std::string_view left = text; !left.empty();) {
    const auto verdict = std::ranges::find_if(
        kVerdicts, [left](Verdict one) { return left.starts_with(VerdictSign(one)); });
    const bool none = verdict == kVerdicts.end();
    const std::string_view sign = none ? std::string_view("·") : VerdictSign(*verdict);
    if (left.starts_with(sign)) {
      out += fmt::format("<i class=\"{}\">{}</i>", none ? "no" : VerdictName(*verdict), sign);
      left.remove_prefix(sign.size());
    } else {
      left.remove_prefix(1);
    }
  }
  return fmt::format("<span class=\"cells\">{}</span>", out);
}

std::string CellHtml(const DocumentCell& cell) {
  if (cell.as == DocumentCell::As::kStrip) return StripHtml(cell.text);
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

bool HasBadge(const DocumentRow& row) {
  return std::ranges::any_of(row.cells, [](const DocumentCell& cell) {
    return cell.as == DocumentCell::As::kBadge && !cell.text.empty();
  });
}

// `leads`: the first of its verdict.
std::string FilteredRow(const DocumentRow& row, const std::string& html, bool leads) {
  const std::string_view verdict = HasBadge(row) ? VerdictName(row.tone) : "never";
  return fmt::format("<tbody class=\"{0}\"{1}>{2}</tbody>\n", verdict,
                     leads ? fmt::format(" id=\"first-{}\"", verdict) : "", html);
}

// The column heads, and rows [first, first + most) as far as `room` bytes go.
struct PageTable {
  std::string heads;
  std::string rows;
  std::size_t shown = 0;
};

// A filtered table has a body a row, which its script hides or moves, and an anchor at the first
// row of each verdict, where the counts lead; so that row has room kept for it.
PageTable TableOf(const DocumentSection& section, std::string_view record, std::size_t first,
                  std::size_t most, std::size_t room) {
  const std::vector<std::size_t> used = UsedColumns(section);
  std::vector<HtmlColumn> heads;
  for (const std::size_t column : used) {
    heads.emplace_back(section.columns[column].name);
    heads.back().numbers = section.columns[column].numbers;
  }
  PageTable table{.heads = HtmlHeads(heads), .rows = {}};
  const bool filtered = !section.filter.empty();
  std::set<Verdict> seen;
  const std::size_t usual = filtered ? room / 10 * 9 : room;
  bool full = false;
  for (std::size_t i = first; i < std::min(section.rows.size(), first + most); ++i) {
    const DocumentRow& row = section.rows[i];
    const bool leads = filtered && HasBadge(row) && seen.insert(row.tone).second;
    if (full && !leads) continue;
    std::string html = RowHtml(row, section, used, record);
    if (filtered) html = FilteredRow(row, html, leads);
    if (table.rows.size() + html.size() > (leads ? room : usual)) {
      full = true;
      continue;
    }
    table.rows += html;
    ++table.shown;
  }
  return table;
}

std::string TableHtml(const DocumentSection& section, std::string_view record, std::size_t room,
                      const VerdictCounts& counts) {
  if (section.rows.empty()) return "";
  const PageTable table = TableOf(section, record, 0, section.most.page, room);
  const bool filtered = !section.filter.empty();
  // Names that are long, such as digests, are not bold, and none of their table is.
  const bool long_names = std::ranges::any_of(
      section.rows.begin(),
      section.rows.begin() +
          static_cast<std::ptrdiff_t>(std::min(section.rows.size(), section.most.page)),
      [](const DocumentRow& row) {
        return !row.cells.empty() && NameClass(row.cells.front().text).empty();
      });
  return fmt::format(
             "{}<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"{}\"><table "
             "class=\"{}\"><thead><tr>{}</tr></thead>{}{}{}</table></div>\n",
             filtered ? HtmlFilter(HtmlText(section.filter, 100), counts) : "",
             HtmlText(section.title, 300),
             filtered     ? "runs grid"
             : long_names ? "stack plain"
                          : "stack",
             table.heads, filtered ? "" : "<tbody>\n", table.rows, filtered ? "" : "</tbody>") +
         HtmlLeftOut(section.rows.size(), table.shown, record);
}

std::string FoldsHtml(const DocumentSection& section, std::string_view record, std::size_t room) {
  std::string out;
  std::size_t first = 0;
  std::size_t shown = 0;
  for (const DocumentFold& fold : section.folds) {
    if (shown == section.most.page || out.size() > room) break;
    const PageTable table =
        TableOf(section, record, first, std::min(fold.rows, kMostFoldRows), room - out.size());
    const std::string html = fmt::format(
        "<li class=\"{}\"><details{}><summary>{} {}</summary><div class=\"more\"><div "
        "class=\"wide\">"
        "<table class=\"stack\"><thead><tr>{}</tr></thead><tbody>\n{}</tbody></table></div>{}</div>"
        "</details></li>\n",
        VerdictName(fold.tone), fold.open ? " open" : "",
        fold.badge.empty() ? "" : fmt::format("<span class=\"b\">{}</span>", HtmlText(fold.badge)),
        HtmlText(fold.title, 600), table.heads, table.rows,
        HtmlLeftOut(fold.rows, table.shown, record));
    if (out.size() + html.size() > room) break;
    out += html;
    first += fold.rows;
    ++shown;
  }
  if (shown > 0) out = fmt::format("<ul class=\"streaks\">\n{}</ul>\n", out);
  return out + HtmlLeftOut(section.folds.size(), shown, record);
}

// The newest is the last.
std::string StripHtml(const std::vector<DocumentSign>& strip, std::string_view record) {
  if (strip.empty()) return "";
  std::string signs;
  const std::size_t first = strip.size() - std::min(strip.size(), kMostSigns);
  for (std::size_t i = first; i < strip.size(); ++i) {
    signs += fmt::format("<li class=\"{}\" title=\"{}\">{}</li>", VerdictName(strip[i].verdict),
                         HtmlText(strip[i].title, 200), VerdictSign(strip[i].verdict));
  }
  return fmt::format("<ol class=\"strip\">{}</ol>\n", signs) +
         HtmlLeftOut(strip.size(), strip.size() - first, record);
}

std::string FactsHtml(const DocumentFacts& facts,
                      const std::map<std::string, Verdict>& badges = {}) {
  std::string out;
  for (const auto& [name, value] : facts) {
    std::string html = HtmlWords(value);
    if (const auto badge = badges.find(name); badge != badges.end()) {
      const std::string words = VerdictBadge(badge->second);
      const std::string in_colour =
          fmt::format("<span class=\"b {}\">{}</span>", VerdictName(badge->second), words);
      const std::size_t at = html.find(words);
      if (at != html.npos) html.replace(at, words.size(), in_colour);
    }
    out += HtmlFact(HtmlText(name, 200), html);
  }
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

// Its table as far as `room` bytes go: fewer rows, counted, tell more than none.
std::string SectionHtml(const DocumentSection& section, const Document& document,
                        std::size_t room) {
  const std::string record = RecordOf(document);
  std::string out = fmt::format("<h2>{}</h2>\n", HtmlText(section.title, 300));
  if (!section.words.empty()) {
    out += fmt::format("<p class=\"soft\">{}</p>\n", HtmlText(section.words, 1500));
  }
  out += FactsHtml(section.facts, section.badges) + PicturesHtml(section.pictures) +
         StripHtml(section.strip, record);
  std::string items;
  const std::size_t shown = std::min(section.items.size(), kMostPageItems);
  for (std::size_t i = 0; i < shown; ++i) {
    items += fmt::format("<li>{}</li>\n", HtmlText(section.items[i], 1000));
  }
  if (!items.empty()) out += fmt::format("<ul>\n{}</ul>\n", items);
  out += HtmlLeftOut(section.items.size(), shown, record);
  room -= std::min(room, out.size() + kFrameBytes);
  return out + (section.folds.empty() ? TableHtml(section, record, room, document.counts)
                                      : FoldsHtml(section, record, room));
}

// `taken`: bytes of the page before them.
std::string SectionsHtml(const Document& document, std::size_t taken) {
  const std::string record = RecordOf(document);
  std::string out;
  std::size_t shown = 0;
  for (const DocumentSection& section : document.sections) {
    const std::size_t used = taken + out.size() + kEndBytes;
    const std::size_t room = kPageBytes - std::min(used, kPageBytes);
    const std::string html = SectionHtml(section, document, room);
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
         section.rows.empty() && section.strip.empty() &&
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
  std::string out = HtmlHead(
      fmt::format("{} – {}", SafeText(document.headline, 300), SafeText(document.about, 200)));
  out += HtmlTop({.page_class = VerdictName(document.tone),
                  .eyebrow_html = HtmlText(OriginOf(document), 600),
                  .answer = document.headline,
                  .next_html = HtmlText(document.next, 600),
                  .skip_id = "sections",
                  .skip_words = "Skip to the findings"});
  if (!document.counts.empty()) out += HtmlTiles(document.counts);
  out += HtmlNotes(document.notes);
  const std::string facts = FactsHtml(document.facts);
  if (!facts.empty()) out += "<h2>In short</h2>\n" + facts;
  out += "<div id=\"sections\">\n" + SectionsHtml(document, out.size()) + "</div>\n";
  const bool script = std::ranges::any_of(
      document.sections, [](const DocumentSection& one) { return !one.filter.empty(); });
  return out + HtmlEnd(document.version, RecordOf(document), script);
}

}  // namespace rharness
