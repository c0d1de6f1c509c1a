// The frame, the filter and the tables that every page has; see html_page.h.
#include "reports/html_page.h"

#include <fmt/format.h>

#include <algorithm>

#include "reports/html_escape.h"
#include "reports/page_assets.h"
#include "reports/words.h"

namespace rharness {

int CountOf(const VerdictCounts& counts, Verdict verdict) {
  const auto at = counts.find(std::string(VerdictName(verdict)));
  return at == counts.end() ? 0 : at->second;
}

std::string HtmlHead(std::string_view title) {
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
      "style-src '{}'; script-src '{}'; base-uri 'none'; form-action 'none'\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\">\n"
      "<meta name=\"referrer\" content=\"no-referrer\">\n"
      "<title>{}</title>\n<style>{}</style>\n</head>\n",
      CspHash(kPageCssSha256), CspHash(kPageJsSha256), HtmlText(title), kPageCss);
}

namespace {

constexpr int kHeadingColumns = 70;       // of one line at a width of 1280 px
constexpr std::size_t kLeastClause = 12;  // a shorter one has no meaning alone

// A heading of one line, and a longer answer below it.
std::string Heading(const std::string& answer) {
  if (DisplayWidth(SafeText(answer)) <= kHeadingColumns) {
    return fmt::format("<h1>{}</h1>\n", HtmlText(answer));
  }
  const std::string_view start = std::string_view(answer).substr(0, kHeadingColumns);
  for (const std::string_view end : {". ", "; ", ": ", ", "}) {
    const std::size_t at = start.rfind(end);
    if (at == start.npos || at < kLeastClause) continue;
    const bool sentence = end == ". ";
    return fmt::format("<h1>{}</h1>\n<p class=\"lead\">{}</p>\n",
                       HtmlText(answer.substr(0, at) + (sentence ? "." : "")),
                       HtmlText(sentence ? answer.substr(at + end.size()) : answer));
  }
  std::string words = ElideEnd(SafeText(answer), kHeadingColumns);
  if (const std::size_t at = words.rfind(' '); at != words.npos && at >= kLeastClause) {
    words = words.substr(0, at) + " …";
  }
  return fmt::format("<h1>{}</h1>\n<p class=\"lead\">{}</p>\n", HtmlText(words), HtmlText(answer));
}

}  // namespace

std::string HtmlTop(const HtmlTopParts& parts) {
  return fmt::format(
      "<body>\n<a class=\"skip\" href=\"#{}\">{}</a>\n"
      "<header class=\"top {}\"><div class=\"page\"><p class=\"eyebrow\">{}</p>\n"
      "{}{}</div></header>\n<main class=\"page\">\n",
      parts.skip_id, parts.skip_words, parts.page_class, parts.eyebrow_html, Heading(parts.answer),
      parts.next_html.empty()
          ? ""
          : fmt::format("<p class=\"next\"><b>Next:</b> {}</p>", parts.next_html));
}

std::string HtmlEnd(std::string_view version, std::string_view record, bool script) {
  return fmt::format(
      "</main>\n<footer class=\"page\">Written by rharness {}. The same facts for machines: "
      "{}.</footer>\n{}</body>\n</html>\n",
      HtmlText(version, 60), record,
      script ? fmt::format("<script>{}</script>\n", kPageJs) : std::string());
}

std::string HtmlTiles(const VerdictCounts& counts) {
  std::string out = "<h2 class=\"sr\">Counts by verdict</h2>\n<ul class=\"tiles\">\n";
  for (const Verdict verdict : kVerdicts) {
    const int count = CountOf(counts, verdict);
    const std::string inside =
        fmt::format("<b>{}</b> <span>{} {}</span>", FormatCount(static_cast<std::uint64_t>(count)),
                    VerdictSign(verdict), VerdictLabel(verdict));
    if (count == 0) {
      out += fmt::format("<li class=\"none\"><div>{}</div></li>\n", inside);
    } else {
      out += fmt::format("<li class=\"{0}\"><a href=\"#first-{0}\">{1}</a></li>\n",
                         VerdictName(verdict), inside);
    }
  }
  return out + "</ul>\n";
}

std::string HtmlNotes(const std::vector<std::string>& notes) {
  std::string items;
  for (const std::string& note : notes) items += fmt::format("<li>{}</li>\n", HtmlText(note));
  return items.empty()
             ? ""
             : fmt::format("<h2 class=\"sr\">Notes</h2>\n<ul class=\"notes\">{}</ul>\n", items);
}

std::string HtmlFilter(std::string_view label, const VerdictCounts& counts) {
  std::string options = "<option value=\"\">all verdicts</option>";
  for (const Verdict verdict : kVerdicts) {
    if (CountOf(counts, verdict) == 0) continue;
    options += fmt::format("<option value=\"{}\">{} {}</option>", VerdictName(verdict),
                           VerdictSign(verdict), VerdictLabel(verdict));
  }
  return fmt::format(
      "<div class=\"filter\" role=\"search\" hidden><label>{}"
      "<input type=\"search\" autocomplete=\"off\"></label><label>Verdict<select>{}</select>"
      "</label><button type=\"button\">Open all</button><output></output></div>\n",
      label, options);
}

std::string HtmlFact(std::string_view name, const std::string& value_html) {
  return fmt::format("<div><dt>{}</dt><dd>{}</dd></div>\n", name,
                     value_html.empty() ? "<span class=\"soft\">not given</span>" : value_html);
}

std::string HtmlBadge(Verdict verdict) {
  return fmt::format("<span class=\"b\">{} {}</span>", VerdictSign(verdict), VerdictLabel(verdict));
}

std::string HtmlMarks(std::string_view words) {
  std::string out;
  while (!words.empty()) {
    const std::string_view word = words.substr(0, words.find(' '));
    const std::string_view way = word.starts_with("≠")   ? " class=\"x\""
                                 : word.starts_with("?") ? " class=\"u\""
                                                         : "";
    out += fmt::format("<i{}>{}</i>", way, HtmlText(word, 100));
    words.remove_prefix(std::min(word.size() + 1, words.size()));
  }
  return fmt::format("<span class=\"m\">{}</span>", out);
}

std::string HtmlTable(std::string_view title, std::string_view head_html, const std::string& rows,
                      std::string_view table_class) {
  return fmt::format(
      "<h3>{0}</h3><div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"{0}\"><table "
      "class=\"{3}\"><thead><tr>{1}</tr></thead><tbody>{2}</tbody></table></div>",
      HtmlText(title, 300), head_html, rows, table_class);
}

HtmlColumn Numbers(std::string_view name) {
  HtmlColumn column(name);
  column.numbers = true;
  return column;
}

std::string HtmlHeads(const std::vector<HtmlColumn>& columns) {
  std::string out;
  for (const HtmlColumn& column : columns) {
    out += fmt::format("<th scope=\"col\"{}>{}</th>", column.numbers ? " class=\"n\"" : "",
                       column.name);
  }
  return out;
}

std::string HtmlLeftOut(std::size_t all, std::size_t shown, std::string_view record) {
  if (all <= shown) return "";
  return fmt::format("<p class=\"soft\">{} more are in {}.</p>", FormatCount(all - shown), record);
}

std::string HtmlCode(std::string_view text, std::size_t limit_bytes) {
  return text.empty() ? "" : fmt::format("<code>{}</code>", HtmlText(text, limit_bytes));
}

std::string HtmlFactValue(const std::optional<std::string>& value) {
  return value ? HtmlCode(*value) : "<span class=\"soft\">absent</span>";
}

std::string LayerWords(const LayerComparison& layer) { return SafeText(LayerSentence(layer), 600); }

}  // namespace rharness
