// A document as a page.
#include "reports/document_html.h"

#include <fmt/format.h>

#include <algorithm>

#include "reports/html_escape.h"
#include "reports/html_page.h"
#include "reports/text.h"
#include "reports/words.h"

namespace rharness {
namespace {

constexpr std::size_t kMostPageItems = 40;
constexpr std::size_t kMostSigns = 2000;
constexpr std::size_t kFrameBytes = 10'000;    // of a table: its frame
constexpr std::size_t kEndBytes = 100'000;     // room for notes, facts and the end
constexpr std::size_t kMostLogBytes = 16'000;  // its end

// The newest is the last.
std::string SignsHtml(const std::vector<DocumentSign>& strip, std::string_view record) {
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

// On the page itself in a panel, inside a row as a list of numbers.
std::string FactsHtml(const DocumentFacts& facts, bool inside,
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
    out += inside ? fmt::format("<dt>{}</dt><dd>{}</dd>", HtmlText(name, 200), html)
                  : HtmlFact(HtmlText(name, 200), html);
  }
  if (out.empty()) return "";
  return fmt::format("<dl class=\"{}\">{}</dl>\n", inside ? "numbers" : "facts", out);
}

std::string PicturesHtml(const std::vector<DocumentPicture>& pictures, const std::string& facts) {
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
  return wide +
         (plots.empty() ? facts : fmt::format("<div class=\"plots\">\n{}{}</div>\n", plots, facts));
}

std::string LogHtml(const std::string& log) {
  if (log.empty()) return "";
  return fmt::format("<pre tabindex=\"0\">{}</pre>\n",
                     HtmlText(Tail(log, kMostLogBytes), kMostLogBytes, Lines::kKeep));
}

// Those that a screen shows, too; further ones in a block that opens.
std::string ItemsHtml(const DocumentSection& section, const HtmlPlace& place) {
  const std::size_t shown = std::min(section.items.size(), kMostPageItems);
  const std::size_t open = section.folded ? shown : std::min(shown, section.most.items);
  std::string first, further;
  for (std::size_t i = 0; i < shown; ++i) {
    (i < open ? first : further) += fmt::format("<li>{}</li>\n", HtmlText(section.items[i], 1000));
  }
  std::string out;
  if (!first.empty()) out = fmt::format("<ul>\n{}</ul>\n", first);
  const std::string rest = HtmlLeftOut(section.items.size(), shown, place.record);
  if (further.empty()) return out + rest;
  return out +
         fmt::format(
             "<details class=\"fold\"><summary>{} more</summary><ul>\n{}</ul>\n{}</details>\n",
             FormatCount(section.items.size() - open), further, rest);
}

// Its table as far as `room` bytes go: fewer rows, counted, tell more than none.
std::string SectionHtml(const DocumentSection& section, const HtmlPlace& place, std::size_t room) {
  const bool inside = place.level > 2;
  std::string out;
  if (!section.title.empty() && !section.folded) {
    out = fmt::format("<h{0}>{1}</h{0}>\n", place.level, HtmlText(section.title, 300));
  }
  if (!section.words.empty()) {
    out += fmt::format("<p class=\"soft\">{}</p>\n", HtmlText(section.words, 1500));
  }
  const std::string facts = FactsHtml(section.facts, inside, section.badges);
  if (!inside) out += facts;
  out +=
      PicturesHtml(section.pictures, inside ? facts : "") + SignsHtml(section.strip, place.record);
  out += ItemsHtml(section, place) + LogHtml(section.log);
  room -= std::min(room, out.size() + kFrameBytes);
  out += RowsHtml(section, place, room);
  if (!section.folded) return out;
  return fmt::format("<details class=\"fold\"><summary>{}</summary>{}</details>\n",
                     HtmlText(section.title, 300), out);
}

std::string ContentHtml(const Document& document, std::size_t taken) {
  const std::size_t used = taken + kEndBytes;
  return SectionsHtml(document.sections, {document, RecordOf(document)},
                      kPageBytes - std::min(used, kPageBytes));
}

}  // namespace

bool IsEmpty(const DocumentSection& section) {
  return section.words.empty() && section.items.empty() && section.facts.empty() &&
         section.rows.empty() && section.strip.empty() && section.log.empty() &&
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

std::size_t AllRows(const DocumentSection& section) {
  std::size_t all = section.rows.size();
  for (const auto& [tone, count] : section.beyond) all += count;
  return all;
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

std::string SectionsHtml(const std::vector<DocumentSection>& sections, const HtmlPlace& place,
                         std::size_t room) {
  std::string out;
  std::size_t shown = 0;
  for (const DocumentSection& section : sections) {
    const std::size_t left = room - std::min(out.size(), room);
    const std::string html = SectionHtml(section, place, left);
    if (html.size() > left) continue;
    out += html;
    ++shown;
  }
  if (shown == sections.size()) return out;
  return out + fmt::format("<p class=\"soft\">{} more sections are in {}.</p>\n",
                           sections.size() - shown, HtmlText(place.record, 200));
}

std::string HtmlSections(const Document& document) { return ContentHtml(document, 0); }

std::string WriteHtml(const Document& document) {
  const std::string badge =
      document.verdict ? fmt::format(" · {}", HtmlBadge(*document.verdict)) : std::string();
  std::string out = HtmlHead(
      fmt::format("{} – {}", SafeText(document.headline, 300), SafeText(document.about, 200)));
  out += HtmlTop({.page_class = VerdictName(document.tone),
                  .eyebrow_html = HtmlText(OriginOf(document), 600) + badge,
                  .answer = document.headline,
                  .next_html = HtmlText(document.next, 600),
                  .skip_id = "sections",
                  .skip_words = "Skip to the findings"});
  if (!document.counts.empty()) out += HtmlTiles(document.counts);
  out += HtmlNotes(document.notes);
  const std::string facts = FactsHtml(document.facts, false);
  if (!facts.empty()) out += "<h2>In short</h2>\n" + facts;
  const std::string sections = ContentHtml(document, out.size());
  out += "<div id=\"sections\">\n" + sections + "</div>\n";
  const bool script = sections.find("<pre class=\"cmd\">") != sections.npos ||
                      std::ranges::any_of(document.sections, [](const DocumentSection& one) {
                        return !one.filter.empty() && !one.rows.empty();
                      });
  return out + HtmlEnd(document.version, RecordOf(document), script);
}

}  // namespace rharness
